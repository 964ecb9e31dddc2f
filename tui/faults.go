package tui

import (
	"slices"
	"time"
)

// maxFirings is how many firings the timeline remembers.
const maxFirings = 2000

// faultBook is which faults have fired, and which are on.
type faultBook struct {
	on     []faultOn
	fired  int
	failed int
	marks  []faultMark
}

// faultOn is a fault that acts.
type faultOn struct {
	name, fault string
	since       time.Time
	until       time.Time // zero: until it is undone
	acted       bool
}

// faultMark is a firing, for the timeline.
type faultMark struct {
	time time.Time
	name string
}

func (b *faultBook) add(at time.Time, s FaultStep) {
	same := func(o faultOn) bool { return o.fault == s.Fault }
	i := slices.IndexFunc(b.on, same)
	switch s.Phase {
	case FaultFired:
		b.fired++
		b.marks = append(b.marks, faultMark{at, s.Name})
		if len(b.marks) > maxFirings {
			b.marks = b.marks[1:]
		}
		if !s.Once {
			b.on = append(b.on, faultOn{name: s.Name, fault: s.Fault, since: at, until: s.Until})
		}
	case FaultActed:
		if i >= 0 {
			b.on[i].acted = true
		}
	case FaultEnded, FaultFailed:
		if s.Phase == FaultFailed {
			b.failed++
		}
		if i >= 0 {
			b.on = slices.Delete(b.on, i, i+1)
		}
	}
}

// isOn says whether a fault acts, by its name in the catalogue.
func (b *faultBook) isOn(name string) bool {
	return slices.ContainsFunc(b.on, func(o faultOn) bool { return o.name == name })
}
