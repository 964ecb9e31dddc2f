package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
)

// How far the publisher runs ahead of the reader: the stream keeps several times as much, so that its limits never take
// what was not read.
const (
	aheadMessages = 100_000
	aheadBytes    = 32 << 20
	keptTimes     = 4
	framing       = 256 // bytes of subject and the store's own record, at most
)

// Most acknowledgements that are waited for at a time.
const mostPending = 2048

// ahead is how many messages of a size the publisher may be ahead.
func ahead(size int) int { return max(1, min(aheadMessages, aheadBytes/size)) }

// flow has one reader read what a publisher writes, as fast as both can.
func (f *fleet) flow(ctx context.Context, r *Result) error {
	window := ahead(f.plan.Size)
	bound := func(c *jetstream.StreamConfig) {
		c.MaxMsgs = int64(keptTimes * window)
		c.MaxBytes = int64(keptTimes * window * (f.plan.Size + framing))
	}
	if err := f.makeStreams(ctx, 1, bound); err != nil {
		return err
	}
	began := time.Now()
	if err := f.open(ctx, 1); err != nil {
		return err
	}
	r.Open.All = time.Since(began)
	flowing, stop := context.WithCancelCause(ctx)
	s := &stream{reader: f.all[0], window: window, room: make(chan struct{}, 1)}
	var both sync.WaitGroup
	defer both.Wait()
	defer stop(nil)
	both.Go(func() {
		if err := s.read(flowing); err != nil {
			stop(err)
		}
	})
	writing, enough := context.WithCancel(flowing)
	defer enough()
	written := make(chan struct{})
	both.Go(func() {
		defer close(written)
		if err := s.write(writing, flowing, f.manage, f.streams[0]+".m", f.plan); err != nil {
			stop(err)
		}
	})
	began = time.Now()
	if err := f.watchFor(flowing, r, s.count.Load); err != nil {
		return err
	}
	took := time.Since(began)
	read, bytes := s.count.Load(), s.bytes.Load()
	enough()
	<-written
	unread, err := s.readRest(flowing, f.plan.Patience)
	if err != nil {
		return err
	}
	r.Trends = TrendsOf(r.Samples, readAhead(f.plan.Config))
	status := f.all[0].Status()
	r.Speed = Speed{
		Read: read, Lost: s.lost.Load(), Missed: status.Missed, Unread: unread, Rate: float64(read) / took.Seconds(), MB: float64(bytes) / 1e6 / took.Seconds(),
		Size: f.plan.Size, Bound: f.plan.Rate, Sessions: status.Session.Number,
	}
	for _, sample := range r.Samples {
		r.Speed.Store = max(r.Speed.Store, sample.Stored)
	}
	return nil
}

// stream is a flow from a publisher to a reader.
type stream struct {
	reader *reader.Reader
	window int
	room   chan struct{} // has a token when the reader went on

	count, bytes, lost atomic.Uint64
	position           atomic.Uint64 // sequence of the last message read
	published          atomic.Uint64 // acknowledged messages, once the writer is done
}

// read reads until ctx ends, which is no error.
func (s *stream) read(ctx context.Context) error {
	batch := make([]reader.Message, 512)
	last := uint64(0)
	for {
		n, err := s.reader.NextBatch(ctx, batch)
		bytes := 0
		for _, m := range batch[:n] {
			if m.Sequence != last+1 {
				s.lost.Add(m.Sequence - last - 1)
			}
			last = m.Sequence
			bytes += len(m.Data)
		}
		clear(batch[:n]) // a message that was read is kept by nobody
		s.bytes.Add(uint64(bytes))
		s.count.Add(uint64(n))
		s.position.Store(last)
		select {
		case s.room <- struct{}{}:
		default:
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, io.EOF):
			return errors.New("the reader is at an end that nobody chose")
		case err != nil:
			return fmt.Errorf("the reader: %w", err)
		}
	}
}

// readRest waits until all that was published is read, and gives what is not, after a time.
func (s *stream) readRest(ctx context.Context, patience time.Duration) (unread uint64, err error) {
	late := time.NewTimer(patience)
	defer late.Stop()
	for s.position.Load() < s.published.Load() {
		select {
		case <-s.room:
		case <-late.C:
			return s.published.Load() - s.position.Load(), nil
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
	return 0, nil
}

// write publishes until ctx ends, which is no error, and stays within the window ahead of the reader. What is not
// acknowledged then has until life ends.
func (s *stream) write(ctx, life context.Context, js jetstream.JetStream, subject string, p *Plan) (err error) {
	payload := make([]byte, p.Size)
	pending := make([]jetstream.PubAckFuture, 0, mostPending)
	began := time.Now()
	n := uint64(0)
	for ; ; n++ {
		for n >= s.position.Load()+uint64(s.window) && ctx.Err() == nil {
			// What the reader waits for may not have left yet.
			if pending, err = acknowledged(life, pending, 0); err != nil {
				return err
			}
			select {
			case <-s.room:
			case <-ctx.Done():
			}
		}
		if pace(ctx, began, n, p.Rate) != nil {
			break
		}
		future, err := js.PublishAsync(subject, payload)
		if err != nil {
			return fmt.Errorf("publish message %d: %w", n+1, err)
		}
		pending = append(pending, future)
		if len(pending) == cap(pending) {
			if pending, err = acknowledged(life, pending, mostPending/2); err != nil {
				return err
			}
		}
	}
	if _, err = acknowledged(life, pending, 0); err != nil {
		return err
	}
	s.published.Store(n)
	return nil
}

// ackTime is how long one acknowledgement is waited for: a message without one may be lost, and nothing could be judged.
const ackTime = time.Minute

// acknowledged waits for the oldest acknowledgements until so many are left.
func acknowledged(ctx context.Context, pending []jetstream.PubAckFuture, left int) ([]jetstream.PubAckFuture, error) {
	if len(pending) <= left {
		return pending, nil
	}
	late := time.NewTimer(ackTime)
	defer late.Stop()
	done := len(pending) - left
	for _, future := range pending[:done] {
		select {
		case <-future.Ok():
		case err := <-future.Err():
			return nil, fmt.Errorf("publish: %w", err)
		case <-late.C:
			return nil, fmt.Errorf("publish: no acknowledgement within %s", ackTime)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	rest := copy(pending, pending[done:])
	clear(pending[rest:])
	return pending[:rest], nil
}

// pace waits until a message is due before which n were published; rate 0: it is.
func pace(ctx context.Context, began time.Time, n uint64, rate int) error {
	if rate == 0 {
		return ctx.Err()
	}
	const least = time.Millisecond // shorter pauses are made up by the next
	wait := time.Until(began.Add(time.Duration(float64(n) / float64(rate) * float64(time.Second))))
	if wait < least {
		return ctx.Err()
	}
	due := time.NewTimer(wait)
	defer due.Stop()
	select {
	case <-due.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
