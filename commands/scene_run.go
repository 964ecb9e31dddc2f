package commands

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/reader"
)

// Times of watch itself.
const (
	progressEvery  = 5 * time.Second
	recoverLook    = 20 * time.Millisecond  // how often it is looked whether a reader reads again
	drainInterrupt = 2 * time.Second        // to read what is stored, after Ctrl-C
	orphanWait     = 3 * time.Second        // for the last delete to be done
	waitTold       = 500 * time.Millisecond // what takes longer at the end is told
)

// errOver is why the phases of a run end when its time is over.
var errOver = errors.New("the time of the run is over")

// run reads, makes the faults, ends everything in order, and judges. The error is
// why a reader did not open, or ended by itself.
//
//	open > steady and faults > faults undone > publisher stops > drain > close > judge
func (c *scene) run(ctx context.Context) (oracle.Verdict, error) {
	c.lines.note(c.describe())
	opening, opened := c.untilOver(ctx)
	err := c.each(func(w *watched) error { return w.open(opening) })
	opened()
	defer func() {
		for _, w := range c.readers {
			w.finish()
		}
	}()
	if err != nil {
		return c.notOpen(ctx, err)
	}
	made, err := newHands(c.environmentOf, c.plan.faults, c.firing, func(p *chaos.Panic) { c.plan.caught(p, p.Stack) })
	if err != nil {
		return c.notOpen(ctx, err)
	}
	stopLooking := c.look(ctx, made)
	defer stopLooking()
	c.act(ctx, made)

	ends := make([]oracle.Ending, len(c.readers))
	c.each(func(w *watched) error { //nolint:errcheck // there is none
		ends[w.number] = w.end(ctx, made)
		return nil
	})
	c.tellIdle(made.periods())
	c.countOrphans(ctx, ends)
	stopLooking()
	var verdicts []oracle.Verdict
	var failed []error
	for i, w := range c.readers {
		v := w.oracle.Judge(ends[i])
		verdicts = append(verdicts, v)
		failed = append(failed, ends[i].Err)
		w.lookOnce()
		w.judged(v)
	}
	return c.together(verdicts), firstOf(failed)
}

// each does something with every reader at the same time, and gives the first error in their order.
func (c *scene) each(do func(*watched) error) error {
	errs := make([]error, len(c.readers))
	var doing sync.WaitGroup
	for i, w := range c.readers {
		doing.Go(func() {
			defer c.plan.guard()
			errs[i] = do(w)
		})
	}
	doing.Wait()
	return firstOf(errs)
}

func firstOf(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// notOpen closes what is open where the rest is not, and judges nothing.
func (c *scene) notOpen(ctx context.Context, err error) (oracle.Verdict, error) {
	v := unjudged(c.plan, explainError(err).problem)
	errs := []error{err}
	for _, w := range c.readers {
		v.APIRequests += w.asked.Load()
		if w.r != nil {
			errs = append(errs, closeReader(ctx, w.r))
		}
	}
	return v, errors.Join(errs...)
}

// act lets publisher, faults and progress run until the time is over, a signal
// comes, or the reader ends; then the faults are undone, then the publisher stops.
func (c *scene) act(ctx context.Context, made *hands) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if c.plan.duration > 0 {
		timer := time.AfterFunc(c.plan.duration, func() { cancel(errOver) })
		defer timer.Stop()
	}
	publishing, stopPublishing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopPublishing()
	var others, publisher sync.WaitGroup
	if c.publish != nil {
		p := chaos.NewPublisher(c.publish, ledgers(c.readers), demoSubject, demoWriter, demoRate)
		publisher.Go(func() { defer c.plan.guard(); p.Run(publishing) })
		c.lines.note("demo publisher is running", "subject", demoSubject, "rate", fmt.Sprintf("%d/s", demoRate))
	}
	ended, allEnded := c.allEnded(ctx)
	defer allEnded()
	for _, w := range c.readers {
		others.Go(func() { defer c.plan.guard(); w.progress(ctx) })
	}
	others.Go(func() { defer c.plan.guard(); made.run(ctx) })
	select {
	case <-ctx.Done():
	case <-ended:
		cancel(errOver)
	case <-c.plan.over:
		cancel(errOver)
	}
	others.Wait()
	stopPublishing()
	publisher.Wait()
}

// allEnded gives a channel that is closed when no reader is left. over waits for who looks after that.
func (c *scene) allEnded(ctx context.Context) (ended <-chan struct{}, over func()) {
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	var waiting sync.WaitGroup
	waiting.Go(func() {
		for _, w := range c.readers {
			select {
			case <-w.r.Done():
			case <-ctx.Done():
				return
			}
		}
		close(done)
	})
	return done, func() {
		cancel()
		waiting.Wait()
	}
}

// ledgers tell every oracle what the publisher does.
type ledgers []*watched

func (all ledgers) Attempted(id string, at time.Time) {
	for _, w := range all {
		w.oracle.Attempted(id, at)
	}
}

func (all ledgers) Acknowledged(id string, sequence uint64, at time.Time) {
	for _, w := range all {
		w.oracle.Acknowledged(id, sequence, at)
	}
}

func (all ledgers) Deduplicated(id string) {
	for _, w := range all {
		w.oracle.Deduplicated(id)
	}
}

func (c *scene) firing(f chaos.Firing) {
	acted := -1
	if f.Phase == chaos.PhaseEnded {
		acted = c.actedSoFar(f.Spec)
	}
	c.lines.firing(f, acted)
}

// tellIdle names the faults of the wire that met nothing to act on: a contract
// that held under them has not been tried by them.
func (c *scene) tellIdle(periods []chaos.Period) {
	for _, p := range periods {
		if c.actedSoFar(p.Spec) == 0 {
			c.lines.note("fault " + p.Spec.Fault() + " met nothing to act on")
		}
	}
}

func longestPause(cfg reader.Config) time.Duration {
	if cfg.Retry.Max > 0 {
		return cfg.Retry.Max
	}
	return defaultRetryMax
}
