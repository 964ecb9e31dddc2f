package fleet

import (
	"context"
	"time"
)

// cost measures what idle readers keep, and what they do in a time.
func (f *fleet) cost(ctx context.Context, r *Result, before held) error {
	timers, of := r.Cost.Timers, r.Cost.TimedOf
	r.Cost = costs(before, heldNow(), len(f.all))
	r.Cost.Timers, r.Cost.TimedOf = timers, of
	var err error
	if r.Cost.Server, err = f.serverMemory(ctx); err != nil {
		return err
	}
	r.Idle, err = f.quiet(ctx, func() error { return f.pass(ctx, "counting what idle readers do", f.plan.Idle) })
	return err
}

// quiet counts what readers do while something else goes on.
func (f *fleet) quiet(ctx context.Context, meanwhile func() error) (Quiet, error) {
	f.tally.begin()
	onServer, err := f.requests(ctx)
	if err != nil {
		return Quiet{}, err
	}
	asked := f.asked
	api, pulls := f.api(), f.pulls()
	in, out := f.wire.in.Load(), f.wire.out.Load()
	began := time.Now()
	if err := meanwhile(); err != nil {
		return Quiet{}, err
	}
	q := Quiet{For: time.Since(began), API: since(api, f.api())}
	minutes := q.For.Minutes()
	q.In, q.Out = float64(f.wire.in.Load()-in)/minutes, float64(f.wire.out.Load()-out)/minutes
	total := uint64(0)
	for i, n := range f.pulls() {
		total += n - pulls[i]
		q.Most = max(q.Most, n-pulls[i])
	}
	q.Pulls = float64(total) / minutes / float64(len(f.all))
	asked = f.asked - asked
	now, err := f.requests(ctx)
	if err != nil {
		return Quiet{}, err
	}
	if f.plan.Given {
		asked++ // one of the two questions themselves
	}
	q.OnServer = now - onServer - asked
	q.Replaced = len(f.tally.soFar().proofs)
	return q, nil
}

// pulls is how many pulls each reader has sent.
func (f *fleet) pulls() []uint64 {
	all := make([]uint64, len(f.all))
	for i, r := range f.all {
		all[i] = r.Status().Pulls
	}
	return all
}
