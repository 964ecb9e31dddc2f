package run

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/plan"
	"github.com/an-open-reader/nats-reader/chaos/result"
	"github.com/an-open-reader/nats-reader/chaos/target"
)

// planOf reads a plan and resolves it; the head that every plan has is put before the text.
func planOf(t *testing.T, text string) plan.Plan {
	t.Helper()
	p, err := plan.Parse("test.yaml", []byte("schema: "+plan.SchemaName+"\nname: test\ntitle: a test\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	if p, err = p.Resolve(1); err != nil {
		t.Fatal(err)
	}
	return p
}

// quick are the settings of a reader that finds out soon.
const quick = "target: {heartbeat: 250ms, attempt_timeout: 500ms, retry_max: 500ms}\n"

func optionsOf(t *testing.T, p plan.Plan, targetText string) Options {
	t.Helper()
	chosen, err := target.Parse(targetText)
	if err != nil {
		t.Fatal(err)
	}
	return Options{Plan: p, Target: chosen}
}

// told is what a run tells while it lasts.
type told struct {
	mu    sync.Mutex
	lines []string
}

func (l *told) add(p Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := p.Time.Format("05.000 ") + string(p.Phase) + " " + p.Text
	switch {
	case p.Fault != nil:
		text += p.Fault.Spec.Fault() + " " + string(p.Fault.Phase)
		if p.Fault.Err != nil {
			text += " " + p.Fault.Err.Error()
		}
	case p.Event != nil:
		text += string(p.Event.Kind)
	case p.Figures != nil:
		return
	}
	l.lines = append(l.lines, text)
}

func (l *told) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

// played runs a plan and gives its result; a test that fails shows what was told.
func played(ctx context.Context, t *testing.T, o Options) result.Run {
	t.Helper()
	l := &told{}
	tell := o.Progress
	o.Progress = func(p Progress) {
		l.add(p)
		if tell != nil {
			tell(p)
		}
	}
	got, err := Run(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("told:\n%s\nverdict: %+v\nnotes: %v\nerror: %s", l, got.Verdict, got.Notes, got.Error)
		}
	})
	wantWhole(t, got)
	return got
}

// wantWhole expects what every result has, whatever came of the run.
func wantWhole(t *testing.T, got result.Run) {
	t.Helper()
	var names []string
	for i, p := range got.Phases {
		names = append(names, p.Name)
		if p.From.IsZero() || p.To.Before(p.From) || i > 0 && p.From.Before(got.Phases[i-1].To) {
			t.Errorf("phase %s lasted from %s to %s", p.Name, p.From, p.To)
		}
	}
	var want []string
	for _, p := range Phases() {
		if slices.Contains(names, string(p)) {
			want = append(want, string(p))
		}
	}
	if !slices.Equal(names, want) || !slices.Contains(names, string(Judge)) {
		t.Errorf("the phases were %v", names)
	}
	for _, f := range got.Faults {
		if f.To.IsZero() {
			t.Errorf("fault %s was not undone", f.Text)
		}
	}
	for _, n := range got.Notes {
		if strings.Contains(n.Text, "at the end:") {
			t.Errorf("something is left: %s", n.Text)
		}
	}
	if left, err := filepath.Glob(filepath.Join(t.TempDir(), "nats-reader-lab-*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// want expects a finding, the exit code that goes with it, and a text among the reasons.
func want(t *testing.T, got result.Run, finding oracle.Finding, code int, reason string) {
	t.Helper()
	if got.Verdict.Finding != finding || got.ExitCode != code {
		t.Errorf("finding %s, exit code %d: %v; want %s, %d", got.Verdict.Finding, got.ExitCode, got.Verdict.Reasons(), finding, code)
	}
	if !strings.Contains(strings.Join(got.Verdict.Reasons(), "\n"), reason) {
		t.Errorf("the reasons %q do not name %q", got.Verdict.Reasons(), reason)
	}
}

// kinds are those of the violations.
func kindsOf(v oracle.Verdict) (all []oracle.Kind) {
	for _, x := range v.Violations {
		all = append(all, x.Kind)
	}
	return all
}

// phaseOf gives a phase of a result.
func phaseOf(got result.Run, name Phase) (p result.Phase, found bool) {
	for _, p := range got.Phases {
		if p.Name == string(name) {
			return p, true
		}
	}
	return p, false
}

// at calls do once, when a run is in a phase, and, in the inject phase, when a fault acts.
func at(phase Phase, do func()) func(Progress) {
	once := sync.OnceFunc(do)
	return func(p Progress) {
		begun := p.Begins && phase != Inject || p.Fault != nil
		if p.Phase == phase && begun {
			once()
		}
	}
}

// within is a context for what must not take for ever.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
