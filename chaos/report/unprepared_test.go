package report

import (
	"strings"
	"testing"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/result"
)

// A run that never got a server says so once, and names no version.
func TestUnprepared(t *testing.T) {
	r := unjudged()
	r.Server.Version, r.Error = "", "not prepared: no server"
	r.Verdict.Doubts = []string{r.Error}
	for _, f := range []Format{Text, Markdown, HTML, JUnit} {
		got := render(t, f, r)
		if strings.Contains(got, "nats-server ,") || !strings.Contains(got, "a nats-server of a version that is not known") {
			t.Errorf("%s names a version where none is known", f)
		}
		if strings.Contains(got, "error: not prepared") {
			t.Errorf("%s tells the same twice", f)
		}
	}
}

// Nothing recovers from a fault that was not made.
func TestFailedFaultHasNoRecovery(t *testing.T) {
	r := held()
	fault := &r.Faults[0]
	if len(r.Verdict.Recoveries) == 0 {
		t.Fatal("the sample has no recovery")
	}
	r.Verdict.Recoveries[0] = oracle.Recovery{Fault: fault.Text, From: fault.From, Recovered: true}
	if got := faultsOf(r).Rows[0][4]; got != "at once" {
		t.Fatalf("made: %q", got)
	}
	fault.Error = "no such consumer"
	if got := faultsOf(r).Rows[0][4]; got != "-" {
		t.Errorf("not made: %q", got)
	}
}

// The times of a report and those of its plan count from two moments.
func TestClock(t *testing.T) {
	if got, want := clockOf(deaf()), "those of the plan from its inject phase, which began at 10.000s"; !strings.Contains(got, want) {
		t.Errorf("%q does not say %q", got, want)
	}
	if got := clockOf(result.Run{}); strings.Contains(got, "inject") {
		t.Errorf("without that phase: %q", got)
	}
}
