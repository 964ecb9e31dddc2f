package oracle

import (
	"cmp"
	"slices"
	"time"
)

// recoveryGrace is how long after a fault, or after a time without messages that it made, another such time
// still counts as its doing.
const recoveryGrace = time.Second

// recoveries tells for each fault how long it took, from the end of the fault on, until messages came again:
// until the last of the times that touch it or follow it closely. spans are the times in which the reader was
// deaf or silent; those no longer than the longest before the first fault are its ordinary pace.
func recoveries(periods []Period, spans []Span, end time.Time) []Recovery {
	spans = beyondPace(periods, spans)
	spans = slices.SortedFunc(slices.Values(spans), func(a, b Span) int { return cmp.Compare(nanos(a.From), nanos(b.From)) })
	var all []Recovery
	for _, p := range periods {
		to := p.until(end)
		r := Recovery{Fault: p.Fault, From: p.From.UTC(), To: to.UTC(), Recovered: true}
		until := to
		for _, s := range spans {
			if s.To.Before(p.From) || s.From.After(until.Add(recoveryGrace)) {
				continue
			}
			if s.To.After(until) {
				until = s.To
			}
			r.Recovered = r.Recovered && !s.Open
		}
		r.Took = until.Sub(to)
		all = append(all, r)
	}
	return all
}

// beyondPace are the spans longer than each that was over before the first fault.
func beyondPace(periods []Period, spans []Span) []Span {
	if len(periods) == 0 {
		return nil
	}
	first := slices.MinFunc(periods, func(a, b Period) int { return a.From.Compare(b.From) }).From
	var pace time.Duration
	for _, s := range spans {
		if s.To.Before(first) {
			pace = max(pace, s.Length())
		}
	}
	var all []Span
	for _, s := range spans {
		if s.Length() > pace {
			all = append(all, s)
		}
	}
	return all
}
