package matrix

import (
	"slices"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/result"
)

// spells are the times without a message from the first fault on, joined where they touch: while messages waited, and,
// unless nothing was to be published, while a fault kept everybody from publishing.
func spells(r result.Run, first time.Time, quiet bool) (joined []oracle.Span) {
	all := slices.Concat(r.Silences, r.Deaf)
	if !quiet {
		all = append(all, unread(r)...)
	}
	slices.SortFunc(all, func(a, b oracle.Span) int { return a.From.Compare(b.From) })
	for _, s := range all {
		if !s.To.After(first) {
			continue
		}
		if s.From.Before(first) {
			s.From = first
		}
		n := len(joined)
		if n == 0 || s.From.After(joined[n-1].To.Add(r.Series.Step)) {
			joined = append(joined, s)
			continue
		}
		last := &joined[n-1]
		last.Open = last.Open || s.Open
		if s.To.After(last.To) {
			last.To = s.To
		}
	}
	return joined
}

// after is how much of a time was left when the last fault that acted meanwhile had ended.
func after(r result.Run, s oracle.Span) time.Duration {
	from := s.From
	for _, f := range r.Faults {
		if f.From.Before(s.To) && f.To.After(from) {
			from = f.To
		}
	}
	return max(s.To.Sub(from), 0)
}

// unread are the times in which nothing was read while a fault acted, to a step of the series: those longer than each
// before the first fault.
func unread(r result.Run) (all []oracle.Span) {
	s := r.Series
	first := firstFault(r)
	var pace time.Duration
	for i := 0; i < len(s.Read); i++ {
		from := i
		for i < len(s.Read) && s.Read[i] == 0 {
			i++
		}
		if i == from {
			continue
		}
		x := oracle.Span{From: s.From.Add(time.Duration(from) * s.Step), To: s.From.Add(time.Duration(i) * s.Step)}
		switch {
		case x.To.Before(first):
			pace = max(pace, x.Length())
		case x.Length() > pace && acts(r, x):
			all = append(all, x)
		}
	}
	return all
}

// acts says whether a fault acted within a time.
func acts(r result.Run, s oracle.Span) bool {
	return slices.ContainsFunc(r.Faults, func(f result.Fault) bool { return f.From.Before(s.To) && f.To.After(s.From) })
}
