package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
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
// why the reader did not open, or ended by itself.
//
//	open > steady and faults > faults undone > publisher stops > drain > close > judge
func (c *scene) run(ctx context.Context) (oracle.Verdict, error) {
	cfg := c.plan.config
	if cfg.Durable == "" {
		cfg.Metadata = map[string]string{tagKey: c.tag}
	}
	cfg.Observer = func(e reader.Event) {
		defer c.plan.guard()
		c.oracle.Event(e)
		c.lines.event(e)
		if e.Kind == session.KindAPIRequest {
			c.asked.Add(1)
		}
	}
	c.lines.note(c.describe())
	opening, opened := c.untilOver(ctx)
	r, err := openReader(opening, c.s, c.read, cfg)
	opened()
	if err != nil {
		v := unjudged(c.plan, explainError(err).problem)
		v.APIRequests = c.asked.Load()
		return v, err
	}
	var reading sync.WaitGroup
	readCtx, stopReading := context.WithCancel(context.WithoutCancel(ctx))
	reading.Go(func() { defer c.plan.guard(); c.consume(readCtx, r) })
	finish := func() {
		stopReading()
		reading.Wait()
	}
	defer finish()

	env := c.environment(r)
	made, err := newHands(env, c.plan.faults, c.firing, func(p *chaos.Panic) { c.plan.caught(p, p.Stack) })
	if err != nil {
		return unjudged(c.plan, explainError(err).problem), errors.Join(err, closeReader(ctx, r))
	}
	stopLooking := c.look(ctx, r, made)
	defer stopLooking()
	c.act(ctx, r, made)

	end := oracle.Ending{Periods: chaos.Judged(made.periods()), Failed: made.failed(), SkipsOnReset: cfg.OnReset != reader.OnResetRestart}
	c.drain(ctx, r, &end)
	c.awaitAnswer(ctx, r, &end)
	end.Err = ownEnd(r)
	end.Interrupted = ctx.Err() != nil
	end.Time = time.Now()
	cleaned := c.tellWait("the clean-up on the server")
	if err := closeReader(ctx, r); err != nil {
		c.lines.note("the reader could not clean up", "error", err.Error())
	}
	cleaned()
	finish()
	c.tellIdle(made.periods())
	end.APIRequests = requests(r.Status())
	end.Orphans = c.awaitNoOrphans(ctx, env.Stream)
	verdict := c.oracle.Judge(end)
	stopLooking()
	c.lookOnce(r)
	c.judged(verdict)
	return verdict, end.Err
}

// act lets publisher, faults and progress run until the time is over, a signal
// comes, or the reader ends; then the faults are undone, then the publisher stops.
func (c *scene) act(ctx context.Context, r *reader.Reader, made *hands) {
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
		p := chaos.NewPublisher(c.publish, c.oracle, demoSubject, demoWriter, demoRate)
		publisher.Go(func() { defer c.plan.guard(); p.Run(publishing) })
		c.lines.note("demo publisher is running", "subject", demoSubject, "rate", fmt.Sprintf("%d/s", demoRate))
	}
	others.Go(func() { defer c.plan.guard(); c.progress(ctx, r) })
	others.Go(func() { defer c.plan.guard(); made.run(ctx) })
	select {
	case <-ctx.Done():
	case <-r.Done():
		cancel(errOver)
	case <-c.plan.over:
		cancel(errOver)
	}
	others.Wait()
	stopPublishing()
	publisher.Wait()
}

// consume hands every message to the oracle, until the reader ends or ctx does.
func (c *scene) consume(ctx context.Context, r *reader.Reader) {
	buffer := make([]reader.Message, batchSize)
	for {
		n, err := r.NextBatch(ctx, buffer)
		now := time.Now()
		for _, m := range buffer[:n] {
			d := oracle.Delivery{Sequence: m.Sequence, ConsumerSequence: m.ConsumerSequence, Session: m.Session, Time: now}
			if c.plan.demo {
				d.ID = string(m.Data)
			}
			c.oracle.Read(d)
			c.pace.Wait(ctx)
			if c.plan.config.Durable != "" {
				if ackErr := m.Ack(); ackErr != nil && ctx.Err() == nil {
					c.lines.note("an ack could not be sent", "error", ackErr.Error())
				}
			}
		}
		if n > 0 && len(c.looks) > 0 {
			c.last.Store(&handed{stored: buffer[n-1].Timestamp, read: now})
		}
		var failure *reader.RecoveryError
		switch {
		case err == nil:
		case errors.As(err, &failure) && r.Err() == nil && ctx.Err() == nil && !errors.Is(err, io.EOF):
			c.lines.note("the reader raised an error and goes on healing", "error", failure.Error()) // --on-error raise
		default:
			return
		}
	}
}

// progress tells how far the reader is, as long as it moves or changes its state.
func (c *scene) progress(ctx context.Context, r *reader.Reader) {
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	before, then := r.Status(), time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			s := r.Status()
			if s.Delivered != before.Delivered || s.State != before.State {
				c.lines.progress(now, s, float64(s.Delivered-before.Delivered)/now.Sub(then).Seconds())
			}
			before, then = s, now
		}
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

// requests is how many JetStream API requests the reader has sent, pulls apart.
func requests(s reader.Status) (n uint64) {
	for _, sent := range s.APIRequests {
		n += sent
	}
	return n
}

func longestPause(cfg reader.Config) time.Duration {
	if cfg.Retry.Max > 0 {
		return cfg.Retry.Max
	}
	return defaultRetryMax
}
