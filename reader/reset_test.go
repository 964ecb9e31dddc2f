package reader_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
)

// recreate deletes the stream and makes it again with the same configuration.
func (b *bed) recreate() {
	b.Helper()
	s, err := b.admin.Stream(b.ctx, b.stream)
	b.must(err)
	cfg := s.CachedInfo().Config
	told := b.count("stream_missing")
	b.must(b.admin.DeleteStream(b.ctx, b.stream))
	b.await("stream_missing", told+1)
	_, err = b.admin.CreateStream(b.ctx, cfg)
	b.must(err)
}

// settled waits until the reader has a proven session again: what is published
// behind it is certainly new.
func (b *bed) replaced(n int) reader.Event {
	b.Helper()
	return b.await("session_replaced", n)
}

func TestRecreatedStreamIsReadFromItsFirstMessage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		read int
		then int
	}{{"lower", 10, 5}, {"already past the cursor", 10, 25}, {"exactly at the cursor", 10, 10}, {"empty", 10, 0}} {
		t.Run(c.name, func(t *testing.T) {
			b := withStream(t)
			b.publish(1, c.read)
			r := b.open(hasty(calm()))
			b.expect(r, 1, c.read)
			s, err := b.admin.Stream(b.ctx, b.stream)
			b.must(err)
			cfg := s.CachedInfo().Config
			// Neither a create nor an ask is answered until the stream is there again
			// with all its messages.
			undo := b.fault("api-timeout")
			b.must(b.admin.DeleteStream(b.ctx, b.stream))
			_, err = b.admin.CreateStream(b.ctx, cfg)
			b.must(err)
			b.publish(101, 100+c.then)
			undo()
			e := b.await("stream_reset", 1)
			if e.Sequence != uint64(c.read) || e.Text != "re-created" {
				t.Fatalf("stream_reset %+v", e)
			}
			b.expect(r, 101, 100+c.then)
			b.replaced(1)
			b.publish(201, 210)
			b.expect(r, 201, 210)
		})
	}
}

func TestStreamMissingForAWhile(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	r := b.open(calm())
	b.expect(r, 1, 10)
	b.recreate()
	b.publish(101, 105)
	b.expect(r, 101, 105)
	b.await("stream_reset", 1)
	if n := r.Status().APIRequests["consumer_create"]; n > 20 {
		t.Fatalf("%d creates", n)
	}
}

func TestOnResetFollowNewAndFail(t *testing.T) {
	t.Parallel()
	t.Run("follow new", func(t *testing.T) {
		b := withStream(t)
		b.publish(1, 10)
		cfg := hasty(calm())
		cfg.OnReset = reader.OnResetFollowNew
		r := b.open(cfg)
		b.expect(r, 1, 10)
		undo := b.fault("api-timeout")
		b.must(b.admin.DeleteStream(b.ctx, b.stream))
		_, err := b.admin.CreateStream(b.ctx, jetstream.StreamConfig{Name: b.stream, Subjects: []string{"orders.>"}})
		b.must(err)
		b.publish(101, 105)
		undo()
		b.replaced(1)
		b.publish(201, 205)
		b.expect(r, 201, 205)
	})
	t.Run("fail", func(t *testing.T) {
		b := withStream(t)
		b.publish(1, 10)
		cfg := hasty(calm())
		cfg.OnReset = reader.OnResetFail
		r := b.open(cfg)
		b.expect(r, 1, 10)
		b.recreate()
		if _, err := r.Next(b.ctx); !errors.Is(err, reader.ErrStreamReset) {
			t.Fatalf("got %v, want ErrStreamReset", err)
		}
		if err := r.Err(); !errors.Is(err, reader.ErrStreamReset) {
			t.Fatalf("Err() = %v", err)
		}
	})
}

func TestStreamDeletedForGoodIsFatalAfterItsGrace(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	cfg := calm()
	cfg.StreamGrace = 2 * time.Second
	r := b.open(cfg)
	b.expect(r, 1, 10)
	deleted := time.Now()
	b.must(b.admin.DeleteStream(b.ctx, b.stream))
	_, err := r.Next(b.ctx)
	if !errors.Is(err, reader.ErrStreamNotFound) {
		t.Fatalf("got %v, want ErrStreamNotFound", err)
	}
	if d := time.Since(deleted); d < cfg.StreamGrace {
		t.Fatalf("fatal after %s, before its grace of %s", d, cfg.StreamGrace)
	}
	if b.count("stream_missing") != 1 {
		t.Fatalf("told %d times that the stream is missing", b.count("stream_missing"))
	}
}

func TestStreamIsWaitedFor(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.must(b.admin.DeleteStream(b.ctx, b.stream))
	cfg := calm()
	cfg.WaitForStream = true
	cfg.Observer = b.observe
	opened := b.opening(cfg)
	b.await("stream_missing", 1)
	_, err := b.admin.CreateStream(b.ctx, jetstream.StreamConfig{Name: b.stream, Subjects: []string{"orders.>"}})
	b.must(err)
	r := <-opened
	if r == nil {
		t.Fatal("not opened")
	}
	b.publish(1, 5)
	b.expect(r, 1, 5)
	b.must(r.Close(b.ctx))
}

func TestPurgeIsToldAsMissed(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	r := b.open(hasty(quick()))
	b.expect(r, 1, 10)
	undo := b.fault("black-hole")
	b.publish(11, 30)
	s, err := b.admin.Stream(b.ctx, b.stream)
	b.must(err)
	b.must(s.Purge(b.ctx))
	b.must(b.admin.DeleteConsumer(b.ctx, b.stream, r.Status().Session.Consumer))
	undo()
	b.publish(31, 35)
	// What left the server before the purge may still come.
	n := uint64(10)
	for n < 35 {
		m, err := r.Next(b.ctx)
		b.must(err)
		if m.Sequence <= n {
			t.Fatalf("sequence %d after %d", m.Sequence, n)
		}
		n = m.Sequence
	}
	if st := r.Status(); st.Delivered+st.Missed != 35 {
		t.Fatalf("delivered %d, missed %d, want 35 in all\n%s", st.Delivered, st.Missed, b.story())
	}
}

// A position belongs to the stream its message came from, also when that stream was
// re-created since.
func TestPositionKeepsItsStream(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	r := b.open(calm())
	b.expect(r, 1, 10)
	before := r.Position()
	b.recreate()
	b.await("session_replaced", 1)
	if p := r.Position(); p != before {
		t.Fatalf("position %+v after the reset, want %+v", p, before)
	}
	b.publish(101, 105)
	b.expect(r, 101, 103)
	p := r.Position()
	if p.StreamCreated.Equal(before.StreamCreated) || p.Sequence != 3 {
		t.Fatalf("position %+v in the new stream", p)
	}
	for _, c := range []struct {
		from  reader.Position
		first int
	}{{before, 101}, {p, 104}} {
		cfg := calm()
		cfg.Start = reader.FromPosition(c.from)
		b.expect(b.open(cfg), c.first, 105)
	}
}
