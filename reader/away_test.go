package reader_test

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/reader"
)

// Open waits for a connection that is away, and survives one that comes and goes.
func TestOpenWhileTheConnectionIsAway(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 5)
	b.must(b.server.Kill(b.ctx))
	b.eventually("the connection is away", func() bool { return !b.nc.IsConnected() })
	b.fault("lose-reply(subject=STREAM.INFO.>,limit=1)")
	opened := b.opening(hasty(quick()))
	b.must(b.server.Start(b.ctx))
	r := <-opened
	if r == nil {
		t.Fatal("not opened")
	}
	b.expect(r, 1, 5)
	b.must(r.Close(b.ctx))
}

func TestOpenWhileTheConnectionFlaps(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 5)
	ctx, stop := context.WithCancel(b.ctx)
	flapped := make(chan struct{})
	go func() {
		defer close(flapped)
		again := time.NewTicker(3 * time.Millisecond)
		defer again.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-again.C:
				_ = b.nc.ForceReconnect()
			}
		}
	}()
	results := make(chan *reader.Reader, 8)
	for range cap(results) {
		go func() {
			short, cancel := context.WithTimeout(b.ctx, time.Second)
			defer cancel()
			r, _ := reader.Open(short, b.js, quick()) // it may not come about in that time
			results <- r
		}()
	}
	var open []*reader.Reader
	for range cap(results) {
		if r := <-results; r != nil {
			open = append(open, r)
		}
	}
	stop()
	<-flapped
	for _, r := range open {
		b.expect(r, 1, 5)
		b.must(r.Close(b.ctx))
	}
}

// The server forgets every inbox of the connection, those for answers to requests
// included.
func TestForgottenReplyInboxes(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 5)
	r := b.open(hasty(quick()))
	b.expect(r, 1, 5)
	b.fault("drop-subscription(subject=_INBOX.>)")
	b.publish(6, 10)
	b.expect(r, 6, 10)
	b.fault("drop-subscription(subject=_INBOX.>)")
	b.publish(11, 15)
	b.expect(r, 11, 15)
}

// Pulls are lost for long; the wait for a proof has grown, and is not waited out
// once they arrive again.
func TestLostProbeIsSentAgain(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 5)
	r := b.open(quick())
	b.expect(r, 1, 5)
	undo := b.fault("api-timeout(subject=CONSUMER.MSG.NEXT.>,pulls=true)")
	b.must(b.admin.DeleteConsumer(b.ctx, b.stream, r.Status().Session.Consumer))
	b.await("replace_failed", 3)
	var failed int
	b.eventually("a later attempt has sent its pull twice", func() bool {
		var last time.Time
		failed = 0
		for _, e := range b.seen() {
			if e.Kind == "replace_failed" {
				failed, last = failed+1, e.Time
			}
		}
		n := 0
		for _, f := range b.proxy.Firings() {
			if f.Frame.Subject != "" && f.Time.After(last) {
				n++
			}
		}
		return n >= 2
	})
	undo()
	b.publish(6, 10)
	b.expect(r, 6, 10)
	if n := b.count("replace_failed"); n != failed {
		t.Fatalf("%d attempts failed, want %d: the one under way heals\n%s", n, failed, b.story())
	}
}

func TestDrainEndsWithTheLastMessage(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	r := b.open(calm())
	b.eventually("all is buffered", func() bool { return r.Status().Buffered == 10 })
	drained := make(chan error, 1)
	go func() { drained <- r.Drain(b.ctx) }()
	b.await("closed", 1)
	b.expect(r, 1, 10)
	b.must(<-drained)
	<-r.Done()
	if _, err := r.Next(b.ctx); !errors.Is(err, io.EOF) {
		t.Fatalf("got %v, want io.EOF", err)
	}
}

// A handler that the connection's owner sets while a reader is open stays.
func TestErrorHandlerOfTheOwnerStays(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	r := b.open(calm())
	var called atomic.Int32
	b.nc.SetErrorHandler(func(*nats.Conn, *nats.Subscription, error) { called.Add(1) })
	b.must(r.Close(b.ctx))
	b.nc.ErrorHandler()(b.nc, nil, errors.New("any"))
	if called.Load() != 1 {
		t.Fatal("the owner's handler was replaced")
	}
}

// Waiters whose context ends take no message with them.
func TestWaitersShareWhatComes(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	r := b.open(calm())
	const waiters, count = 20, 400
	got := make(chan uint64, count)
	ctx, stop := context.WithCancel(b.ctx)
	defer stop()
	for i := range waiters {
		go func() {
			for ctx.Err() == nil {
				// Half of them give up again and again.
				short, cancel := context.WithTimeout(ctx, time.Duration(1+i%2*100000)*time.Millisecond)
				m, err := r.Next(short)
				cancel()
				if err == nil {
					got <- m.Sequence
				}
			}
		}()
	}
	b.publish(1, count)
	seen := map[uint64]bool{}
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for len(seen) < count {
		select {
		case n := <-got:
			if seen[n] {
				t.Fatalf("sequence %d twice", n)
			}
			seen[n] = true
		case <-deadline.C:
			t.Fatalf("%d of %d messages", len(seen), count)
		}
	}
}

// TestConnectionShorterThanAPause: each connection ends as soon as the reader waits on
// it, and so none lives as long as a pause.
func TestConnectionShorterThanAPause(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 5)
	cfg := calm()
	cfg.Retry.Initial, cfg.Retry.Max = 2*time.Second, 2*time.Second
	r := b.open(cfg)
	b.expect(r, 1, 5)
	b.must(b.admin.DeleteConsumer(b.ctx, b.stream, r.Status().Session.Consumer))
	b.publish(6, 10)
	cuts := 0
	b.eventually("the session is replaced", func() bool {
		if waits := b.count("retry_waiting"); waits > cuts {
			cuts = waits
			b.fault("cut")
		}
		return b.count("session_replaced") > 0
	})
	if cuts < 2 {
		t.Fatalf("the connection was cut %d times\n%s", cuts, b.story())
	}
	b.expect(r, 6, 10)
}
