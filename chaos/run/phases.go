package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
)

// Bounds of a beginning.
const (
	readyLimit = 60 * time.Second // for the target to begin, the server being there
	firstLimit = 30 * time.Second // for its first message, the publishers running
)

// prepare makes all that is there before the target reads with its load, and opens it.
func (r *run) prepare(ctx context.Context) error {
	defer r.phase(Prepare)()
	var err error
	if r.stage, err = setStage(ctx, r.options, r.proxyOptions()); err != nil {
		return r.caused(ctx, fmt.Errorf("the server: %w", err))
	}
	r.record.server(r.stage.manage.Conn().ConnectedServerVersion())
	if r.plan.Stream.MadeAfter == 0 {
		if err := r.makeStream(ctx); err != nil {
			return err
		}
	}
	r.load = newLoad(r.stage.publish, r.ledger, r.plan, r.stage.subjects)
	if r.plan.Target.Work > 0 {
		r.pace.Slow(r.plan.Target.Work)
	}
	return nil
}

func (r *run) makeStream(ctx context.Context) error {
	if err := r.stage.makeStream(ctx, r.plan); err != nil {
		return r.caused(ctx, err)
	}
	return r.caused(ctx, prefill(ctx, r.stage.publish, r.ledger, r.plan, r.stage.subjects))
}

