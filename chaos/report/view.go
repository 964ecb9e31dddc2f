package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/result"
)

// view is a run as its reports show it: words and tables.
type view struct {
	Number               int // within the report
	Name, Title, Why     string
	Target, Where, Seed  string
	Began, Lasted, Clock string
	Finding, Sign        string
	Expected, Summary    string
	Met                  bool
	Error, Measured      string
	Reasons              []string
	Figures              []figure
	Plan, Replay         string
	Faults, Violations   table
	Sessions, Requests   table
	Phases, Notes, Event table
	Line                 timeline
}

// table is a table of words. Right are the columns with numbers.
type table struct {
	Title string
	Head  []string
	Right []int
	Rows  [][]string
	Left  string // what was left out, in words
}

// Number says whether a column holds numbers.
func (t table) Number(column int) bool { return slices.Contains(t.Right, column) }

// maxRows bounds every table of a report.
const maxRows = 1000

func (t *table) bound(most int) {
	if all := len(t.Rows); all > most {
		t.Rows = t.Rows[:most]
		t.Left = fmt.Sprintf("%s more: the JSON report has them all", plural(all-most, "row"))
	}
}

func viewOf(r result.Run, number, of int) view {
	v := view{
		Number: number, Name: Clean(r.Name), Title: Clean(r.Title), Why: Clean(r.Why), Target: Clean(r.Target), Where: where(r.Server),
		Seed: strconv.FormatUint(r.Seed, 10), Began: r.Began.UTC().Format(time.RFC3339), Lasted: Short(r.Ended.Sub(r.Began)),
		Finding: string(r.Verdict.Finding), Sign: sign(r.Verdict.Finding), Met: r.Met, Error: Clean(r.Error),
		Measured: string(r.Verdict.MeasuredBy), Summary: Summary(r.Verdict), Figures: figures(r.Verdict), Plan: lines(r.Plan),
	}
	v.Expected = "as expected"
	if !r.Met {
		v.Expected = "expected " + string(r.Expected)
	}
	for _, reason := range r.Verdict.Reasons() {
		v.Reasons = append(v.Reasons, Clean(reason))
	}
	if slices.Contains(v.Reasons, v.Error) {
		v.Error = "" // once is enough
	}
	switch {
	case r.Command != "":
		v.Replay = Clean(r.Command)
	case v.Name != "" && !r.Server.Foreign:
		v.Replay = fmt.Sprintf("nats-reader chaos run %s --target %s --rand-seed %s", Quoted(v.Name), Quoted(v.Target), v.Seed)
	}
	v.Phases, v.Faults, v.Violations = phasesOf(r), faultsOf(r), violationsOf(r)
	v.Sessions, v.Requests, v.Notes = sessionsOf(r), requestsOf(r), notesOf(r)
	v.Event = eventsOf(r, max(50, maxRows/max(of, 1)))
	for _, t := range []*table{&v.Phases, &v.Faults, &v.Violations, &v.Sessions, &v.Requests, &v.Notes} {
		t.bound(maxRows / max(of/10, 1))
	}
	v.Line, v.Clock = timelineOf(r), clockOf(r)
	return v
}

// Quoted is a word as a shell takes it.
func Quoted(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@,") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// clockOf says what the times of a report count from: those of a plan count from a later moment.
func clockOf(r result.Run) string {
	for _, p := range r.Phases {
		if p.Name == "inject" {
			return "times count from the start of the run; those of the plan from its inject phase, which began at " + offset(r, p.From)
		}
	}
	return "times count from the start of the run"
}

func phasesOf(r result.Run) table {
	t := table{Title: "Phases", Head: []string{"phase", "from", "lasted", "remark"}, Right: []int{1, 2}}
	for _, p := range r.Phases {
		t.Rows = append(t.Rows, []string{Clean(p.Name), offset(r, p.From), Short(p.To.Sub(p.From)), Clean(p.Text)})
	}
	return t
}

func faultsOf(r result.Run) table {
	t := table{Title: "Faults", Head: []string{"fault", "where", "from", "lasted", "read again", "on"}, Right: []int{2, 3, 4}}
	for _, f := range r.Faults {
		again := "-"
		for _, x := range r.Verdict.Recoveries {
			if x.Fault != f.Text || !x.From.Equal(f.From) {
				continue
			}
			if again = "at once"; x.Took > 0 {
				again = "after " + Short(x.Took)
			}
			switch {
			case !x.Recovered:
				again = "never"
			case x.Cut:
				again = "not in " + Short(x.Took) + ", then the next came"
			}
		}
		on := Clean(f.Target)
		if f.Error != "" {
			again = "-" // nothing happened that could be recovered from
			on = strings.TrimSpace(on + " failed: " + Clean(f.Error))
		}
		t.Rows = append(t.Rows, []string{Clean(f.Text), Clean(f.Where), offset(r, f.From), Short(max(f.To.Sub(f.From), 0)), again, on})
	}
	return t
}

func violationsOf(r result.Run) table {
	t := table{Title: "Violations", Head: []string{"violation", "id", "sequence", "time", "what"}, Right: []int{2, 3}}
	for _, v := range r.Verdict.Violations {
		for _, s := range v.Samples {
			sequence := ""
			if s.Sequence > 0 {
				sequence = strconv.FormatUint(s.Sequence, 10)
			}
			t.Rows = append(t.Rows, []string{name(v.Kind), Clean(s.ID), sequence, offset(r, s.Time), Clean(s.Text)})
		}
		if left := v.Count - uint64(len(v.Samples)); len(v.Samples) == 0 || left > 0 {
			text := Clean(v.Text)
			if len(v.Samples) > 0 {
				text = fmt.Sprintf("and %d more", left)
			}
			t.Rows = append(t.Rows, []string{name(v.Kind), "", "", "", text})
		}
	}
	return t
}

// name is a kind of violation in words.
func name(k oracle.Kind) string { return strings.ReplaceAll(Clean(string(k)), "_", " ") }

func sessionsOf(r result.Run) table {
	t := table{
		Title: "Sessions", Head: []string{"session", "consumer", "from", "lasted", "deaf before", "took", "resumed after", "missed", "ended by"},
		Right: []int{0, 2, 3, 4, 5, 6, 7},
	}
	for _, s := range r.Sessions {
		t.Rows = append(t.Rows, []string{
			strconv.Itoa(s.Number), Clean(s.Consumer), offset(r, s.From), Short(s.To.Sub(s.From)), Short(s.Deaf), Short(s.Took),
			strconv.FormatUint(s.Resumed, 10), strconv.FormatUint(s.Missed, 10), Clean(s.Cause),
		})
	}
	return t
}

func requestsOf(r result.Run) table {
	t := table{Title: "JetStream API requests", Head: []string{"request", "count"}, Right: []int{1}}
	kinds := slices.SortedFunc(maps.Keys(r.APIRequests), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.APIRequests[b], r.APIRequests[a]), cmp.Compare(a, b))
	})
	for _, kind := range kinds {
		t.Rows = append(t.Rows, []string{Clean(kind), strconv.FormatUint(r.APIRequests[kind], 10)})
	}
	return t
}

func notesOf(r result.Run) table {
	t := table{Title: "Notes", Head: []string{"time", "note"}, Right: []int{0}}
	for _, n := range r.Notes {
		t.Rows = append(t.Rows, []string{offset(r, n.Time), Clean(n.Text)})
	}
	return t
}
