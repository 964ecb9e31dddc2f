//go:build long

package reader_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/reader"
)

func isPull(f proxy.Frame) bool {
	return f.Direction == proxy.Up && (f.Verb == proxy.PUB || f.Verb == proxy.HPUB) && strings.Contains(f.Subject, ".CONSUMER.MSG.NEXT.")
}

func isPingPong(f proxy.Frame) bool { return f.Verb == proxy.PING || f.Verb == proxy.PONG }

func isStatus(code int) func(proxy.Frame) bool {
	return func(f proxy.Frame) bool { return f.Direction == proxy.Down && f.Verb == proxy.HMSG && f.Status == code }
}

func countFrames(frames []proxy.Frame, is func(proxy.Frame) bool) (n int) {
	for _, f := range frames {
		if is(f) {
			n++
		}
	}
	return n
}

// An idle stream costs a pull each 30 seconds, its end, and heartbeats: nothing
// else is on the wire, as seen by the proxy that carries it.
func TestLongIdleStreamOnTheWire(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.record()
	r := b.open(quick())
	b.eventually("the pull after the first one is out", func() bool { return countFrames(b.wire(), isPull) >= 2 })
	before := r.Status()
	b.record()
	b.quiet(2 * expires)
	frames := b.wire()
	pulls, ends := countFrames(frames, isPull), countFrames(frames, isStatus(408))
	beats, pings := countFrames(frames, isStatus(100)), countFrames(frames, isPingPong)
	t.Logf("idle for %s: %d pulls, %d ends of a pull, %d heartbeats, %d pings and pongs", 2*expires, pulls, ends, beats, pings)
	if other := len(frames) - pulls - ends - beats - pings; other != 0 {
		for _, f := range frames {
			t.Logf("%s %s %s status=%d %s", f.Direction, f.Verb, f.Subject, f.Status, f.Text)
		}
		t.Fatalf("%d frames on the wire are none of these", other)
	}
	// Of the first pull there is up to a second left, with a heartbeat each 100 ms.
	if most := int(2*expires/heartbeat) + 10; pulls < 1 || pulls > 3 || ends > 3 || beats < most/2 || beats > most {
		t.Fatalf("%d pulls, %d ends, %d heartbeats: not a pull each %s and a heartbeat each %s", pulls, ends, beats, expires, heartbeat)
	}
	if now := r.Status(); total(now.APIRequests) != total(before.APIRequests) || now.Session.Number != 1 {
		t.Fatalf("status %+v", now)
	}
	b.publish(1, 1)
	b.expect(r, 1, 1)
}

// The last message before a quiet time is the one that no later message tells of.
func TestLongLastMessageBeforeQuietIsDropped(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	r := b.open(quick())
	b.expect(r, 1, 10)
	const held = 200 * time.Millisecond // by the proxy, to see that it was the last
	for n := 11; n <= 13; n++ {
		b.idle(r)
		undo := b.fault("drop-message(last=" + held.String() + ")")
		began := time.Now()
		b.publish(n, n)
		b.expect(r, n, n)
		took := time.Since(began)
		undo()
		t.Logf("message %d was dropped and read after %s", n, took.Round(time.Millisecond))
		if limit := 2*heartbeat + held + time.Second; took > limit {
			t.Fatalf("read after %s, not within two heartbeats\n%s", took, b.story())
		}
	}
	if n := b.count("gap"); n != 3 || len(b.proxy.Firings()) < 3 {
		t.Fatalf("%d gaps, %d firings\n%s", n, len(b.proxy.Firings()), b.story())
	}
}

// The server of an idle reader is killed and restarted; what is published after
// that is read, every time. Sessions that die this young are paced by the policy.
func TestLongServerKilledFiftyTimes(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 1)
	r := b.open(quick())
	b.expect(r, 1, 1)
	var longest, down time.Duration
	for n := 2; n <= 51; n++ {
		b.idle(r)
		began := time.Now()
		b.must(b.server.Kill(b.ctx))
		b.must(b.server.Start(b.ctx))
		down = max(down, time.Since(began))
		b.publish(n, n)
		began = time.Now()
		b.expect(r, n, n)
		if took := time.Since(began); took > longest {
			longest = took
			t.Logf("round %d: %s", n-1, took.Round(time.Millisecond))
		}
	}
	t.Logf("killed 50 times, read 50 of 50, at the latest %s after the server had the message", longest.Round(time.Millisecond))
	b.held(down)
	b.eventually("one consumer is left", func() bool { return len(b.consumers()) == 1 })
}

// Opening and closing leaves goroutines, subscriptions and consumers as they were.
func TestLongThousandCycles(t *testing.T) {
	b := withStream(t)
	b.publish(1, 1)
	cycle := func() {
		r, err := reader.Open(b.ctx, b.js, quick())
		b.must(err)
		b.expect(r, 1, 1)
		b.must(r.Close(b.ctx))
	}
	cycle() // what nats.go keeps for a connection's life is there after the first
	goroutines, subscriptions := runtime.NumGoroutine(), b.nc.NumSubscriptions()
	began := time.Now()
	for range 1000 {
		cycle()
	}
	t.Logf("1000 cycles in %s, %d goroutines before", time.Since(began).Round(time.Millisecond), goroutines)
	b.eventually("goroutines, subscriptions and consumers are as before", func() bool {
		return runtime.NumGoroutine() <= goroutines && b.nc.NumSubscriptions() == subscriptions && len(b.consumers()) == 0
	})
}
