package plan_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/plan"
)

const head = "schema: nats-reader/plan/v1\nname: p\ntitle: a plan\n"

func parse(t *testing.T, body string) plan.Plan {
	t.Helper()
	p, err := plan.Parse("p.yaml", []byte(head+body))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// One seed is one plan, byte for byte, whatever was resolved before; another is another.
func TestSeedIsThePlan(t *testing.T) {
	for _, name := range []string{"random", "cluster-random", "soak"} {
		p, other := find(t, name), find(t, "cluster-random")
		seen := map[string]uint64{}
		for seed := uint64(1); seed <= 20; seed++ {
			first := text(t, resolve(t, p, seed))
			resolve(t, other, seed+1)
			if again := text(t, resolve(t, p, seed)); !bytes.Equal(first, again) {
				t.Fatalf("%s: seed %d gives\n%s\nand\n%s", name, seed, first, again)
			}
			_, body, _ := strings.Cut(string(first), "steps:")
			if before, twice := seen[body]; twice {
				t.Errorf("%s: seeds %d and %d give the same", name, before, seed)
			}
			seen[body] = seed
		}
	}
}

// A draw belongs to its step and repetition: other steps do not move it.
func TestDrawsAreKeyed(t *testing.T) {
	const drawn = "  - when: {random: {from: 1s, to: 9s}}\n    fault: cut\n    every: 10s\n    count: 3\n"
	alone := resolve(t, parse(t, "steps:\n"+drawn), 5)
	more := resolve(t, parse(t, "steps:\n"+drawn+drawn+"random: {count: 3, layers: [wire]}\n"), 5)
	for n, s := range alone.Steps {
		from := time.Second + time.Duration(n)*10*time.Second
		if s.When.Kind != plan.At || s.When.Time < from || s.When.Time > from+8*time.Second {
			t.Errorf("repetition %d is %s", n, s.When)
		}
		if !slices.Contains(more.Steps, s) {
			t.Errorf("%+v is not among\n%s", s, text(t, more))
		}
	}
	gap := func(n int) time.Duration { return alone.Steps[n].When.Time - alone.Steps[n-1].When.Time }
	if gap(1) == 10*time.Second && gap(2) == 10*time.Second {
		t.Error("every repetition is drawn alike")
	}
}

// Seed 0 is the plan's own; where it has none, 1.
func TestSeedOfThePlan(t *testing.T) {
	const body = "random: {count: 2}\n"
	own := parse(t, "seed: 12\n"+body)
	for _, c := range []struct {
		p          plan.Plan
		seed, want uint64
	}{{own, 0, 12}, {own, 3, 3}, {parse(t, body), 0, 1}, {parse(t, body), 9, 9}} {
		if r := resolve(t, c.p, c.seed); r.Seed != c.want {
			t.Errorf("seed %d of a plan with seed %d: %d, want %d", c.seed, c.p.Seed, r.Seed, c.want)
		}
	}
}

// What is expected of a target is by its kind, whatever its parameters or command.
func TestExpected(t *testing.T) {
	p := parse(t, "expect: {consume: broken, exec: unknown, others: held}\n")
	q := parse(t, "expect: {others: broken}\n")
	for _, c := range []struct {
		p      plan.Plan
		target string
		want   oracle.Finding
	}{
		{p, "consume", oracle.Broken}, {p, "consume(durable=false)", oracle.Broken}, {p, "exec:cat x", oracle.Unknown}, {p, "fetch", oracle.Held},
		{q, "fetch(batch=3)", oracle.Broken}, {q, "exec:cat", oracle.Broken}, {q, "reader", oracle.Held}, {parse(t, ""), "messages", oracle.Held},
	} {
		if got := c.p.Expected(c.target); got != c.want {
			t.Errorf("%s: %s, want %s", c.target, got, c.want)
		}
	}
}

func TestResolvedSteps(t *testing.T) {
	r := resolve(t, parse(t, `server: {nodes: 3}
quiet: [{from: 2s, for: 3s}]
steps:
  - when: {session: 2, after: 100ms}
    fault: latency
    every: 15s
    count: 2
  - when: {at: 4s}
    fault: kill-node(count=2)
    node: n3
  - when: {quiet: 1}
    fault: drop-message(nth=1, limit=1, for=1s)
  - when: {at: 1s}
    fault: cut
    every: 500ms
    count: 3
`), 1)
	var got []string
	for _, s := range r.Steps {
		got = append(got, fmt.Sprintf("%s: %s for %s", s.When, s.Fault, s.For))
	}
	want := []string{
		"at 1s: cut for 0s", "at 1.5s: cut for 0s",
		"before the last message ahead of quiet window 1: drop-message(nth=1,limit=1) for 1s",
		"at 2s: cut for 0s", "at 4s: kill-node(count=2,node=n3) for 5s",
		"100ms after: at session 2: latency for 10s", "15.1s after: at session 2: latency for 10s",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if r.Phases != (plan.Phases{Steady: time.Second, Inject: 56100 * time.Millisecond, Recover: 20 * time.Second, Drain: 20 * time.Second}) {
		t.Errorf("phases %+v", r.Phases)
	}
}

// "any" is a node of the cluster by lot, by its name.
func TestAnyNode(t *testing.T) {
	p := parse(t, "server: {nodes: 3}\nsteps:\n  - when: {at: 0s}\n    fault: kill-node\n    node: any\n    every: 10s\n    count: 30\n")
	seen := map[string]int{}
	for _, s := range resolve(t, p, 1).Steps {
		seen[s.Fault]++
	}
	for _, node := range []string{"n1", "n2", "n3"} {
		if seen["kill-node(node="+node+")"] == 0 {
			t.Errorf("%s is never drawn: %v", node, seen)
		}
	}
	if len(seen) != 3 {
		t.Errorf("drawn %v", seen)
	}
}

// What is drawn can act where it is drawn for, and every fault that can and destroys
// nothing is drawn at some time; no two meet on the server's process.
func TestEveryFaultIsDrawn(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		fits func(chaos.Fault) bool
	}{
		"one server": {
			"stream: {max_consumers: 9}\nrandom: {count: 40, overlap: true, gap: {least: 0s, most: 1s}}\n",
			func(f chaos.Fault) bool { return !f.Clustered && f.Name != "freeze-reader" },
		},
		"cluster": {
			"server: {nodes: 3, replicas: 3}\nstream: {max_consumers: 9}\ntarget: {name: 'exec:cat'}\nrandom: {count: 40}\n",
			func(f chaos.Fault) bool { return f.Layer != chaos.LayerReader || f.Name == "freeze-reader" },
		},
		"an older server": {
			"server: {version: 2.10.22}\nrandom: {count: 40}\n",
			func(f chaos.Fault) bool {
				return !f.Clustered && f.Name != "freeze-reader" && f.Name != "pause-consumer" && f.Name != "fill-consumers"
			},
		},
		"a server of others": {
			"server: {connect: true}\nrandom: {count: 40, layers: [wire, server, process]}\n",
			func(f chaos.Fault) bool { return f.Layer == chaos.LayerWire || f.Layer == chaos.LayerServer },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := parse(t, c.body)
			seen := map[string]bool{}
			for seed := range uint64(40) {
				var specs []chaos.Spec
				for _, s := range resolve(t, p, seed+1).Steps {
					spec, err := s.Spec()
					if err != nil {
						t.Fatal(err)
					}
					if s.When.Kind != plan.At || spec.At != s.When.Time || spec.For != s.For {
						t.Fatalf("%+v is %+v", s, spec)
					}
					specs = append(specs, spec)
					seen[spec.Name] = true
				}
				if err := chaos.CheckSchedule(specs); err != nil {
					t.Fatalf("seed %d: %v", seed+1, err)
				}
			}
			for _, f := range chaos.Faults() {
				if want := !f.Destructive && c.fits(f); seen[f.Name] != want {
					t.Errorf("%s drawn: %v, want %v", f.Name, seen[f.Name], want)
				}
			}
		})
	}
}

