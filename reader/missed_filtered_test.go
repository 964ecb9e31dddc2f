package reader_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
)

// Under a filter retention takes messages of a reader whose session is healthy and
// whose caller is slow: what went is told, as bounds, without a replacement. What is
// only passed over, because it is of other subjects, is not.
func TestMissedUnderAFilterInAHealthySession(t *testing.T) {
	t.Parallel()
	b := withStream(t, func(c *jetstream.StreamConfig) { c.MaxMsgs = 100 })
	cfg := calm()
	cfg.Subjects = []string{"orders.a"}
	cfg.Pull.MaxMessages = 10
	b.publishTo("orders.b", 1, 10)
	b.publishTo("orders.a", 11, 30)
	r := b.open(cfg)
	b.eventually("the buffer is full", func() bool { return r.Status().State == reader.StateBufferFull })
	ahead := r.Status().Buffered
	b.publishTo("orders.b", 31, 40)
	b.publishTo("orders.a", 41, 200) // the stream now begins at 101
	b.expect(r, 11, 10+ahead)
	b.expect(r, 101, 200)
	e := b.await("missed", 1)
	if e.From != uint64(11+ahead) || e.To != 100 || e.Session != 1 {
		t.Fatalf("missed %d to %d in session %d, want %d to 100 in session 1\n%s", e.From, e.To, e.Session, 11+ahead, b.story())
	}
	b.publishTo("orders.b", 201, 210)
	b.publishTo("orders.a", 211, 215)
	b.expect(r, 211, 215)
	if s := r.Status(); s.Missed != e.Count || s.Session.Number != 1 || b.count("missed") != 1 {
		t.Fatalf("missed %d in %d events, session %d\n%s", s.Missed, b.count("missed"), s.Session.Number, b.story())
	}
}

// The reader sees that a pause is over although nothing comes: what waited was purged.
func TestPauseIsOverWhenItsTimeIs(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	cfg := calm()
	cfg.Pull.MaxMessages = 4 // the rest waits on the server, which is known
	r := b.open(cfg)
	b.eventually("no more is read ahead", func() bool { return r.Status().State == reader.StateBufferFull })
	ahead := r.Status().Buffered
	can, limit := b.since(2, 11), patience
	if !can {
		limit = 3 * time.Second // an older server answers nothing
	}
	ctx, cancel := context.WithTimeout(b.ctx, limit)
	defer cancel()
	// Long enough for a busy machine to see it.
	_, err := b.admin.PauseConsumer(ctx, b.stream, r.Status().Session.Consumer, time.Now().Add(patience/3))
	if !can {
		if err == nil {
			t.Fatal("a server before 2.11 paused a consumer")
		}
		b.expect(r, 1, 10)
		return
	}
	b.must(err)
	b.expect(r, 1, ahead)
	b.await("paused", 1)
	s, err := b.admin.Stream(b.ctx, b.stream)
	b.must(err)
	b.must(s.Purge(b.ctx))
	b.eventually("the state is paused no more", func() bool { return r.Status().State != reader.StatePaused })
	if n := r.Status().Session.Number; n != 1 {
		t.Fatalf("session %d, want 1\n%s", n, b.story())
	}
	b.publish(11, 15)
	b.expect(r, 11, 15)
}
