package run

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/result"
	"github.com/an-open-reader/nats-reader/chaos/target"
	"github.com/an-open-reader/nats-reader/reader"
)

// maxNotes is how many remarks of a run are kept.
const maxNotes = 1000

// record is what is to be the result.
type record struct {
	tell func(Progress) // nil: nobody is told

	mu     sync.Mutex
	run    result.Run
	phase  Phase
	steps  int // that have come
	failed []error
}

func (c *record) start(o Options) {
	name := o.Target.Name()
	c.tell = o.Progress
	c.run = result.Run{
		Schema: result.Schema, Name: o.Plan.Name, Title: o.Plan.Title, Why: o.Plan.Why, Seed: o.Plan.Seed, Target: name,
		Began: time.Now(), Expected: o.Plan.Expected(name),
		Server: result.Server{
			Version: o.Plan.Server.Version, Nodes: o.Plan.Server.Nodes, Replicas: o.Plan.Server.Replicas,
			Storage: string(o.Plan.Server.Storage), Foreign: o.Server != nil,
		},
	}
}

// server keeps the version of the server that is there.
func (c *record) server(version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.run.Server.Version = version
}

// phase begins a part of the run; what it gives ends it.
func (r *run) phase(p Phase) (over func()) {
	now := time.Now()
	c := &r.record
	c.mu.Lock()
	c.phase = p
	n := len(c.run.Phases)
	c.run.Phases = append(c.run.Phases, result.Phase{Name: string(p), From: now})
	c.mu.Unlock()
	r.tell(Progress{Time: now, Begins: true, Text: string(p)})
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.run.Phases[n].To = time.Now()
	}
}

// tell passes progress on, with what is the same for all of the run.
func (r *run) tell(p Progress) {
	c := &r.record
	if c.tell == nil {
		return
	}
	c.mu.Lock()
	p.Plan, p.Target, p.Phase = c.run.Name, c.run.Target, c.phase
	c.mu.Unlock()
	c.tell(p)
}

// note keeps a remark, and tells it.
func (r *run) note(format string, args ...any) {
	n := result.Note{Time: time.Now(), Text: fmt.Sprintf(format, args...)}
	c := &r.record
	c.mu.Lock()
	if len(c.run.Notes) < maxNotes {
		c.run.Notes = append(c.run.Notes, n)
	}
	c.mu.Unlock()
	r.tell(Progress{Time: n.Time, Text: n.Text})
}

// report keeps what the target tells beside its messages.
func (r *run) report(m target.Report) {
	if m.Times > 1 {
		r.note("target: %s (%d times)", m.Text, m.Times)
		return
	}
	r.note("target: %s", m.Text)
}

// fail keeps why the run cannot hold.
func (r *run) fail(err error) {
	c := &r.record
	c.mu.Lock()
	c.failed = append(c.failed, err)
	c.mu.Unlock()
	r.tell(Progress{Time: time.Now(), Text: err.Error()})
}

func (c *record) failures() []error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.failed)
}

func (c *record) came() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.steps++
}

// event keeps the first events of our reader.
func (c *record) event(e reader.Event) {
	text, err := json.Marshal(e)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil || len(c.run.Events) >= result.MaxEvents {
		c.run.EventsDropped++
		return
	}
	c.run.Events = append(c.run.Events, text)
}

// tellFigures tells how far the run is.
func (r *run) tellFigures(ctx context.Context) {
	for pass(ctx, figuresEvery) == nil {
		acknowledged, read := r.ledger.counts()
		r.record.mu.Lock()
		steps := r.record.steps
		r.record.mu.Unlock()
		r.tell(Progress{Time: time.Now(), Figures: &Figures{Acknowledged: acknowledged, Read: read, Faults: steps, Steps: len(r.plan.Steps)}})
	}
}

func (c *record) faults(periods []chaos.Period) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range periods {
		f, _ := chaos.FindFault(p.Spec.Name)
		one := result.Fault{Text: p.Spec.Fault(), Where: string(f.Layer), From: p.From, To: p.To, Target: p.Target}
		if p.Err != nil {
			one.Error = p.Err.Error()
		}
		c.run.Faults = append(c.run.Faults, one)
	}
}

func (c *record) observed(o oracle.Observed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.run.Sessions, c.run.Deaf, c.run.Silences, c.run.Series = o.Sessions, o.Deaf, o.Silences, o.Series
	c.run.APIRequests = o.Requests
}

func (c *record) verdict(v oracle.Verdict) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.run.Verdict = v
	c.run.Met = v.Finding == c.run.Expected
	c.run.ExitCode = exitOf(v.Finding)
}

func exitOf(f oracle.Finding) int {
	switch f {
	case oracle.Held:
		return ExitHeld
	case oracle.Broken:
		return ExitBroken
	default:
		return ExitUnknown
	}
}

// exit keeps why the run ended before its time.
func (c *record) exit(interrupted bool, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if interrupted {
		c.run.ExitCode = ExitInterrupted
	}
	switch {
	case interrupted:
		c.run.Error = "interrupted"
	case why != nil:
		c.run.Error = why.Error()
	}
}

// finish gives the result, which nobody changes any more.
func (c *record) finish() result.Run {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.run.Ended = time.Now()
	return c.run
}
