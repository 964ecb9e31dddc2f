package oracle

import (
	"slices"
	"time"
)

// Observed is what a report draws, beside the verdict.
type Observed struct {
	Sessions []Session
	Deaf     []Span // by the events of a reader of ours
	Silences []Span // of at least 100 ms
	Series   Series
	Requests map[string]uint64 // to the JetStream API, by kind
}

// Observe gives what was observed so far. Ending.Time is when it ends.
func (o *Oracle) Observe(end Ending) Observed {
	o.mu.Lock()
	defer o.mu.Unlock()
	seen := Observed{Requests: o.ownRequests.byKind()}
	if o.requests.total > 0 {
		seen.Requests = o.requests.byKind()
	}
	if !o.rules.Blind {
		seen.Deaf, seen.Sessions = o.deafSpans(end.Time), slices.Clone(o.events.list)
		if n := len(seen.Sessions); n > 0 && seen.Sessions[n-1].To.IsZero() {
			seen.Sessions[n-1].To = end.Time.UTC()
		}
	}
	var unread []interval
	if o.rules.Measure == ByIDs {
		var v Verdict
		v.Limits = o.limits()
		unread = o.countIDs(&v, samples{}, end)
	}
	seen.Silences = o.quiet.silences(unread, nanos(end.Time))
	seen.Series = o.series.figures(o.gone(end), nanos(end.Time))
	return seen
}

// gone are the times at which acknowledged messages that were not read ceased to wait.
func (o *Oracle) gone(end Ending) (all []int64) {
	a := o.accounts(end)
	for _, w := range o.writers {
		for _, r := range w.store.all() {
			if !r.waits() {
				continue
			}
			if at, _ := a.explains(r); at != 0 {
				all = append(all, at)
			} else if passed := r.passed(); passed != 0 && !o.rules.AtLeastOnce {
				all = append(all, max(passed, r.acknowledged))
			}
		}
	}
	return all
}

// Length is how long a span lasted.
func (s Span) Length() time.Duration { return s.To.Sub(s.From) }
