package run

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/result"
)

// faultOf gives a fault of a result by the beginning of its text.
func faultOf(t *testing.T, got result.Run, text string) result.Fault {
	t.Helper()
	i := slices.IndexFunc(got.Faults, func(f result.Fault) bool { return strings.HasPrefix(f.Text, text) })
	if i < 0 {
		t.Fatalf("%s did not come: %v", text, got.Faults)
	}
	return got.Faults[i]
}

// Steps come at the nth session, heartbeat and sequence, whoever reads.
func TestStepsWaitForEvents(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"reader", "ordered-messages"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := planOf(t, quick+`
steps:
  - {when: {sequence: 40}, fault: delete-consumer}
  - {when: {session: 2, after: 50ms}, fault: latency(delay=1ms), for: 100ms}
  - {when: {heartbeat: 1}, fault: bandwidth(rate=1000000), for: 100ms}
quiet: [{from: 12s, for: 6s}]
phases: {steady: 200ms, inject: 30s}
contract: {silence: 1m, orphans: 9}
`)
			got := played(t.Context(), t, optionsOf(t, p, name))
			want(t, got, oracle.Held, ExitHeld, "")
			deleted, slowed, narrowed := faultOf(t, got, "delete-consumer"), faultOf(t, got, "latency"), faultOf(t, got, "bandwidth")
			if slowed.From.Before(deleted.From) {
				t.Errorf("the second session at %s is before the first ended at %s", slowed.From, deleted.From)
			}
			inject, _ := phaseOf(got, Inject)
			if narrowed.From.Before(inject.From) || !strings.HasPrefix(deleted.Target, "consumer=") {
				t.Errorf("faults %v", got.Faults)
			}
		})
	}
}

// A step whose moment does not come is no fault that was withstood.
func TestStepThatDoesNotCome(t *testing.T) {
	t.Parallel()
	p := planOf(t, quick+`
steps:
  - {when: {at: 0s}, fault: cut}
  - {when: {session: 99}, fault: cut}
phases: {steady: 100ms, inject: 1s}
`)
	got := played(t.Context(), t, optionsOf(t, p, "reader"))
	want(t, got, oracle.Unknown, ExitUnknown, "1 of 2 steps of the plan did not come within the 1s")
}

// The last message before a quiet time is lost on the way: the fault acts when all else
// is read, on one message, and then nobody publishes.
func TestLastMessageBeforeQuiet(t *testing.T) {
	t.Parallel()
	p := planOf(t, quick+`
steps: [{when: {quiet: 1}, fault: drop-message(nth=1), for: 2s}]
quiet: [{from: 300ms, for: 3s}]
phases: {steady: 200ms}
`)
	o := optionsOf(t, p, "reader")
	var mu sync.Mutex
	var dropped int
	var read, published []uint64
	o.Progress = func(p Progress) {
		mu.Lock()
		defer mu.Unlock()
		if p.Fault != nil && p.Fault.Phase == chaos.PhaseEnded {
			dropped = p.Acted
		}
		if p.Figures != nil && p.Phase == Inject {
			read, published = append(read, p.Figures.Read), append(published, p.Figures.Acknowledged)
		}
	}
	got := played(t.Context(), t, o)
	want(t, got, oracle.Held, ExitHeld, "")
	if dropped != 1 {
		t.Errorf("%d messages were dropped", dropped)
	}
	fault := faultOf(t, got, "drop-message")
	silence := time.Duration(0)
	for _, s := range got.Silences {
		if s.To.After(fault.From) {
			silence = max(silence, s.Length())
		}
	}
	if silence < 200*time.Millisecond {
		t.Errorf("the message was not missed for a while: silences %v; read %v of %v", got.Silences, read, published)
	}
}

// The seed is in the result, with the plan that it made; the same seed makes the same.
func TestResolvedPlanIsKept(t *testing.T) {
	t.Parallel()
	const text = `
random: {count: 2, faults: [{fault: cut}, {fault: delete-consumer}], length: {least: 100ms, most: 200ms}, gap: {least: 100ms, most: 300ms}}
phases: {steady: 100ms}
`
	got := played(t.Context(), t, optionsOf(t, planOf(t, quick+text), "reader"))
	again, err := planOf(t, quick+text).YAML()
	if err != nil {
		t.Fatal(err)
	}
	if got.Plan != string(again) || strings.Contains(got.Plan, "random:") || len(got.Faults) != 2 {
		t.Errorf("the plan is\n%s\nand of the same seed\n%s\nfaults %v", got.Plan, again, got.Faults)
	}
}

// A fault that had nothing to act on was not withstood.
func TestFaultsThatMeetNothing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		steps  string
		want   oracle.Finding
		reason string
	}{
		{"api-timeout(subject=STREAM.PURGE.>), for: 300ms}", oracle.Unknown, "nothing was tried"},
		{"api-timeout(subject=STREAM.PURGE.>), for: 300ms}\n  - {when: {at: 100ms}, fault: cut}", oracle.Held, ""},
	} {
		p := planOf(t, quick+"steps:\n  - {when: {at: 0s}, fault: "+test.steps+"\nphases: {steady: 100ms}\n")
		got := played(t.Context(), t, optionsOf(t, p, "reader"))
		want(t, got, test.want, exitOf(test.want), test.reason)
		if !slices.ContainsFunc(got.Notes, func(n result.Note) bool {
			return strings.Contains(n.Text, "api-timeout(subject=STREAM.PURGE.>) met nothing to act on")
		}) {
			t.Errorf("notes %v", got.Notes)
		}
	}
}
