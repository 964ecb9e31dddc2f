package chaos

import (
	"context"
	"fmt"
	"time"
)

// Program is an outside program that reads, as far as faults act on it.
type Program interface {
	// Freeze stops the program with all that it started, until as many Thaws.
	Freeze() error
	// Thaw lets it go on. One that has ended needs none.
	Thaw() error
}

// applyReader acts on the reader's side.
func (e *Environment) applyReader(s Spec) (target, undo, error) {
	quick := func(end func()) undo {
		return func(context.Context) error { end(); return nil }
	}
	switch s.Name {
	case slowReader:
		pause, err := time.ParseDuration(s.param("pause"))
		if err != nil {
			return target{}, nil, err
		}
		return target{}, quick(e.Pace.Slow(pause)), nil
	case stalledReader:
		return target{}, quick(e.Pace.Stall()), nil
	case freezeReader:
		if err := e.Program.Freeze(); err != nil {
			return target{}, nil, err
		}
		return target{}, func(context.Context) error { return e.Program.Thaw() }, nil
	default:
		return target{}, nil, fmt.Errorf("fault %s acts on no reader", s.Name)
	}
}

// CheckReader says whether a fault can act on a reader that is a program of its own, or
// that is not; the error wraps ErrRefused. Faults of other layers act on both.
func CheckReader(s Spec, program bool) error {
	f, _ := FindFault(s.Name)
	why := ""
	switch {
	case f.Layer != LayerReader:
	case s.Name == freezeReader && !program:
		why = "it stops a program of its own, and this reader is a part of this process: use stalled-reader here, or a target exec:CMD"
	case s.Name != freezeReader && program:
		why = "it slows the code that is handed the messages, and a program of its own has that inside: use freeze-reader"
	}
	if why == "" {
		return nil
	}
	return refusal(s, why)
}

// checkReader says whether a fault of this layer can act here.
func (e *Environment) checkReader(s Spec) error {
	if err := CheckReader(s, e.Program != nil); err != nil {
		return err
	}
	if e.Program == nil && e.Pace == nil {
		return refusal(s, "it slows the code that is handed the messages, and that is not in this process")
	}
	return nil
}
