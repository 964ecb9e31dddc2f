package commands

import (
	"context"
	"sync"
	"time"

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
func (c *scene) look(ctx context.Context, made *hands) (stop func()) {
	if len(c.readers[0].looks) == 0 {
		return func() {}
	}
	c.plan.view.begin(c, made)
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var looking sync.WaitGroup
	looking.Go(func() {
		defer c.plan.guard()
		slower := time.Duration(1 + len(c.readers)/50)
		look, judge := time.NewTicker(slower*lookEvery), time.NewTicker(slower*judgeEvery)
		defer look.Stop()
		defer judge.Stop()
		for _, w := range c.readers {
			w.lookOnce()
			w.judgeSoFar(made)
		}
		for {
			select {
			case <-ctx.Done():
				return
			case <-look.C:
				for _, w := range c.readers {
					w.lookOnce()
				}
			case <-judge.C:
				for _, w := range c.readers {
					w.judgeSoFar(made)
				}
			}
		}
	})
	return func() {
		cancel()
		looking.Wait()
	}
}

func (c *watched) lookOnce() {
	if len(c.looks) == 0 {
		return
	}
	h := c.last.Load()
	if h == nil {
		h = &handed{}
	}
	s, now := c.r.Status(), time.Now()
	for _, l := range c.looks {
		l.snapshot(now, s, *h)
	}
}

// endNow is the ending of a run that is cut short now: what is not read yet is not lost.
func (c *watched) endNow(made *hands) oracle.Ending {
	return oracle.Ending{
		Time: time.Now(), Interrupted: true, Periods: c.periods(made), Failed: made.failed(),
		APIRequests: requests(c.r.Status()), Orphans: oracle.NotCounted, SkipsOnReset: c.cfg.OnReset != reader.OnResetRestart,
	}
}

func (c *watched) judgeSoFar(made *hands) {
	end := c.endNow(made)
	v := c.oracle.Judge(end)
	for _, l := range c.looks {
		l.judged(end.Time, v, false)
	}
}

// judged tells the verdict.
func (c *watched) judged(v oracle.Verdict) {
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
