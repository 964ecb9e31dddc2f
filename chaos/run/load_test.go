package run

import (
	"slices"
	"strings"
	"testing"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
)

// Several writers, subjects and sizes, bursts, and what was stored before; the target
// reads a part of it.
func TestLoad(t *testing.T) {
	t.Parallel()
	const text = quick + `
load: {rate: 200, writers: 4, subjects: 2, size: 300, prefill: 500, bursts: {every: 200ms, count: 20}}
steps: [{when: {at: 100ms}, fault: cut}]
phases: {steady: 300ms}
`
	all := played(t.Context(), t, optionsOf(t, planOf(t, text), "reader"))
	want(t, all, oracle.Held, ExitHeld, "")
	if all.Verdict.Acknowledged < 550 || all.Verdict.WireBytes < 300*all.Verdict.Delivered {
		t.Errorf("acknowledged %d, %d bytes", all.Verdict.Acknowledged, all.Verdict.WireBytes)
	}

	part := strings.Replace(text, "target: {", "target: {subjects: [2], ", 1)
	got := played(t.Context(), t, optionsOf(t, planOf(t, part), "reader"))
	want(t, got, oracle.Held, ExitHeld, "")
	if got.Verdict.Acknowledged >= all.Verdict.Acknowledged || got.Verdict.Acknowledged < 250 {
		t.Errorf("acknowledged %d of one subject, %d of both", got.Verdict.Acknowledged, all.Verdict.Acknowledged)
	}
}

// What lies before the start of a target is no loss, and no message of its own.
func TestStart(t *testing.T) {
	t.Parallel()
	for start, stored := range map[string]uint64{"all": 50, "new": 0, "last": 1, "last-per-subject": 2} {
		t.Run(start, func(t *testing.T) {
			t.Parallel()
			p := planOf(t, strings.Replace(quick, "target: {", "target: {start: "+start+", ", 1)+`
load: {rate: 50, subjects: 2, prefill: 50}
steps: [{when: {at: 100ms}, fault: delete-consumer}]
phases: {steady: 100ms}
`)
			got := played(t.Context(), t, optionsOf(t, p, "reader"))
			want(t, got, oracle.Held, ExitHeld, "")
			if v := got.Verdict; v.Delivered < stored+5 || v.Acknowledged != v.Delivered {
				t.Errorf("delivered %d, acknowledged %d", v.Delivered, v.Acknowledged)
			}
		})
	}
}

// The stream may be made only when the target waits for it already.
func TestStreamIsMadeLate(t *testing.T) {
	t.Parallel()
	p := planOf(t, strings.Replace(quick, "target: {", "target: {wait_for_stream: true, ", 1)+`
stream: {made_after: 700ms}
steps: [{when: {at: 100ms}, fault: delete-consumer}]
phases: {steady: 100ms}
`)
	got := played(t.Context(), t, optionsOf(t, p, "reader"))
	want(t, got, oracle.Held, ExitHeld, "")
}

// A durable reads at least once, and is no orphan.
func TestDurable(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"reader", "fetch"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := planOf(t, strings.Replace(quick, "target: {", "target: {durable: mine, ", 1)+`
stream: {retention: workqueue}
steps: [{when: {at: 100ms}, fault: black-hole, for: 300ms}]
phases: {steady: 100ms}
contract: {silence: 1m}
`)
			got := played(t.Context(), t, optionsOf(t, p, name))
			want(t, got, oracle.Held, ExitHeld, "")
		})
	}
}

// In a cluster the faults reach nodes, also the one that the target is connected to.
func TestCluster(t *testing.T) {
	t.Parallel()
	p := planOf(t, quick+`
server: {nodes: 3, replicas: 3}
steps: [{when: {at: 100ms}, fault: stop-node(node=reader), for: 500ms}]
phases: {steady: 200ms}
`)
	got := played(t.Context(), t, optionsOf(t, p, "reader"))
	want(t, got, oracle.Held, ExitHeld, "")
	if f := faultOf(t, got, "stop-node"); !slices.Contains([]string{"node=n1", "node=n2", "node=n3"}, f.Target) {
		t.Errorf("it acted on %q", f.Target)
	}
}