// caused is why something failed: the end of the phases where they have ended, or else
// the failure itself.
func (r *run) caused(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// steady opens the target and lets it read with no fault. An error says why this is no
// state to inject anything in.
func (r *run) steady(ctx context.Context) error {
	defer r.phase(Steady)()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	gone := r.stage.serverGone(watching, &r.crew)
	r.crew.spawn("the watch of the servers", func() {
		select {
		case <-gone:
			cancel(r.stage.gone())
		case <-watching.Done():
		}
	})
	err := r.readSteadily(ctx)
	var ended *targetEnded
	if errors.As(err, &ended) && await(watching, gone, exitNews) == nil {
		return r.stage.gone() // what ended the target
	}
	return err
}

// exitNews is how long the news of a server's end may take, when its connections have
// ended already.
const exitNews = time.Second

// readSteadily says why the target does not read as it should with no fault.
func (r *run) readSteadily(ctx context.Context) error {
	r.reading = r.read(ctx)
	if err := r.open(ctx); err != nil {
		return err
	}
	r.publishing, r.stopLoad = context.WithCancel(context.WithoutCancel(ctx))
	r.load.run(r.publishing, &r.crew)
	r.crew.spawn("the count of consumers", func() { r.countConsumers(r.publishing) })
	if err := await(ctx, r.reading.first, firstLimit); err != nil {
		return late(err, "the target has read nothing within %s of the first message", firstLimit)
	}
	if err := pass(ctx, r.plan.Phases.Steady); err != nil {
		return err
	}
	limit := r.plan.Allowance()
	if err := await(ctx, r.ledger.next(), limit); err != nil {
		return late(err, "the target read, and then nothing for %s while messages were published", limit)
	}
	v := r.oracle.Judge(oracle.Ending{Time: time.Now(), Interrupted: true})
	for _, x := range v.Violations {
		if slices.Contains(steadily, x.Kind) {
			return fmt.Errorf("with no fault: %s", x.Text)
		}
	}
	return nil
}

// steadily is what a target must not do with no fault. The other limits are for the run as
// a whole.
var steadily = []oracle.Kind{oracle.KindLost, oracle.KindDuplicated, oracle.KindOutOfOrder, oracle.KindUnexpected, oracle.KindDeaf, oracle.KindSilence}

// open waits until the target reads, and makes the stream where the plan wants it late.
func (r *run) open(ctx context.Context) error {
	if r.plan.Stream.MadeAfter > 0 {
		if err := pass(ctx, r.plan.Stream.MadeAfter); err != nil {
			return err
		}
		if err := r.makeStream(ctx); err != nil {
			return err
		}
	}
	return late(await(ctx, r.reading.ready, readyLimit), "the target has not begun to read within %s", readyLimit)
}

// late puts words to errLate.
func late(err error, format string, args ...any) error {
	if errors.Is(err, errLate) {
		return fmt.Errorf(format, args...)
	}
	return err
}

// injectGrace is how much longer than planned the faults may take to act and to be
// undone, on a slow machine.
const injectGrace = 60 * time.Second

// inject makes the faults of the plan, and returns when all are undone.
func (r *run) inject(ctx context.Context) {
	defer r.phase(Inject)()
	bounded, cancel := context.WithTimeout(ctx, r.plan.Phases.Inject+injectGrace)
	defer cancel()
	steps, err := r.steps()
	var runner *chaos.Runner
	if err == nil {
		runner, err = chaos.NewStepRunner(r.environment(), steps, r.firing)
	}
	if err != nil {
		r.fail(err)
		r.cancel(err)
		return
	}
	r.runner.Store(runner)
	r.moments.begin()
	began := time.Now()
	quiet := make(chan struct{})
	r.crew.spawn("the quiet windows", func() {
		defer close(quiet)
		r.quiet(bounded, began)
	})
	runner.Run(bounded)
	if p := runner.Panic(); p != nil {
		r.crashed(&crash{where: "fault " + p.Fault, value: p.Value, stack: p.Stack})
	}
	<-quiet
	if len(steps) == 0 {
		_ = pass(ctx, time.Until(began.Add(r.plan.Phases.Inject))) // what ended it is told by ctx
	}
	if n := len(steps) - len(runner.Periods()); n > 0 && ctx.Err() == nil {
		r.fail(fmt.Errorf("%d of %d steps of the plan did not come within the %s of the inject phase", n, len(steps), r.plan.Phases.Inject))
	}
}

// clear makes sure that no fault is left. The runner has undone its own.
func (r *run) clear() {
	defer r.phase(Clear)()
	r.stage.proxy.Reset()
	if err := r.stage.gone(); err != nil {
		r.fail(err)
	}
}

// settling is how long a fault that has just come may take to show: what is published
// meanwhile may be read before it does.
const settling = 250 * time.Millisecond

// recover waits until the target reads what was published after the faults, and for what
// the plan has it settle.
func (r *run) recover(ctx context.Context) {
	defer r.phase(Recover)()
	if pass(ctx, settling) != nil {
		return
	}
	began := time.Now()
	if err := await(ctx, r.ledger.mark(), r.plan.Phases.Recover); err != nil {
		if errors.Is(err, errLate) {
			r.note("the target read nothing new within the %s to recover", r.plan.Phases.Recover)
		}
		return
	}
	r.note("the target reads what was published after the faults: %s", time.Since(began).Round(time.Millisecond))
	_ = pass(ctx, r.plan.Phases.Settle) // what ends it early is told by ctx
}

// drain lets the target read all that is stored, with nobody publishing.
func (r *run) drain(ctx context.Context) {
	defer r.phase(Drain)()
	r.endLoad()
	limit := r.plan.Phases.Drain
	if r.rules.AtLeastOnce {
		limit += oracle.DefaultAckWait // what was lost on the way comes again only then
	}
	limited, cancel := context.WithTimeoutCause(ctx, limit, errLate)
	defer cancel()
	err := r.oracle.AwaitRead(limited, oracle.Ending{Time: time.Now(), Periods: r.periods()})
	if errors.Is(err, errLate) {
		r.note("not all that is stored was read within the %s to drain", limit)
	}
}

// endLoad ends the publishers. All that they have published is known when it returns.
func (r *run) endLoad() {
	if r.stopLoad != nil {
		r.stopLoad()
		r.load.wait()
	}
}

// periods are those of the faults so far, for the oracle.
func (r *run) periods() []oracle.Period { return chaos.Judged(r.faultPeriods()) }

// faultPeriods are those of the faults so far.
func (r *run) faultPeriods() []chaos.Period {
	if runner := r.runner.Load(); runner != nil {
		return runner.Periods()
	}
	return nil
}
