package fleet

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// What idle readers may cost. They are judged from so many readers on: of few, what the process needs anyway counts for
// too much.
const (
	mostGoroutines  = 2
	mostMemory      = 24 << 10
	judgedFrom      = 1000
	pullsForTheEdge = 1 // the time that is counted begins and ends between two pulls
)

// judge writes the findings and the verdict.
func (r *Result) judge(p *Plan) {
	r.Findings = nil
	switch r.Kind {
	case Cost:
		r.judgeCost()
		r.judgeIdle(p)
		r.judgeRecoveries(p)
	case Steady:
		r.judgeIdle(p)
		r.judgeTrends()
	case Flow:
		r.judgeFlow()
		r.judgeTrends()
	}
	r.find("consumers left after all are closed", fmt.Sprint(r.Closed.Consumers), "0", r.Closed.Consumers == 0)
	r.Verdict = Held
	if r.Kind != Cost {
		r.Verdict = Flat
	}
	if slices.ContainsFunc(r.Trends, func(t Trend) bool { return t.Grows }) {
		r.Verdict = Grows
		return
	}
	if slices.ContainsFunc(r.Findings, func(f Finding) bool { return !f.Held }) {
		r.Verdict = Broken
	}
}

// Good says whether every finding holds.
func (r *Result) Good() bool { return r.Verdict == Held || r.Verdict == Flat }

func (r *Result) find(what, seen, want string, held bool) {
	r.Findings = append(r.Findings, Finding{What: what, Seen: seen, Want: want, Held: held})
}

func (r *Result) judgeCost() {
	if r.Readers < judgedFrom {
		return
	}
	r.find("goroutines a reader", fmt.Sprintf("%.2f", r.Cost.Goroutines), fmt.Sprintf("%d at most", mostGoroutines), r.Cost.Goroutines <= mostGoroutines)
	r.find("heap and stacks a reader", size(r.Cost.Memory), size(mostMemory)+" at most", r.Cost.Memory <= mostMemory)
}

// judgeIdle: an idle reader sends one pull when the last one expired, and asks nothing.
func (r *Result) judgeIdle(p *Plan) {
	n := sum(r.Idle.API)
	r.find("API requests while idle", counts(r.Idle.API), "0", n == 0)
	most := uint64(math.Ceil(float64(r.Idle.For)/float64(expires(p.Config)))) + pullsForTheEdge
	r.find("pulls of one reader while idle", fmt.Sprint(r.Idle.Most), fmt.Sprintf("%d at most", most), r.Idle.Most <= most)
	r.find("sessions replaced while idle", fmt.Sprint(r.Idle.Replaced), "0", r.Idle.Replaced == 0)
}

func (r *Result) judgeRecoveries(p *Plan) {
	for _, v := range r.Recoveries {
		name := v.name()
		r.find("all read again after "+name, fmt.Sprintf("%d of %d", r.Readers-v.NotRead, r.Readers), fmt.Sprint(r.Readers), v.NotRead == 0)
		if v.Connection && p.Connections == 1 {
			n := v.Replaced + v.Healed
			r.find("sessions replaced or healed after "+name, fmt.Sprint(n), fmt.Sprintf("%d at least", r.Readers), n >= r.Readers)
		}
		r.find("not idle again after "+name, fmt.Sprint(v.Restless), "0", v.Restless == 0)
		r.find("consumers after "+name, fmt.Sprint(v.Consumers), fmt.Sprint(r.Readers), v.Consumers == r.Readers)
		r.find("orphans after "+name, fmt.Sprint(v.Orphans), "0", v.Orphans == 0)
		if p.Within > 0 {
			took := v.ReadReady
			if v.Node != "" {
				took = v.Read // the others are there
			}
			r.find("time until all read again after "+name, roundTime(took).String(), p.Within.String()+" at most", took <= p.Within)
		}
	}
}

// name says which end it was, in words.
func (v Recovery) name() string {
	if v.Node == "" {
		return v.What
	}
	return v.What + " " + v.Node
}

func (r *Result) judgeTrends() {
	if len(r.Trends) == 0 {
		r.find("samples", fmt.Sprint(len(r.Samples)), fmt.Sprintf("%d at least", LeastSamples), false)
	}
	for _, t := range r.Trends {
		r.find(t.What, t.figure(t.First)+" to "+t.figure(t.Last), "at most "+t.figure(t.First+t.Allowed), !t.Grows)
	}
}

// figure writes a value of a trend.
func (t Trend) figure(v float64) string {
	switch t.What {
	case seriesMemory, seriesResident:
		return size(v)
	default:
		return fmt.Sprintf("%.0f", v)
	}
}

func (r *Result) judgeFlow() {
	s := r.Speed
	r.find("messages lost", fmt.Sprint(s.Lost), "0", s.Lost == 0)
	r.find("messages missed", fmt.Sprint(s.Missed), "0", s.Missed == 0)
	r.find("messages not read at the end", fmt.Sprint(s.Unread), "0", s.Unread == 0)
	r.find("messages read", fmt.Sprint(s.Read), "1 at least", s.Read > 0)
}

// size writes bytes.
func size(bytes float64) string {
	switch a := math.Abs(bytes); {
	case a < 1<<10:
		return fmt.Sprintf("%.0f B", bytes)
	case a < 1<<20:
		return fmt.Sprintf("%.1f KiB", bytes/(1<<10))
	default:
		return fmt.Sprintf("%.1f MiB", bytes/(1<<20))
	}
}

// roundTime leaves out what nobody reads.
func roundTime(d time.Duration) time.Duration {
	if d >= 10*time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Millisecond)
}

// counts writes counts by name, in the order of the names.
func counts(all map[string]uint64) string {
	if len(all) == 0 {
		return "0"
	}
	text := fmt.Sprint(sum(all), " (")
	for i, name := range slices.Sorted(maps.Keys(all)) {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s %d", name, all[name])
	}
	return text + ")"
}
