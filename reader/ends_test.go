package reader_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/reader"
)

func atEnd() reader.Config {
	cfg := calm()
	cfg.StopAtEnd = true
	return cfg
}

func TestStopAtEnd(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	empty := b.open(atEnd())
	b.end(empty)
	b.publish(1, 100)
	r := b.open(atEnd())
	b.publish(101, 110)
	b.expect(r, 1, 100)
	b.end(r)
	if err := r.Err(); !errors.Is(err, io.EOF) {
		t.Fatalf("Err() = %v, want io.EOF", err)
	}
	<-r.Done()
	b.eventually("its consumer is gone", func() bool { return len(b.consumers()) == 0 })
}

func TestStopAtEndOfAFilter(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publishTo("orders.a", 1, 10)
	b.publishTo("orders.b", 11, 20)
	for _, c := range []struct {
		name, filter string
		last         int
	}{{"below the end", "orders.a", 10}, {"nothing matches", "orders.z", 0}} {
		t.Run(c.name, func(t *testing.T) {
			cfg := atEnd()
			cfg.Subjects = []string{c.filter}
			r := b.open(cfg)
			b.expect(r, 1, c.last)
			b.end(r)
		})
	}
	t.Run("from new", func(t *testing.T) {
		cfg := atEnd()
		cfg.Start = reader.FromNew()
		b.end(b.open(cfg))
	})
	t.Run("last matching deleted", func(t *testing.T) {
		cfg := atEnd()
		r := b.open(cfg)
		s, err := b.admin.Stream(b.ctx, b.stream)
		b.must(err)
		b.must(s.DeleteMsg(b.ctx, 20))
		n := 0
		for m, err := range r.Messages(b.ctx) {
			b.must(err)
			if n++; m.Sequence > 20 {
				t.Fatalf("sequence %d", m.Sequence)
			}
		}
		if n < 19 {
			t.Fatalf("read %d messages, want 19 at least", n)
		}
	})
}

func TestMessagesIterates(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 50)
	n := 0
	for m, err := range b.open(atEnd()).Messages(b.ctx) {
		b.must(err)
		if n++; m.Sequence != uint64(n) {
			t.Fatalf("sequence %d at %d", m.Sequence, n)
		}
	}
	if n != 50 {
		t.Fatalf("%d messages, want 50", n)
	}
}

func TestNextBatch(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 500)
	r := b.open(atEnd())
	dst, next := make([]reader.Message, 64), uint64(1)
	for {
		n, err := r.NextBatch(b.ctx, dst)
		if errors.Is(err, io.EOF) {
			break
		}
		b.must(err)
		if n < 1 || n > len(dst) {
			t.Fatalf("%d messages for a slice of %d", n, len(dst))
		}
		for _, m := range dst[:n] {
			if m.Sequence != next {
				t.Fatalf("sequence %d, want %d", m.Sequence, next)
			}
			next++
		}
	}
	if next != 501 {
		t.Fatalf("read up to %d, want 500", next-1)
	}
	if _, err := r.NextBatch(b.ctx, nil); err == nil {
		t.Fatal("an empty slice is no error")
	}
}

func TestDrainHandsOutTheBuffer(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 200)
	r := b.open(calm())
	b.expect(r, 1, 1)
	b.eventually("the rest is buffered", func() bool { return r.Status().Buffered == 199 })
	drained := make(chan error, 1)
	go func() { drained <- r.Drain(b.ctx) }()
	b.expect(r, 2, 200)
	b.end(r)
	b.must(<-drained)
	b.eventually("its consumer is gone", func() bool { return len(b.consumers()) == 0 })
}

func TestDrainEndsWithItsContext(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 200)
	r := b.open(calm())
	b.expect(r, 1, 1)
	b.eventually("the rest is buffered", func() bool { return r.Status().Buffered == 199 })
	ctx, cancel := context.WithTimeout(b.ctx, 50*time.Millisecond)
	defer cancel()
	if err := r.Drain(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v, want the context's error", err)
	}
	if _, err := r.Next(b.ctx); !errors.Is(err, reader.ErrClosed) && !errors.Is(err, io.EOF) {
		t.Fatalf("got %v after an unfinished drain", err)
	}
}

func TestOnErrorRaiseTellsOnceAndGoesOn(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	cfg := hasty(calm())
	cfg.OnError = reader.OnErrorRaise
	r := b.open(cfg)
	b.expect(r, 1, 10)
	undo := b.fault("api-timeout")
	b.fault("drop-subscription")
	_, err := r.Next(b.ctx)
	var f *reader.RecoveryError
	if !errors.As(err, &f) || f.Session != 1 {
		t.Fatalf("got %v, want a RecoveryError of session 1", err)
	}
	undo()
	b.await("session_replaced", 1)
	b.publish(11, 20)
	n := 11
	for n <= 20 {
		m, err := r.Next(b.ctx)
		if errors.As(err, &f) {
			continue // one that came between the two calls
		}
		b.must(err)
		if int(m.Sequence) != n {
			t.Fatalf("sequence %d, want %d", m.Sequence, n)
		}
		n++
	}
}

func TestOnErrorFinishHandsOutTheBufferFirst(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	cfg := calm()
	cfg.OnError = reader.OnErrorFinish
	r := b.open(cfg)
	b.eventually("all is buffered", func() bool { return r.Status().Buffered == 10 })
	b.fault("drop-subscription")
	b.await("failed", 1)
	b.expect(r, 1, 10)
	b.end(r)
	var f *reader.RecoveryError
	if err := r.Err(); !errors.As(err, &f) || f.Cause != "answers_lost" {
		t.Fatalf("Err() = %v", err)
	}
	for _, err := range r.Messages(b.ctx) {
		if !errors.As(err, &f) {
			t.Fatalf("the iteration yields %v last", err)
		}
	}
}

func TestOnMissedSkipTellsWhatItSkipped(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	cfg := hasty(calm())
	cfg.OnMissed = reader.OnMissedSkip
	r := b.open(cfg)
	b.expect(r, 1, 10)
	undo := b.fault("api-timeout")
	b.fault("drop-subscription")
	b.await("session_silent", 1)
	b.publish(11, 30)
	b.await("replace_failed", 1)
	undo()
	e := b.await("skipped", 1)
	if e.From != 11 || e.To != 30 || e.Count != 20 {
		t.Fatalf("skipped %+v", e)
	}
	b.await("session_replaced", 1)
	b.publish(31, 40)
	b.expect(r, 31, 40)
}
