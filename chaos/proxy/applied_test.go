package proxy

import (
	"reflect"
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
