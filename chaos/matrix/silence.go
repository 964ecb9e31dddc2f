package matrix

import (
	"slices"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/result"
)

// longest is the longest time without a message from the first fault on: while messages waited, and, unless nothing was
// to be published, while a fault kept everybody from publishing.
func longest(r result.Run, first time.Time, quiet bool) (most time.Duration) {
	all := spans(r)
	if !quiet {
		all = append(all, unread(r)...)
	}
	slices.SortFunc(all, func(a, b oracle.Span) int { return a.From.Compare(b.From) })
	var from, to time.Time
	for _, s := range all {
		if !s.To.After(first) {
			continue
		}
		if s.From.Before(first) {
			s.From = first
		}
		if from.IsZero() || s.From.After(to.Add(r.Series.Step)) {
			from = s.From
		}
		if s.To.After(to) {
			to = s.To
		}
		most = max(most, to.Sub(from))
	}
	return most
}

// unread are the times in which nothing was read while a fault acted, to a step of the series: those longer than each
// before the first fault.
func unread(r result.Run) (all []oracle.Span) {
	s := r.Series
	first, _ := bounds(r)
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
