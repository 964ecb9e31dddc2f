package commands

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

// watched is one reader of a scene, and what judges it.
type watched struct {
	*scene
	number int    // among the readers, from 0
	name   string // "": the only one
	cfg    reader.Config
	lines  teller
	looks  []onlooker
	oracle *oracle.Oracle
	r      *reader.Reader // nil: not open

	asked   atomic.Uint64          // requests to the JetStream API
	last    atomic.Pointer[handed] // what was handed out last; nil: nothing, or nobody looks on
	reading sync.WaitGroup
	stop    context.CancelFunc // ends the reading
}

// audience is who is told of one reader.
type audience struct {
	lines teller
	looks []onlooker
}

func (c *scene) newWatched(name string, cfg reader.Config, told audience) *watched {
	w := &watched{scene: c, name: name, cfg: cfg, lines: told.lines, looks: told.looks, stop: func() {}}
	w.oracle = oracle.New(oracle.Rules{
		Measure: c.plan.measure(), OthersPublish: true, Filtered: len(cfg.Subjects) > 0, AtLeastOnce: cfg.Durable != "",
		Deafness: oracle.DeafnessLimit(heartbeatOf(cfg), defaultAttemptTimeout, longestPause(cfg)),
	})
	if cfg.Durable == "" {
		w.cfg.Metadata = map[string]string{tagKey: c.tag}
	}
	w.cfg.Observer = func(e reader.Event) {
		defer c.plan.guard()
		w.oracle.Event(e)
		w.lines.event(e)
		if e.Kind == session.KindAPIRequest {
			w.asked.Add(1)
		}
	}
	return w
}

// openedAtOnce is about how many readers open together in the time of one.
const openedAtOnce = 50

// open opens the reader, and has it read until finish is called.
func (c *watched) open(ctx context.Context) error {
	s := c.s
	s.timeout *= time.Duration(1 + len(c.readers)/openedAtOnce)
	if err := c.plan.metrics.observe(c.name, &c.cfg); err != nil {
		return err
	}
	r, err := openReader(ctx, s, c.read, c.cfg)
	if err != nil {
		return err
	}
	c.r = r
	if err := c.plan.metrics.add(c.name, c.cfg, r); err != nil {
		return err
	}
	reading, stop := context.WithCancel(context.WithoutCancel(ctx))
	c.stop = stop
	c.reading.Go(func() { defer c.plan.guard(); c.consume(reading) })
	return nil
}

// finish ends the reading.
func (c *watched) finish() {
	c.stop()
	c.reading.Wait()
}

// end lets a reader come to what is stored, and closes it.
func (c *watched) end(ctx context.Context, made *hands) oracle.Ending {
	end := oracle.Ending{Periods: c.periods(made), Failed: made.failed(), SkipsOnReset: c.cfg.OnReset != reader.OnResetRestart}
	c.drain(ctx, &end)
	c.awaitAnswer(ctx, &end)
	end.Err = ownEnd(c.r)
	end.Interrupted = ctx.Err() != nil
	end.Time = time.Now()
	cleaned := c.tellWait("the clean-up on the server")
	if err := closeReader(ctx, c.r); err != nil {
		c.lines.note("the reader could not clean up", "error", err.Error())
	}
	cleaned()
	c.finish()
	end.APIRequests = requests(c.r.Status())
	return end
}

// stream is the name of the stream that is read.
func (c *watched) stream() string {
	if c.cfg.Stream == "" && c.r != nil {
		return c.r.Status().Stream // found from the subject
	}
	return c.cfg.Stream
}

// periods are those of the faults, as far as they concern this reader: what destroyed messages of another
// stream destroyed none of its own, and how far another reader was then says nothing.
func (c *watched) periods(made *hands) []oracle.Period {
	periods := made.periods()
	all := chaos.Judged(periods)
	if len(c.scene.readers) == 1 {
		return all
	}
	for i, p := range periods {
		if all[i].Cursor = 0; p.Target != "" && p.Target != "stream="+c.stream() {
			all[i].Destructive = false
		}
	}
	return all
}

// consume hands every message to the oracle, until the reader ends or ctx does.
func (c *watched) consume(ctx context.Context) {
	r := c.r
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
func (c *watched) progress(ctx context.Context) {
	r := c.r
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

// requests is how many JetStream API requests the reader has sent, pulls apart.
func requests(s reader.Status) (n uint64) {
	for _, sent := range s.APIRequests {
		n += sent
	}
	return n
}
