package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
)

// The exit codes of a run.
const (
	ExitHeld        = 0
	ExitBroken      = 2
	ExitUnknown     = 3
	ExitInterrupted = 130
)

// end stops everything, judges, and leaves nothing. It comes whatever has happened.
func (r *run) end(ctx context.Context, out *outcome) {
	defer r.phase(Judge)()
	defer func() {
		if v := recover(); v != nil {
			out.cut = r.panicked(v)
			r.record.verdict(oracle.Verdict{Finding: oracle.Unknown, Orphans: oracle.NotCounted, Doubts: []string{out.cut.Error()}})
		}
	}()
	defer r.leave()
	r.endLoad()
	r.endReading()
	interrupted := ctx.Err() != nil
	ending := r.ending(ctx, *out, interrupted)
	v := r.oracle.Judge(ending)
	r.temper(&v, *out, interrupted)
	r.record.observed(r.oracle.Observe(ending))
	r.record.faults(r.faultPeriods())
	r.record.verdict(v)
	r.record.exit(interrupted, out.why())
}

// ending is what is known only now.
func (r *run) ending(ctx context.Context, out outcome, interrupted bool) oracle.Ending {
	e := oracle.Ending{
		Time: time.Now(), Periods: r.periods(), Failed: r.record.failures(), Orphans: oracle.NotCounted,
		Interrupted:  interrupted || out.why() != nil,
		SkipsOnReset: r.plan.Target.OnReset == "follow-new" || r.plan.Target.OnReset == "fail",
	}
	if runner := r.runner.Load(); runner != nil {
		e.Failed = append(e.Failed, runner.Failed()...)
	}
	if err := r.triedNothing(); err != nil {
		e.Failed = append(e.Failed, err)
	}
	var ended *targetEnded
	if errors.As(out.cut, &ended) && !r.endedAsPlanned(out.cut) {
		e.Err, e.Interrupted = ended.err, interrupted // it has lost what it did not read
		e.Time = ended.at                             // what it takes to let go of it all is no silence
	}
	if r.endedAsPlanned(out.cut) {
		e.Grace = r.plan.Grace()
	}
	if r.stage != nil && r.stage.proxy != nil {
		t := r.stage.proxy.Traffic()
		e.WireBytes = t.Up.Bytes + t.Down.Bytes
	}
	if r.stage != nil && r.stage.manage != nil && r.countsOrphans() {
		e.Orphans = r.stage.orphans(ctx)
	}
	return e
}

// triedNothing tells of the faults that met nothing to act on, such as a request that was
// not made. Where all of them did, a contract that held has not been tried.
func (r *run) triedNothing() error {
	periods, idle := r.faultPeriods(), 0
	for _, p := range periods {
		kind, _ := chaos.FindFault(p.Spec.Name)
		if kind.Layer == chaos.LayerWire && p.Err == nil && r.wire.actedSoFar(p.Spec.Fault()) == 0 {
			r.note("fault %s met nothing to act on", p.Spec.Fault())
			idle++
		}
	}
	if idle == 0 || idle < len(periods) {
		return nil
	}
	return errors.New("no fault met anything to act on: nothing was tried")
}

// countsOrphans says whether a consumer that the target leaves is told against it. A reader of
// ours deletes its own; what another leaves, or a program that is ended by a signal, lapses by
// itself, and counts where the contract says how much it may be.
func (r *run) countsOrphans() bool { return r.traits.Ours || r.plan.Contract.Orphans != nil }

// temper makes a finding unknown that the run is not entitled to.
func (r *run) temper(v *oracle.Verdict, out outcome, interrupted bool) {
	doubt := func(text string) {
		v.Doubts = append([]string{text}, v.Doubts...)
		if v.Finding == oracle.Held {
			v.Finding = oracle.Unknown
		}
	}
	why := out.why()
	var ended *targetEnded
	switch {
	case interrupted:
		doubt("interrupted") // what is broken by then stays broken
	case r.endedAsPlanned(out.cut):
	case errors.As(out.cut, &ended): // the oracle has told it
	case why != nil:
		doubt(why.Error())
		v.Finding = oracle.Unknown
	case r.plan.Ends != "":
		v.Finding = oracle.Broken
		v.Violations = append(v.Violations, oracle.Violation{
			Kind: oracle.KindEnded, Limit: r.plan.Ends, Text: fmt.Sprintf("the target was to end with %q, and reads on", r.plan.Ends),
		})
	}
}

// leave takes down the stage.
func (r *run) leave() {
	if r.stage == nil {
		return
	}
	if err := r.stage.close(); err != nil {
		r.note("at the end: %v", err)
	}
}

// countConsumers tells the oracle how many consumers are on the stream, as long as
// the load lasts. Those that a fault makes are not the target's.
func (r *run) countConsumers(ctx context.Context) {
	for pass(ctx, consumersEvery) == nil {
		if r.filled() {
			continue
		}
		if n, err := r.stage.consumers(ctx); err == nil && !r.filled() {
			r.oracle.Consumers(n)
		}
	}
}

const consumersEvery = 500 * time.Millisecond

// filled says whether fill-consumers acts.
func (r *run) filled() bool {
	for _, p := range r.faultPeriods() {
		if p.Spec.Name == "fill-consumers" && p.To.IsZero() {
			return true
		}
	}
	return false
}
