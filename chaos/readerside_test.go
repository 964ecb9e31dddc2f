package chaos

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// program counts how often it is stopped.
type program struct{ frozen, thawed int }

func (p *program) Freeze() error {
	if p.frozen > p.thawed {
		return errors.New("the program has ended")
	}
	p.frozen++
	return nil
}

func (p *program) Thaw() error { p.thawed++; return nil }

func TestReaderFaults(t *testing.T) {
	var pace Pace
	work := func() time.Duration {
		began := time.Now()
		pace.Wait(t.Context())
		return time.Since(began)
	}
	s := &stage{T: t, env: &Environment{Pace: &pace}}
	slowest := time.Duration(0)
	r, told := s.run(t.Context(), func(f Firing) {
		switch {
		case f.Spec.Name == "stalled-reader" && f.Phase == PhaseEnded:
			slowest = work() // the other one still acts
		case f.Spec.Name == "slow-reader" && f.Phase == PhaseEnded:
			if pause, stalled, _ := pace.now(); pause > 0 || stalled {
				t.Error("it is slow after the end")
			}
		}
	}, "slow-reader(pause=30ms)@0s+3s", "stalled-reader@0s+50ms")
	if len(told) != 4 || slowest < 30*time.Millisecond || len(r.Failed()) != 0 {
		t.Errorf("told %q, a message took %s, failed %v", told, slowest, r.Failed())
	}
}

func TestFreezeReader(t *testing.T) {
	p := &program{}
	s := &stage{T: t, env: &Environment{Program: p}}
	r, told := s.run(t.Context(), nil, "freeze-reader@0s+10ms")
	if want := []string{"freeze-reader fired", "freeze-reader ended"}; !slices.Equal(told, want) || p.frozen != 1 || p.thawed != 1 {
		t.Errorf("told %q, %+v, failed %v", told, p, r.Failed())
	}
	p = &program{frozen: 1}
	s.env.Program = p
	r, told = s.run(t.Context(), nil, "freeze-reader@0s+10ms")
	if want := []string{"freeze-reader failed"}; !slices.Equal(told, want) || len(r.Failed()) != 1 || p.thawed != 0 {
		t.Errorf("told %q, %+v, failed %v", told, p, r.Failed())
	}
}

// A fault that cannot act on a reader of this kind is refused before anything begins.
func TestReaderFaultsThatCannotAct(t *testing.T) {
	for fault, env := range map[string]*Environment{
		"slow-reader":    {Program: &program{}, Pace: &Pace{}},
		"stalled-reader": {},
		"freeze-reader":  {Pace: &Pace{}},
	} {
		spec, err := ParseSpec(fault + "@1s")
		if err != nil {
			t.Fatal(err)
		}
		_, err = NewRunner(env, []Spec{spec}, nil)
		if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), fault) {
			t.Errorf("%s: %v", fault, err)
		}
	}
	for _, wrong := range []string{"slow-reader(pause=0s)", "slow-reader(pause=often)", "stalled-reader(pause=1s)", "freeze-reader(node=n1)"} {
		if _, err := ParseSpec(wrong); err == nil {
			t.Errorf("%s is taken", wrong)
		}
	}
}

// What a plan may ask of a reader can be told before there is one.
func TestCheckReader(t *testing.T) {
	for fault, can := range map[string]struct{ inside, outside bool }{
		"slow-reader":     {true, false},
		"stalled-reader":  {true, false},
		"freeze-reader":   {false, true},
		"delete-consumer": {true, true},
		"cut":             {true, true},
	} {
		for program, want := range map[bool]bool{false: can.inside, true: can.outside} {
			err := CheckReader(Spec{Name: fault}, program)
			if (err == nil) != want || err != nil && !errors.Is(err, ErrRefused) {
				t.Errorf("%s, a program: %v: %v", fault, program, err)
			}
		}
	}
}
