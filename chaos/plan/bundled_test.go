package plan_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/plan"
)

func bundled(t *testing.T) []plan.Plan {
	t.Helper()
	all, err := plan.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func find(t *testing.T, name string) plan.Plan {
	t.Helper()
	p, err := plan.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func resolve(t *testing.T, p plan.Plan, seed uint64) plan.Plan {
	t.Helper()
	r, err := p.Resolve(seed)
	if err != nil {
		t.Fatalf("%s with seed %d: %v", p.Name, seed, err)
	}
	return r
}

func text(t *testing.T, p plan.Plan) []byte {
	t.Helper()
	b, err := p.YAML()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Every plan that the program brings says what it is, and replays: what it resolves to
// prints, parses back to the same and resolves to itself, as YAML and as JSON.
func TestBundledPlans(t *testing.T) {
	tags := []string{"origin", "thirteen", "field", "cluster", "smoke", "long", "any-reader"}
	for _, p := range bundled(t) {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			if p.Why == "" || len(p.Tags) == 0 && p.Name != "random" {
				t.Errorf("why %q, tags %q", p.Why, p.Tags)
			}
			for _, tag := range p.Tags {
				if !slices.Contains(tags, tag) {
					t.Errorf("tag %q is none of %q", tag, tags)
				}
			}
			if clustered := p.Server.Nodes > 1; clustered != slices.Contains(p.Tags, "cluster") {
				t.Errorf("%d nodes, tags %q", p.Server.Nodes, p.Tags)
			}
			if file, err := os.ReadFile("bundled/" + p.Name + ".yaml"); err != nil || !strings.HasPrefix(string(file), "# yaml-language-server: $schema=../plan.schema.json\n") {
				t.Errorf("its file does not name the schema, or not the plan: %v", err)
			}
			for seed := range uint64(3) {
				r := resolve(t, p, seed+1)
				written := text(t, r)
				asJSON, err := r.JSON()
				if err != nil {
					t.Fatal(err)
				}
				for _, form := range [][]byte{written, asJSON} {
					again, err := plan.Parse("printed", form)
					if err != nil {
						t.Fatalf("%v\n%s", err, form)
					}
					if !reflect.DeepEqual(again, r) {
						t.Fatalf("parsed back as\n%+v, want\n%+v", again, r)
					}
					if same := resolve(t, again, seed+100); !reflect.DeepEqual(same, r) {
						t.Fatalf("resolved again with another seed to\n%s", text(t, same))
					}
				}
				if slices.ContainsFunc(r.Steps, func(s plan.Step) bool { return s.Every+time.Duration(s.Count) > 0 || s.Node != "" }) || r.Random != nil {
					t.Fatalf("something is left to resolve:\n%s", written)
				}
			}
			for _, s := range p.Words() {
				for _, line := range s.Lines {
					if !strings.HasSuffix(line, ".") || strings.Contains(line, "%!") || strings.Contains(line, "  ") {
						t.Errorf("%s: %q", s.Head, line)
					}
				}
			}
		})
	}
}

// What is said to be for any reader asks for nothing that a program of its own cannot have.
func TestPlansForAnyReader(t *testing.T) {
	all, err := plan.Tagged("any-reader")
	if err != nil || len(all) < 30 {
		t.Fatalf("%d plans, %v", len(all), err)
	}
	for _, p := range all {
		if p.Ends != "" || p.Target.Start != "" || p.Target.WaitForStream {
			t.Errorf("%s: ends %q, starts at %q, waits %v", p.Name, p.Ends, p.Target.Start, p.Target.WaitForStream)
		}
		p.Target.Name = "exec:cat"
		for seed := range uint64(10) {
			for _, s := range resolve(t, p, seed+1).Steps {
				spec, err := s.Spec()
				if err != nil {
					t.Fatal(err)
				}
				f, _ := chaos.FindFault(spec.Name)
				if f.Layer == chaos.LayerReader && f.Name != "freeze-reader" || spec.Params["node"] == "reader" || spec.Name == "step-down-consumer" && p.Random == nil {
					t.Errorf("%s with seed %d: %s", p.Name, seed+1, s.Fault)
				}
			}
		}
	}
}

// The cases that a reader of this project came from, and those that others go deaf under, are all there.
func TestBundledNames(t *testing.T) {
	want := []string{"deaf-after-power-outage", "random", "soak", "smoke"}
	for n := range 10 {
		want = append(want, fmt.Sprintf("origin-%d", n+1))
	}
	for _, letter := range "abcdefg" {
		want = append(want, "finding-"+string(letter))
	}
	names := map[string]int{}
	for _, p := range bundled(t) {
		names[p.Name]++
		if letter, found := strings.CutPrefix(p.Name, "thirteen-"); found {
			letter, _, _ = strings.Cut(letter, "-")
			names[letter]++
		}
	}
	for _, name := range append(want, "a", "b", "c", "d", "e", "f", "f2", "f3", "g", "h", "cut", "hole", "perm") {
		if names[name] != 1 {
			t.Errorf("%s is there %d times", name, names[name])
		}
	}
	order := slices.IndexFunc(bundled(t), func(p plan.Plan) bool { return p.Name == "origin-10" })
	if before := bundled(t)[order-1].Name; before != "origin-9" {
		t.Errorf("%s is before origin-10", before)
	}
}

// All plans but the long ones and clusters take less than 12 minutes, one after the
// other, where the target heals at once.
func TestBundledPlansAreShort(t *testing.T) {
	const around = 4 * time.Second // start, detection, drain
	var sum time.Duration
	for _, p := range bundled(t) {
		if slices.Contains(p.Tags, "long") {
			continue
		}
		r := resolve(t, p, 1)
		length := r.Phases.Steady + r.Phases.Inject + around
		if strings.HasPrefix(p.Name, "origin-") || strings.HasPrefix(p.Name, "finding-") {
			if length > 30*time.Second {
				t.Errorf("%s takes %s", p.Name, length)
			}
		}
		if !slices.Contains(p.Tags, "cluster") {
			sum += length
		}
	}
	t.Logf("in all %s", sum)
	if sum > 12*time.Minute {
		t.Errorf("all of them take %s", sum)
	}
}

func TestTagged(t *testing.T) {
	smoke, err := plan.Tagged("smoke")
	if err != nil {
		t.Fatal(err)
	}
	either, err := plan.Tagged("smoke", "cluster")
	if err != nil {
		t.Fatal(err)
	}
	none, err := plan.Tagged("nobody")
	if err != nil || len(none) != 0 || len(smoke) < 5 || len(either) <= len(smoke) {
		t.Fatalf("%d, %d and %d plans, %v", len(smoke), len(either), len(none), err)
	}
	all, err := plan.Tagged()
	if err != nil || len(all) != len(bundled(t)) {
		t.Fatalf("%d plans, %v", len(all), err)
	}
}

func TestFindSuggests(t *testing.T) {
	var unknown *plan.UnknownError
	if _, err := plan.Find("thirteen-a-consumer-delted"); !errors.As(err, &unknown) || !slices.Contains(unknown.Near, "thirteen-a-consumer-deleted") {
		t.Errorf("%v", err)
	}
	if _, err := plan.Find("nothing-like-it"); !errors.As(err, &unknown) || len(unknown.Near) > 0 {
		t.Errorf("%v", err)
	}
}

// One plan in words, and one seed of a plan, are written down.
func TestGolden(t *testing.T) {
	var words bytes.Buffer
	for _, name := range []string{"deaf-after-power-outage", "finding-a", "cluster-random"} {
		fmt.Fprintf(&words, "%s\n", name)
		for _, s := range find(t, name).Words() {
			for _, line := range s.Lines {
				fmt.Fprintf(&words, "  %s: %s\n", s.Head, line)
			}
		}
	}
	golden(t, "words.txt", words.Bytes())
	golden(t, "random-seed-7.yaml", text(t, resolve(t, find(t, "random"), 7)))
	golden(t, "cluster-random-seed-7.yaml", text(t, resolve(t, find(t, "cluster-random"), 7)))
}
