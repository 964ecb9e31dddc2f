package doctor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// JudgeOptions are those of a judgement. The zero value is all checks and their defaults.
type JudgeOptions struct {
	Only []string // ids of checks; none: all
	Skip []string
	// IdleAfter is how long a consumer was idle, by the server's clock, before it
	// can count as an orphan that does not lapse by itself; 0: 10 minutes.
	IdleAfter time.Duration
}

// Verdict is the whole judgement in a word.
type Verdict string

// The verdicts, worst first.
const (
	VerdictCritical Verdict = "critical" // at least one critical finding
	VerdictUnknown  Verdict = "unknown"  // nothing could be looked at
	VerdictWarning  Verdict = "warning"  // at least one warning
	VerdictHealthy  Verdict = "healthy"
)

// Report is what a judgement found.
type Report struct {
	Schema    string        `json:"schema"`
	Verdict   Verdict       `json:"verdict"`
	Text      string        `json:"text"` // the verdict in a sentence
	Began     time.Time     `json:"began"`
	Ended     time.Time     `json:"ended"`
	Watched   time.Duration `json:"watched_ns"`
	Streams   int           `json:"streams"`
	Consumers int           `json:"consumers"`
	Findings  []Finding     `json:"findings"`
	Fleet     []Member      `json:"fleet"`
	NotJudged []NotJudged   `json:"not_judged"`
	LeftOut   []string      `json:"left_out,omitempty"` // checks that were not wanted

	blind bool
}

// MarshalJSON writes durations twice, for people and for programs.
func (r Report) MarshalJSON() ([]byte, error) {
	type plain Report
	return json.Marshal(struct {
		plain
		Watched string `json:"watched"`
	}{plain(r), r.Watched.String()})
}

// subject is what checks look at: the facts, and what is derived from them.
type subject struct {
	*Facts
	idleAfter time.Duration
	streams   map[string]*Stream
	consumers map[[2]string]*Consumer
	deaf      map[*Consumer]bool // as READER_001 finds them: nobody else's finding
	told      map[*Consumer]bool // that worse is wrong with them than their configuration
	holders   holders
	replicas  replicas
	pulls     map[[2]string][]Pulls // that were heard, by stream and consumer
	alike     map[[2]string]int     // unused consumers without a threshold, by stream and stem
}

func subjectOf(f *Facts, o JudgeOptions) *subject {
	s := &subject{
		Facts: f, idleAfter: cmp.Or(o.IdleAfter, 10*time.Minute), deaf: map[*Consumer]bool{}, told: map[*Consumer]bool{}, holders: holdersOf(f.Connections), replicas: replicasOf(f),
		streams: map[string]*Stream{}, consumers: map[[2]string]*Consumer{}, pulls: map[[2]string][]Pulls{}, alike: map[[2]string]int{},
	}
	for i := range f.Streams {
		s.streams[f.Streams[i].Name] = &f.Streams[i]
	}
	if f.Heard != nil {
		for _, p := range f.Heard.Pulls {
			key := [2]string{p.Stream, p.Consumer}
			s.pulls[key] = append(s.pulls[key], p)
		}
	}
	for i := range f.Consumers {
		c := &f.Consumers[i]
		s.consumers[[2]string{c.Stream, c.Name}] = c
		if c.Config.InactiveThreshold == 0 && c.unused() {
			s.alike[[2]string{c.Stream, stemOf(c.Name)}]++
		}
	}
	return s
}