// Weights say how often; what is written is drawn as it is written; a destructive fault
// is drawn only where it is named.
func TestWeights(t *testing.T) {
	p := parse(t, `random:
  count: 1000
  gap: {least: 0s, most: 10ms}
  length: {least: 10ms, most: 20ms}
  faults:
    - {fault: cut, weight: 8}
    - {fault: "drop-message(nth=7)"}
    - {fault: purge-stream}
    - {fault: reset, weight: 0}
`)
	seen := map[string]int{}
	for _, s := range resolve(t, p, 1).Steps {
		seen[s.Fault]++
	}
	if len(seen) != 3 || seen["cut"] < 720 || seen["cut"] > 880 || seen["drop-message(nth=7)"] < 50 || seen["purge-stream"] < 50 {
		t.Errorf("drawn %v", seen)
	}
	layered := parse(t, "random: {count: 200, layers: [server], faults: [{fault: delete-consumer, weight: 0}]}\n")
	for _, s := range resolve(t, layered, 1).Steps {
		if s.Fault == "delete-consumer" || s.Fault == "purge-stream" {
			t.Errorf("%s is drawn", s.Fault)
		}
	}
}

// A plan that names what stays to be drawn too late for its own bound is refused, not cut.
func TestDrawnBeyondTheBound(t *testing.T) {
	var steps strings.Builder
	for range 6 {
		steps.WriteString("  - when: {random: {from: 1s, to: 1100ms}}\n    fault: kill-server\n    for: 1s\n")
	}
	p := parse(t, "phases: {inject: 3s}\nsteps:\n"+steps.String())
	if _, err := p.Resolve(4); err == nil || !strings.Contains(err.Error(), "phases.inject: with seed 4 the last fault ends at") {
		t.Errorf("%v", err)
	}
	p.Phases.Inject = 0
	r := resolve(t, p, 4)
	if len(r.Steps) != 6 || r.Phases.Inject < 7*time.Second {
		t.Errorf("resolved to\n%s", text(t, r))
	}
}
