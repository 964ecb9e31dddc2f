package chaos

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
)

// undoTimeout bounds the undoing of one fault, a server's start included. It is
// granted after an interrupt too: nothing is left half done.
const undoTimeout = 30 * time.Second

// Phase says what a Firing tells of a fault.
type Phase string

// The phases of a fault.
const (
	PhaseFired  Phase = "fired"  // it acts from now on, or has acted
	PhaseEnded  Phase = "ended"  // it was undone
	PhaseFailed Phase = "failed" // it could not act, or could not be undone
)

// Firing tells one step of a scheduled fault.
type Firing struct {
	Time   time.Time
	Spec   Spec
	Phase  Phase
	Target string // what it acted on, as key=value; may be empty
	Took   time.Duration
	Err    error // of PhaseFailed
}

// Period is the time during which a fault acted.
type Period struct {
	Spec     Spec
	From, To time.Time // To is zero while it acts
	// Cursor is the stream sequence the reader had accepted when a destructive
	// fault began.
	Cursor uint64
	Target string // what it acted on, as key=value; may be empty
	Err    error  // it could not act, or could not be undone
}

// Judged gives the periods of faults as the oracle takes them.
func Judged(periods []Period) []oracle.Period {
	var all []oracle.Period
	for _, p := range periods {
		f, _ := FindFault(p.Spec.Name)
		all = append(all, oracle.Period{
			Fault: p.Spec.Fault(), Name: p.Spec.Name, From: p.From, To: p.To,
			Destructive: f.Destructive, SetsBack: f.SetsBack, Pauses: f.Pauses, Cursor: p.Cursor,
		})
	}
	return all
}

// Step is one fault and when it comes.
type Step struct {
	Spec Spec
	// When waits for the moment of a fault that has no time of its own, and says
	// whether it came before ctx ended; nil: the fault comes at Spec.At.
	When func(ctx context.Context) bool
	// Acts is told once, when the fault acts from then on, has acted, could not, or
	// will not come; nil: nobody waits for that.
	Acts func()
}

// Runner fires scheduled faults on an environment and undoes them.
type Runner struct {
	env   *Environment
	steps []Step
	tell  func(Firing)

	turn chan struct{} // taken while a fault acts on the server's process

	mu       sync.Mutex
	periods  []Period
	failed   []error
	panicked *Panic
}

// Panic is one of a fault's, or of what was told of it: a bug, and not of the reader.
type Panic struct {
	Fault string
	Value any
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("a panic in fault %s: %v", p.Fault, p.Value) }

// NewRunner checks every fault against the catalogue, the safety rules and the others. tell is
// called for every step of a fault, from several goroutines, and must be quick.
func NewRunner(env *Environment, specs []Spec, tell func(Firing)) (*Runner, error) {
	steps := make([]Step, len(specs))
	for i, s := range specs {
		steps[i].Spec = s
	}
	return NewStepRunner(env, steps, tell)
}

// NewStepRunner is NewRunner for faults of which some wait for an event. What such a
// fault would meet on a server's process is not known before; it waits for its turn.
func NewStepRunner(env *Environment, steps []Step, tell func(Firing)) (*Runner, error) {
	var timed []Spec
	for _, s := range steps {
		if err := s.Spec.Validate(); err != nil {
			return nil, err
		}
		if err := env.Allow(s.Spec); err != nil {
			return nil, err
		}
		if s.When == nil {
			timed = append(timed, s.Spec)
		}
	}
	if err := CheckSchedule(timed); err != nil {
		return nil, err
	}
	env.prepare()
	return &Runner{env: env, steps: slices.Clone(steps), tell: tell, turn: make(chan struct{}, 1)}, nil
}

// Run starts the schedule and returns when every fault has fired and ended, or
// ctx has ended; then all is undone, and faults still to come do not fire. So it does after
// a panic, which Panic tells.
func (r *Runner) Run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	for _, s := range r.steps {
		running.Go(func() {
			defer r.caught(s.Spec, cancel)
			r.one(ctx, s)
		})
	}
	running.Wait()
}

// caught is deferred around what may panic. The first panic is kept, and ends the run.
func (r *Runner) caught(s Spec, cancel func()) {
	v := recover()
	if v == nil {
		return
	}
	p := &Panic{Fault: s.Fault(), Value: v, Stack: debug.Stack()}
	r.mu.Lock()
	if r.panicked == nil {
		r.panicked = p
		r.failed = append(r.failed, p)
	}
	r.mu.Unlock()
	cancel()
}