// Judge looks for everything that the checks know. It is a function of its
// arguments alone: the same facts give the same report.
func Judge(f Facts, o JudgeOptions) Report {
	s := subjectOf(&f, o)
	r := Report{
		Schema: ReportSchema, Began: f.Began, Ended: f.Ended, Watched: f.Ended.Sub(f.Began),
		Streams: len(f.Streams), Consumers: len(f.Consumers), Findings: []Finding{}, blind: f.Blind, NotJudged: append([]NotJudged{}, f.NotJudged...),
	}
	reasons := map[[2]string]string{}
	for _, c := range Checks() {
		found := c.run(s)
		for i := range found {
			found[i].Check, found[i].Title, found[i].Why = c.ID, c.Title, c.Why
			key := [2]string{found[i].Stream, found[i].Consumer}
			if of := s.consumers[key]; of != nil {
				found[i].Facts = append(found[i].Facts, s.witness(of)...)
			}
			word := reasonWords[c.ID]
			if c.ID == idNoPuller {
				word = cmp.Or(found[i].Cause, word)
			}
			if reasons[key] == "" && word != "" && found[i].Severity != Info && o.Wants(c.ID) {
				reasons[key] = word
			}
		}
		if o.Wants(c.ID) {
			r.Findings = append(r.Findings, found...)
		}
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(a.Severity.rank()-b.Severity.rank(), strings.Compare(a.Check, b.Check), strings.Compare(a.Stream, b.Stream), strings.Compare(a.Consumer, b.Consumer))
	})
	r.Fleet = s.fleet(reasons)
	r.Verdict = verdictOf(&f, r.Findings)
	for _, c := range Checks() {
		if !o.Wants(c.ID) {
			r.LeftOut = append(r.LeftOut, c.ID)
		}
	}
	r.Text = verdictText(r)
	return r
}

// Wants says whether the findings of a check, as READER_001, are wanted.
func (o JudgeOptions) Wants(id string) bool {
	has := func(ids []string) bool {
		return slices.ContainsFunc(ids, func(other string) bool { return CheckID(other) == id })
	}
	return (len(o.Only) == 0 || has(o.Only)) && !has(o.Skip)
}

// CheckID gives the id of a check as it is written or abbreviated: READER_003,
// reader-3, 003 and 3 are one. It is "" where there is no such check.
func CheckID(word string) string {
	word = strings.TrimLeft(strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToUpper(strings.TrimSpace(word))), "_")
	number := strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(word, "READER"), "_"), "0")
	for _, c := range Checks() {
		if number != "" && strings.TrimLeft(strings.TrimPrefix(c.ID, "READER_"), "0") == number {
			return c.ID
		}
	}
	return ""
}

func verdictOf(f *Facts, found []Finding) Verdict {
	switch {
	case slices.ContainsFunc(found, func(f Finding) bool { return f.Severity == Critical }):
		return VerdictCritical
	case !f.looked():
		return VerdictUnknown
	case slices.ContainsFunc(found, func(f Finding) bool { return f.Severity == Warning }):
		return VerdictWarning
	default:
		return VerdictHealthy
	}
}

// looked says whether anything was seen that a verdict can rest on.
func (f *Facts) looked() bool {
	if f.Consumer != "" || f.Blind {
		return slices.ContainsFunc(f.Consumers, func(c Consumer) bool { return len(c.Samples) > 0 })
	}
	return f.Account.Known || slices.ContainsFunc(f.Streams, func(s Stream) bool { return !s.Created.IsZero() }) ||
		slices.ContainsFunc(f.Consumers, func(c Consumer) bool { return len(c.Samples) > 0 })
}

func verdictText(r Report) string {
	seen := fmt.Sprintf("%s on %s, watched for %s", plural(r.Consumers, "consumer"), plural(r.Streams, "stream"), r.Watched.Round(100*time.Millisecond))
	switch r.Verdict {
	case VerdictHealthy:
		if n := len(r.LeftOut); n > 0 {
			return fmt.Sprintf("healthy: %s, and nothing is wrong by %s (%d left out)", seen, plural(len(Checks())-n, "check"), n)
		}
		if r.blind {
			return "healthy as far as could be seen: " + seen + ", and nothing is wrong"
		}
		return "healthy: " + seen + ", and nothing is wrong"
	case VerdictUnknown:
		return "cannot judge: no consumer could be looked at"
	}
	counts := map[Severity]int{}
	deaf := 0
	for _, f := range r.Findings {
		counts[f.Severity]++
		if f.Check == idDeaf {
			deaf++
		}
	}
	var parts []string
	if deaf > 0 {
		parts = append(parts, plural(deaf, "deaf reader"))
	}
	if n := counts[Critical] - deaf; n > 0 {
		word := "critical"
		if deaf > 0 {
			word = "more critical"
		}
		parts = append(parts, fmt.Sprintf("%d %s", n, word))
	}
	if n := counts[Warning]; n > 0 {
		parts = append(parts, plural(n, "warning"))
	}
	return string(r.Verdict) + ": " + strings.Join(parts, ", ") + " (" + seen + ")"
}

func plural(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
