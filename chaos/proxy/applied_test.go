package proxy

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestFaultsInForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := through(t, Options{})
		defer e.close()
		undo := e.apply("api-timeout(pulls=true)")
		e.apply("black-hole(for=3s)")
		e.apply("lose-reply")
		e.apply("drop-subscription") // is over at once
		names := func() (out []string) {
			for _, f := range e.p.Faults() {
				out = append(out, f.Fault.String())
			}
			return out
		}
		want := func(want ...string) {
			t.Helper()
			if got := names(); !reflect.DeepEqual(got, want) {
				t.Fatalf("in force %v, want %v", got, want)
			}
		}
		want("api-timeout(pulls=true)", "black-hole(for=3s)", "lose-reply")
		undo()
		undo()
		want("black-hole(for=3s)", "lose-reply")
		time.Sleep(3 * time.Second)
		synctest.Wait()
		want("lose-reply")
		if f := e.p.Faults()[0]; f.ID != 3 || !f.Since.Before(time.Now()) {
			t.Errorf("%+v", f)
		}
		e.p.Reset()
		e.p.Reset()
		want()
	})
}

// A fault that is prepared has its id and does not act; one that is never applied leaves out a number.
func TestPrepare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := through(t, Options{})
		prepare := func(text string) *Prepared {
			t.Helper()
			f, err := ParseFault(text)
			if err != nil {
				t.Fatal(err)
			}
			r, err := e.p.Prepare(f)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		unused, later := prepare("cut"), prepare("black-hole")
		e.apply("lose-reply")
		if unused.ID() != 1 || later.ID() != 2 || len(e.p.Faults()) != 1 || e.p.Faults()[0].ID != 3 {
			t.Fatalf("ids %d and %d, in force %+v", unused.ID(), later.ID(), e.p.Faults())
		}
		time.Sleep(time.Second)
		undo, err := later.Apply()
		if err != nil {
			t.Fatal(err)
		}
		if in := e.p.Faults(); len(in) != 2 || in[1].ID != 2 || in[1].Since.Sub(in[0].Since) != time.Second {
			t.Errorf("in force %+v", in)
		}
		if _, err := later.Apply(); err == nil || !strings.Contains(err.Error(), "applied before") {
			t.Errorf("a second time: %v", err)
		}
		undo()
		if _, err := e.p.Prepare(Fault{Name: "cot"}); err == nil {
			t.Error("an unknown fault is prepared")
		}
		e.close()
		if _, err := unused.Apply(); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}