// Panic is what ended the run that nobody wanted; nil: nothing did. It is among Failed, too.
func (r *Runner) Panic() *Panic {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.panicked
}

// one waits for the moment of a fault, fires it, waits for its end and undoes it.
func (r *Runner) one(ctx context.Context, step Step) {
	acts := func() {}
	if step.Acts != nil {
		acts = sync.OnceFunc(step.Acts)
	}
	defer acts()
	s := step.Spec
	if !step.due(ctx) {
		return
	}
	fault, _ := FindFault(s.Name)
	if s.onProcess() { // one that is due when another ends waits until that is undone
		select {
		case r.turn <- struct{}{}:
			defer func() { <-r.turn }()
		case <-ctx.Done():
			return
		}
	}
	began := time.Now()
	number := r.begin(Period{Spec: s, From: began, Cursor: r.env.cursor()})
	var end undo
	over := func(applied bool) {
		if end != nil {
			undoing := end
			end = nil
			r.undo(ctx, number, s, fault, undoing, applied)
		}
	}
	defer r.end(number)
	defer over(true) // after a panic
	if fault.Layer == LayerWire {
		// The proxy tells what the fault does from within apply: the firing comes first.
		r.told(Firing{Time: began, Spec: s, Phase: PhaseFired})
	}
	on, undoing, err := r.env.apply(ctx, s)
	end = undoing
	switch {
	case err != nil:
		r.failure(s, fmt.Errorf("fault %s: %w", s.Fault(), err))
	case fault.Layer != LayerWire:
		r.told(Firing{Time: time.Now(), Spec: s, Phase: PhaseFired, Target: on.String(), Took: time.Since(began)})
	}
	r.acted(number, on.String(), err)
	acts()
	if end != nil {
		if err == nil && !fault.Once {
			r.last(ctx, s.Length())
		}
		over(err == nil)
	}
}

// due waits for the moment of a fault, and says whether it came before ctx ended.
func (s Step) due(ctx context.Context) bool {
	if s.When != nil {
		return s.When(ctx) && ctx.Err() == nil
	}
	return wait(ctx, s.Spec.At)
}

// last waits for the end of a fault; one without a length lasts until ctx ends.
func (r *Runner) last(ctx context.Context, length time.Duration) {
	if length == 0 {
		<-ctx.Done()
		return
	}
	wait(ctx, length)
}

func (r *Runner) undo(ctx context.Context, number int, s Spec, fault Fault, end undo, applied bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	began := time.Now()
	err := end(ctx)
	switch {
	case err != nil && (applied || fault.Layer == LayerServer && !r.env.ownServer()):
		err = fmt.Errorf("end of fault %s: %w", s.Fault(), err)
		r.acted(number, "", err)
		r.failure(s, err)
	case err == nil && applied && !fault.Once:
		r.told(Firing{Time: time.Now(), Spec: s, Phase: PhaseEnded, Took: time.Since(began)})
	}
}

// wait says whether the time came before ctx ended.
func wait(ctx context.Context, d time.Duration) bool {
	if ctx.Err() != nil {
		return false
	}
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (r *Runner) begin(p Period) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.periods = append(r.periods, p)
	return len(r.periods) - 1
}

// acted keeps what became of a fault.
func (r *Runner) acted(number int, target string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &r.periods[number]
	if target != "" {
		p.Target = target
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		p.Err = err
	}
}

func (r *Runner) end(number int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.periods[number].To = time.Now()
}

func (r *Runner) told(f Firing) {
	if r.tell != nil {
		r.tell(f)
	}
}

// failure keeps what could not be done: without the fault there is nothing to judge.
func (r *Runner) failure(s Spec, err error) {
	if errors.Is(err, context.Canceled) {
		return // interrupted, not failed
	}
	r.mu.Lock()
	r.failed = append(r.failed, err)
	r.mu.Unlock()
	r.told(Firing{Time: time.Now(), Spec: s, Phase: PhaseFailed, Err: err})
}

// Periods tells when which fault acted so far.
func (r *Runner) Periods() []Period {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.periods)
}

// Failed tells which faults could not act or could not be undone.
func (r *Runner) Failed() []error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.failed)
}

// String is key=value, or nothing.
func (t target) String() string {
	if t.key == "" {
		return ""
	}
	return t.key + "=" + t.value
}
