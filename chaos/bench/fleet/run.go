package fleet

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Run plays a plan. The error says why nothing could be judged: a plan that cannot be (ErrPlan), a server that is not
// there or went away, the end of ctx. Whatever happens, nothing is left behind: a Result comes with an error only where
// the clean-up failed.
func Run(ctx context.Context, p Plan) (Result, error) {
	if err := p.settle(); err != nil {
		return Result{}, err
	}
	return newFleet(&p).run(ctx)
}

func newFleet(p *Plan) *fleet { return &fleet{stage: &stage{plan: p}} }

func (f *fleet) run(ctx context.Context) (r Result, err error) {
	ctx, fail := context.WithCancelCause(ctx)
	f.fail = fail
	f.tally.begin()
	p := f.plan
	r = Result{Schema: Schema, Kind: p.kind(), Readers: max(p.Readers, 1), Connections: p.Connections, Streams: p.Streams}
	if r.Kind == Flow {
		r.Streams = 1
	}
	err = f.play(ctx, &r)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause // what failed did so for that
	}
	// Readers are open here after an error alone: they end at once, and their consumers with the streams.
	fail(nil)
	_ = f.closeAll(ctx) // says that there was no time to clean up
	left := f.stage.close()
	if err != nil {
		return Result{}, errors.Join(err, left)
	}
	r.judge(p)
	return r, left
}

func (f *fleet) play(ctx context.Context, r *Result) error {
	f.plan.Told(Progress{Text: f.plan.begins()})
	if err := f.set(ctx); err != nil {
		return err
	}
	r.Made = f.made()
	var err error
	if r.Room, err = f.room(ctx); err != nil {
		return err
	}
	switch r.Kind {
	case Flow:
		err = f.flow(ctx, r)
	default:
		err = f.idleFleet(ctx, r)
	}
	if err != nil {
		return err
	}
	return f.finish(ctx, r)
}

// begins says what is started.
func (p *Plan) begins() string {
	switch {
	case p.Given:
		return "connecting"
	case p.Nodes > 1:
		return fmt.Sprintf("starting %d servers", p.Nodes)
	default:
		return "starting a server"
	}
}

func (f *fleet) made() Made {
	m := Made{Time: time.Now().UTC(), System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(), Cores: runtime.NumCPU(),
		Server: f.manage.Conn().ConnectedServerVersion(), Place: "lab", Nodes: max(1, f.plan.Nodes), Replicas: f.replicas(), Storage: "file"}
	if f.plan.Given {
		m.Place, m.Nodes = "given", 0
	}
	if f.plan.Memory {
		m.Storage = "memory"
	}
	return m
}

// idleFleet opens readers, each of which reads a message, and measures what they do while nothing comes.
func (f *fleet) idleFleet(ctx context.Context, r *Result) (err error) {
	if err := f.makeStreams(ctx, f.plan.Streams, func(c *jetstream.StreamConfig) { c.MaxMsgs = 1000 }); err != nil {
		return err
	}
	if err := f.publishOne(ctx); err != nil {
		return err
	}
	if r.Kind == Cost {
		if r.Cost.Timers, r.Cost.TimedOf, err = f.countTimers(ctx); err != nil {
			return err
		}
	}
	before, began := heldNow(), time.Now()
	if err := f.open(ctx, f.plan.Readers); err != nil {
		return err
	}
	r.Open.All = time.Since(began)
	missing, err := f.readAll(ctx)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("%d of %d readers read nothing within %s", len(missing), f.plan.Readers, f.plan.Patience)
	}
	r.Open.AllRead = time.Since(began)
	if err := f.settled(ctx); err != nil {
		return err
	}
	r.Open.API = f.api()
	if r.Kind == Steady {
		return f.steady(ctx, r)
	}
	if err := f.cost(ctx, r, before); err != nil {
		return err
	}
	return f.restarts(ctx, r)
}

// finish closes all readers, and looks at what they leave.
func (f *fleet) finish(ctx context.Context, r *Result) error {
	f.plan.Told(Progress{Text: "closing"})
	began := time.Now()
	if err := f.closeAll(ctx); err != nil {
		return fmt.Errorf("close the readers: %w", err)
	}
	r.Closed.Took = time.Since(began)
	var err error
	r.Closed.Consumers, _, err = f.clean(ctx, 0)
	return err
}

// clean waits until there are as many consumers as wanted, and no reader knows of an orphan. What is there when those
// would have lapsed that servers forgot to delete is left.
func (f *fleet) clean(ctx context.Context, want int) (consumers, orphans int, err error) {
	limited, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	errOther := errors.New("there are others")
	err = again(limited, func() (err error) {
		f.plan.Told(Progress{Text: "looking for what is left"})
		if consumers, err = f.consumers(ctx); err != nil {
			return final{err}
		}
		orphans = 0
		for _, r := range f.all {
			orphans += r.Status().Orphans
		}
		if consumers != want || orphans > 0 {
			return errOther
		}
		return nil
	})
	if errors.Is(err, errOther) {
		err = nil
	}
	return consumers, orphans, err
}
