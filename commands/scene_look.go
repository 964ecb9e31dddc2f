package commands

import (
	"context"
	"sync"
	"time"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/reader"
)

// How often onlookers are told.
const (
	lookEvery  = 100 * time.Millisecond
	judgeEvery = time.Second
)

// look tells the onlookers where the reader stands and what would be judged, until stop is called, which may
// be called again, or ctx ends.
func (c *scene) look(ctx context.Context, r *reader.Reader, made *hands) (stop func()) {
	if len(c.looks) == 0 {
		return func() {}
	}
	c.plan.view.begin(c, r, made)
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var looking sync.WaitGroup
	looking.Go(func() {
		defer c.plan.guard()
		look, judge := time.NewTicker(lookEvery), time.NewTicker(judgeEvery)
		defer look.Stop()
		defer judge.Stop()
		c.lookOnce(r)
		c.judgeSoFar(r, made)
		for {
			select {
			case <-ctx.Done():
				return
			case <-look.C:
				c.lookOnce(r)
			case <-judge.C:
				c.judgeSoFar(r, made)
			}
		}
	})
	return func() {
		cancel()
		looking.Wait()
	}
}

func (c *scene) lookOnce(r *reader.Reader) {
	if len(c.looks) == 0 {
		return
	}
	h := c.last.Load()
	if h == nil {
		h = &handed{}
	}
	s, now := r.Status(), time.Now()
	for _, l := range c.looks {
		l.snapshot(now, s, *h)
	}
}

// endNow is the ending of a run that is cut short now: what is not read yet is not lost.
func (c *scene) endNow(r *reader.Reader, made *hands) oracle.Ending {
	return oracle.Ending{
		Time: time.Now(), Interrupted: true, Periods: chaos.Judged(made.periods()), Failed: made.failed(),
		APIRequests: requests(r.Status()), Orphans: oracle.NotCounted, SkipsOnReset: c.plan.config.OnReset != reader.OnResetRestart,
	}
}

func (c *scene) judgeSoFar(r *reader.Reader, made *hands) {
	end := c.endNow(r, made)
	v := c.oracle.Judge(end)
	for _, l := range c.looks {
		l.judged(end.Time, v, false)
	}
}

// judged tells the verdict.
func (c *scene) judged(v oracle.Verdict) {
	for _, l := range c.looks {
		l.judged(time.Now(), v, true)
	}
}

// untilOver gives a context that also ends when the run is to be over.
func (c *scene) untilOver(ctx context.Context) (until context.Context, done func()) {
	until, cancel := context.WithCancelCause(ctx)
	stop := cancelWhen(c.plan.over, func() { cancel(errOver) })
	return until, func() {
		stop()
		cancel(nil)
	}
}
