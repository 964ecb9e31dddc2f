package run

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/plan"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/chaos/result"
	"github.com/an-open-reader/nats-reader/chaos/target"
)

// run is one run while it lasts.
type run struct {
	options Options
	plan    plan.Plan
	target  target.Target
	traits  target.Traits

	crew    crew
	cancel  context.CancelCauseFunc // ends the phases, for a cause
	rules   oracle.Rules
	oracle  *oracle.Oracle
	ledger  *ledger
	moments *moments
	wire    *wire
	windows *windows
	pace    target.Pace
	record  record

	stage   *stage
	load    *load
	reading *reading
	runner  atomic.Pointer[chaos.Runner] // nil before the inject phase

	publishing context.Context // of the load
	stopLoad   context.CancelFunc
}

// Run plays a plan. What came of it, and why it could not be played, is in the result;
// the error says that it cannot be played at all.
func Run(ctx context.Context, o Options) (result.Run, error) {
	if err := o.Check(); err != nil {
		return result.Run{}, err
	}
	text, err := o.Plan.YAML()
	if err != nil {
		return result.Run{}, fmt.Errorf("run plan %s: its text: %w", o.Plan.Name, err)
	}
	r := newRun(o)
	r.record.run.Plan = string(text)
	return r.play(ctx), nil
}

func newRun(o Options) *run {
	r := &run{options: o, plan: o.Plan, target: o.Target, traits: o.Target.Traits(), moments: newMoments(), windows: newWindows(o.Plan)}
	r.rules = rules(r.plan, r.traits)
	r.oracle = oracle.New(r.rules)
	r.ledger = &ledger{oracle: r.oracle}
	r.wire = newWire(r.moments, r.oracle)
	r.wire.sessions, r.wire.sequences = !r.traits.Ours, r.traits.Process
	r.record.start(o)
	return r
}

// play goes through the phases. Whatever happens, what was made is undone and judged.
func (r *run) play(ctx context.Context) result.Run {
	phases, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.cancel = cancel
	r.crew.failed = r.crashed
	if r.options.Timeout > 0 {
		t := time.AfterFunc(r.options.Timeout, func() { cancel(ErrTimeout) })
		defer t.Stop()
	}
	figures, stopFigures := context.WithCancel(context.WithoutCancel(ctx))
	r.crew.spawn("the figures", func() { r.tellFigures(figures) })

	outcome := r.phases(phases)
	r.end(ctx, &outcome)
	stopFigures()
	r.crew.wait()
	return r.record.finish()
}

// phases does all that comes before the judge, and says how it went. A panic on the way
// is one of the ways.
func (r *run) phases(ctx context.Context) (out outcome) {
	defer func() {
		if err := r.panicked(recover()); err != nil {
			out.cut = err
		}
	}()
	if out.unready = r.prepare(ctx); out.unready != nil {
		return out
	}
	if out.unsteady = r.steady(ctx); out.unsteady != nil {
		return out
	}
	r.inject(ctx)
	r.clear()
	if out.cut = context.Cause(ctx); out.cut != nil {
		return out
	}
	r.recover(ctx)
	if ctx.Err() == nil {
		r.drain(ctx)
	}
	out.cut = context.Cause(ctx)
	return out
}

// panicked is the panic of this goroutine as an error, which ends the phases.
func (r *run) panicked(v any) error {
	if v == nil {
		return nil
	}
	err := &crash{where: "the run", value: v, stack: debug.Stack()}
	r.crashed(err)
	return err
}

// outcome is how far the phases came.
type outcome struct {
	unready  error // why the run could not be prepared
	unsteady error // why the target did not read well with no fault
	cut      error // why the phases ended before their time
}

// why is the reason why there is nothing to judge; nil: there is.
func (o outcome) why() error {
	switch {
	case o.unready != nil:
		return fmt.Errorf("not prepared: %w", o.unready)
	case o.unsteady != nil:
		return fmt.Errorf("the steady state failed, and nothing was injected: %w", o.unsteady)
	default:
		return o.cut
	}
}

// endedAsPlanned says whether the target ended by itself as the plan wants it.
func (r *run) endedAsPlanned(why error) bool {
	var ended *targetEnded
	return r.plan.Ends != "" && errors.As(why, &ended) && strings.Contains(ended.err.Error(), r.plan.Ends)
}

// proxyOptions let the run see what the proxy carries.
func (r *run) proxyOptions() proxy.Options {
	var o proxy.Options
	if r.options.Server != nil {
		o = r.options.Server.Proxy
		if o.APIPrefix != "" {
			r.wire.prefix = strings.TrimSuffix(o.APIPrefix, ".") + "."
		}
	}
	o.Name = "chaos run"
	o.Tap = func(f proxy.Frame) {
		defer r.crew.catch("the judge of a frame")
		r.wire.tap(f)
	}
	o.OnFiring = func(f proxy.Firing) {
		defer r.crew.catch("the count of a fault")
		r.wire.acts(f)
	}
	o.OnNotice = func(n proxy.Notice) {
		defer r.crew.catch("a remark of the proxy")
		r.note("proxy: %s", n.Text)
	}
	o.RandSeed = r.plan.Seed
	return o
}
