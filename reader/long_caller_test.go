//go:build long

package reader_test

import (
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/reader"
)

// A caller that stays away for three times the threshold loses nothing and sees
// no error: with a full buffer the consumer expires, which is ordinary; with room
// the pulls go on without the caller.
func TestLongCallerStaysAway(t *testing.T) {
	for _, c := range []struct {
		name     string
		messages int
		replaced bool
	}{
		{"full buffer", 50, true},
		{"room in the buffer", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := withStream(t)
			b.publish(1, 200)
			cfg := quick()
			cfg.OnError = reader.OnErrorRaise
			cfg.Pull.MaxMessages = c.messages
			r := b.open(cfg)
			b.expect(r, 1, 10)
			b.quiet(threshold)
			b.publish(201, 400)
			b.quiet(2 * threshold)
			b.expect(r, 11, 400)
			b.publish(401, 410)
			b.expect(r, 401, 410)
			s := r.Status()
			if s.LastError != "" || s.Missed != 0 || (s.Session.Number > 1) != c.replaced {
				t.Fatalf("status %+v\n%s", s, b.story())
			}
			b.eventually("one consumer is left", func() bool { return len(b.consumers()) == 1 })
		})
	}
}

// Large messages and a caller that works on each: the read-ahead stays bounded,
// nothing is sent twice, nobody is cut off as a slow consumer, and the caller waits
// for no message but the first ones. What counts is the time it waits, since a busy
// machine makes its own work longer.
func TestLongSlowCallerOfLargeMessages(t *testing.T) {
	const count, size, work, limit = 600, 256 << 10, 20 * time.Millisecond, 13 * time.Second
	b := withStream(t)
	b.fill(count, size)
	before := b.proxy.Traffic()
	began := time.Now()
	r := b.open(quick())
	waited := time.Since(began)
	for i := range uint64(count) {
		asked := time.Now()
		m, err := r.Next(b.ctx)
		b.must(err)
		waited += time.Since(asked)
		if m.Sequence != i+1 || len(m.Data) != size {
			t.Fatalf("message %d: sequence %d of %d bytes\n%s", i+1, m.Sequence, len(m.Data), b.story())
		}
		b.quiet(work)
	}
	took := time.Since(began)
	traffic, s := b.proxy.Traffic(), r.Status()
	ratio := float64(traffic.Down.Bytes-before.Down.Bytes) / (count * size)
	t.Logf("%d x %d KB with %s each: %s (ideal %s), of which the caller waited %s; wire bytes x%.3f, pulls %d",
		count, size>>10, work, took.Round(time.Millisecond), count*work, waited.Round(time.Millisecond), ratio, s.Pulls)
	if count*work+waited > limit || ratio > 1.01 {
		t.Fatalf("waited for %s and got x%.3f of the bytes, want at most %s and x1.01\n%s", waited, ratio, limit-count*work, b.story())
	}
	if s.Session.Number != 1 || s.Gaps != 0 || s.DuplicatesDropped != 0 || s.Missed != 0 || traffic.Accepted != 1 || b.nc.Stats().Reconnects != 0 {
		t.Fatalf("status %+v, connections %d", s, traffic.Accepted)
	}
	if refused := traffic.Down.Verbs[proxy.ERR].Frames; refused != 0 {
		t.Fatalf("%d -ERR from the server", refused)
	}
}
