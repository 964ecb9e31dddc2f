package reader_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
)

// One way works, the other carries nothing: the connection is made anew, and
// nothing is lost.
func TestDeadLinkOneWay(t *testing.T) {
	t.Parallel()
	for _, direction := range []string{"up", "down"} {
		t.Run(direction, func(t *testing.T) {
			b := withStream(t)
			b.publish(1, 10)
			cfg := quick()
			cfg.Pull.Expires = 2 * cfg.Pull.Heartbeat // a pull that waits goes on answering
			r := b.open(cfg)
			b.expect(r, 1, 10)
			undo := b.fault("black-hole(direction=" + direction + ")")
			b.publish(11, 20)
			b.await("connection_forced", 1)
			undo()
			b.expect(r, 11, 20)
			if s := r.Status(); s.Missed != 0 || s.Delivered != 20 {
				t.Fatalf("status %+v", s)
			}
		})
	}
}

// KeepConnection leaves the connection alone, whatever happens on it.
func TestDeadLinkIsKept(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	cfg := hasty(quick())
	cfg.KeepConnection = true
	kept := b.open(cfg)
	other := b.open(hasty(quick())) // it shares the connection, and so the wish
	b.expect(kept, 1, 10)
	b.expect(other, 1, 10)
	undo := b.fault("black-hole")
	b.publish(11, 20)
	b.await("replace_failed", 6)
	undo()
	b.expect(kept, 11, 20)
	b.expect(other, 11, 20)
	if n := b.count("connection_forced") + b.count("disconnected"); n != 0 {
		t.Fatalf("the connection was touched\n%s", b.story())
	}
}

// A connection that gives up is closed for good: Next, Err, Status and the event
// tell it alike, and it ends every reader of the connection.
func TestDeadLinkThatGivesUp(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	b.nc = b.connect(b.server.URL(), nats.MaxReconnects(3), nats.ReconnectWait(10*time.Millisecond))
	var err error
	b.js, err = jetstream.New(b.nc)
	b.must(err)
	r := b.open(calm())
	b.expect(r, 1, 5)
	b.eventually("the rest is buffered", func() bool { return r.Status().Buffered == 5 })
	b.must(b.server.Kill(b.ctx))
	b.expect(r, 6, 10) // what was read before is handed out first
	_, err = r.Next(b.ctx)
	b.sameStory(r, err, reader.ErrConnectionClosed, "connection closed")
	if e := b.await("failed", 1); e.Cause != "connection_closed" {
		t.Fatalf("cause %s", e.Cause)
	}
	if _, err := reader.Open(b.ctx, b.js, calm()); !errors.Is(err, reader.ErrConnectionClosed) {
		t.Fatalf("opened on a closed connection: %v", err)
	}
	b.must(b.server.Start(b.ctx))
}

// sameStory says that a reader that ended tells why in the same way everywhere.
func (b *bed) sameStory(r *reader.Reader, next error, want error, parts ...string) {
	b.Helper()
	if !errors.Is(next, want) {
		b.Fatalf("Next gave %v, want %v\n%s", next, want, b.story())
	}
	<-r.Done()
	if err := r.Err(); !errors.Is(err, want) || err.Error() != next.Error() {
		b.Fatalf("Err gives %v, Next gave %v", err, next)
	}
	if _, again := r.Next(b.ctx); !errors.Is(again, want) || again.Error() != next.Error() {
		b.Fatalf("the next Next gave %v, the first %v", again, next)
	}
	e := b.await("failed", 1)
	if !errors.Is(e.Err, want) || e.Err.Error() != next.Error() {
		b.Fatalf("the event tells %v, Next gave %v", e.Err, next)
	}
	s := r.Status()
	if s.State != reader.StateClosed {
		b.Fatalf("state %s, want closed", s.State)
	}
	for _, part := range parts {
		if !contains(next, part) || !strings.Contains(s.LastError, part) {
			b.Fatalf("Next gave %v, status %q: want %q named", next, s.LastError, part)
		}
	}
}

// Over a link on which one message takes longer than silence, dead link and proof, the
// reader goes on. It was fast before: the connection is made anew once at most.
func TestDeadLinkIsNotASlowOne(t *testing.T) {
	t.Parallel()
	const messages = 3
	b := withStream(t)
	big := bytes.Repeat([]byte("x"), 1<<20-1024)
	for range messages {
		_, err := b.admin.Publish(b.ctx, "orders.big", big)
		b.must(err)
	}
	r := b.open(hasty(quick()))
	b.fault("bandwidth(rate=" + num(slowRate) + ")")
	for i := range messages {
		m, err := r.Next(b.ctx)
		b.must(err)
		if m.Sequence != uint64(i+1) {
			t.Fatalf("got sequence %d, want %d\n%s", m.Sequence, i+1, b.story())
		}
	}
	t.Logf("connection made anew %d times, %d sessions, %v", b.count("connection_forced"), r.Status().Session.Number, r.Status().Replaced)
	if n := b.count("connection_forced"); n > 1 {
		t.Fatalf("the connection was made anew %d times\n%s", n, b.story())
	}
}
