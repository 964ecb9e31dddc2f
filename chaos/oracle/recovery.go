package oracle

import (
	"cmp"
	"slices"
	"time"
)

// recoveryGrace is how long after a fault, or after a time without messages that it made, another such time
// still counts as its doing.
const recoveryGrace = time.Second

// together is how far apart faults may begin that count as one blow: what comes of them is the doing of each.
const together = 100 * time.Millisecond

// recoveries tells for each fault how long it took, from the end of the fault on, until messages came again:
// until the last of the times that touch it or follow it closely, at most until the next fault begins. spans are
// the times in which the reader was deaf or silent; those no longer than the longest before the first fault are
// its ordinary pace.
func recoveries(periods []Period, spans []Span, end time.Time) []Recovery {
	spans = beyondPace(periods, spans)
	spans = slices.SortedFunc(slices.Values(spans), func(a, b Span) int { return cmp.Compare(nanos(a.From), nanos(b.From)) })
	var all []Recovery
	for _, p := range periods {
		to := p.until(end)
		r := Recovery{Fault: p.Fault, From: p.From.UTC(), To: to.UTC(), Recovered: true}
		next, more := following(p, periods, end)
		until := to
		for _, s := range spans {
			if s.To.Before(p.From) || s.From.After(until.Add(recoveryGrace)) || more && ofNext(s, to, next) {
				continue
			}
			if s.To.After(until) {
				until = s.To
			}
			r.Recovered = r.Recovered && !s.Open
		}
		if r.Cut = r.Recovered && more && until.After(next); r.Cut {
			until = next
		}
		r.Took = until.Sub(to)
		all = append(all, r)
	}
	return all
}

// ofNext says whether a span is the doing of the next fault, though it may begin a little before that: a reader is
// deaf from its last answer on.
func ofNext(s Span, to, next time.Time) bool {
	return !s.From.Before(next) || s.To.After(next) && s.From.After(to.Add(together))
}

// following is when the first fault begins that comes behind another, and not with it.
func following(p Period, periods []Period, end time.Time) (next time.Time, more bool) {
	for _, x := range periods {
		if x.From.After(p.until(end)) && x.From.After(p.From.Add(together)) && (!more || x.From.Before(next)) {
			next, more = x.From, true
		}
	}
	return next, more
}

// othersActed is how long other faults acted during the recovery from one: nobody can read again meanwhile.
func othersActed(r Recovery, end Ending) time.Duration {
	var acted []interval
	for _, p := range end.Periods {
		acted = append(acted, interval{nanos(p.From), nanos(p.until(end.Time))})
	}
	var total time.Duration
	for _, x := range within(joined(acted), nanos(r.To), nanos(r.To.Add(r.Took))) {
		total += time.Duration(x.to - x.from)
	}
	return total
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
