//go:build long

package reader_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
)

// A start is evaluated once: nothing that is published while the API is away is
// passed over, although nothing was read yet.
func TestLongFromNewThroughAnOutageOfTheAPI(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	cfg := quick()
	cfg.Start = reader.FromNew()
	r := b.open(cfg)
	const outage = 3 * time.Second
	b.fault("api-timeout(for=" + outage.String() + ")")
	b.must(b.admin.DeleteConsumer(b.ctx, b.stream, r.Status().Session.Consumer))
	b.publish(11, 110)
	b.expect(r, 11, 110)
	b.held(outage)
	b.eventually("one consumer is left", func() bool { return len(b.consumers()) == 1 })
}

// The stream is deleted and, a second later, there is another of its name. Every
// message of that one is read, and the reset is told, whether its sequences are
// below the cursor or have passed it when the reader first sees it.
func TestLongStreamRecreated(t *testing.T) {
	for _, c := range []struct {
		name string
		last int
		away string // what keeps the reader from looking before the new stream is filled
	}{
		{"lower", 1005, ""},
		{"past the cursor", 1100, "api-timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := withStream(t)
			b.publish(1, 50)
			r := b.open(quick())
			b.expect(r, 1, 50)
			undo := func() {}
			if c.away != "" {
				undo = b.fault(c.away)
			}
			b.must(b.admin.DeleteStream(b.ctx, b.stream))
			b.quiet(time.Second)
			_, err := b.admin.CreateStream(b.ctx, jetstream.StreamConfig{Name: b.stream, Subjects: []string{"orders.>"}})
			b.must(err)
			b.publish(1001, c.last)
			undo()
			b.expect(r, 1001, c.last)
			e := b.await("stream_reset", 1)
			t.Logf("stream_reset: from=%d to=%d count=%d %s", e.From, e.To, e.Count, e.Text)
			b.publish(c.last+1, c.last+50)
			b.expect(r, c.last+1, c.last+50)
			if n := b.count("stream_reset"); n != 1 {
				t.Fatalf("told %d times\n%s", n, b.story())
			}
			b.held(time.Second)
		})
	}
}

// A stream that does not come back is fatal after StreamGrace, not before.
func TestLongStreamDeletedForGood(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	r := b.open(quick())
	b.expect(r, 1, 10)
	before := total(r.Status().APIRequests)
	began := time.Now()
	b.must(b.admin.DeleteStream(b.ctx, b.stream))
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if m, err := r.Next(ctx); !errors.Is(err, reader.ErrStreamNotFound) {
		t.Fatalf("got sequence %d and %v, want ErrStreamNotFound\n%s", m.Sequence, err, b.story())
	}
	took := time.Since(began)
	t.Logf("fatal after %s and %d requests: %v", took.Round(time.Millisecond), total(r.Status().APIRequests)-before, r.Err())
	if took < grace-time.Second || took > grace+2*(attemptTimeout+longestPause) {
		t.Fatalf("fatal after %s, want about %s\n%s", took, grace, b.story())
	}
	<-r.Done()
	if !errors.Is(r.Err(), reader.ErrStreamNotFound) {
		t.Fatalf("Err() = %v", r.Err())
	}
}
