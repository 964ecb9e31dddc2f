package reader_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
)

// prompt is what a call with an ended context may take.
const prompt = 10 * time.Millisecond

// quickly calls f until one call was prompt, which a busy machine may take several
// for, and fails when none was.
func (b *bed) quickly(what string, f func(ctx context.Context) error) {
	b.Helper()
	ended, cancel := context.WithCancel(b.ctx)
	cancel()
	best := time.Hour
	for range 50 {
		if best <= prompt {
			break
		}
		began := time.Now()
		err := f(ended)
		best = min(best, time.Since(began))
		if err == nil {
			b.Errorf("%s with an ended context: no error", what)
		}
	}
	if best > prompt {
		b.Errorf("%s with an ended context took %s at best, want %s\n%s", what, best, prompt, b.story())
	}
}

// In every state a call with an ended context returns at once, and Close ends the
// reader for everyone, also while the API does not answer and while the server is
// frozen with a publisher on the same connection.
func TestCallsReturnAtOnceInEveryState(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		state reader.State
		enter func(b *bed, r *reader.Reader)
	}{
		{"idle", reader.StateIdle, func(*bed, *reader.Reader) {}},
		{"buffer full", reader.StateBufferFull, func(b *bed, r *reader.Reader) { b.publish(11, 200) }},
		{"silent and API silent", reader.StateRecovering, func(b *bed, r *reader.Reader) {
			b.fault("api-timeout")
			b.fault("drop-subscription")
		}},
		{"disconnected", reader.StateDisconnected, func(b *bed, r *reader.Reader) { b.must(b.server.Kill(b.ctx)) }},
		{"frozen", reader.StateRecovering, func(b *bed, r *reader.Reader) { b.freezeUnderLoad() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := withStream(t)
			b.publish(1, 10)
			cfg := quick()
			cfg.Pull.MaxMessages = 50
			cfg.Retry.AttemptTimeout = 2 * time.Second
			r := b.open(cfg)
			b.expect(r, 1, 10)
			c.enter(b, r)
			b.eventually("the state is "+string(c.state), func() bool { return r.Status().State == c.state })
			b.quickly("Next", func(ctx context.Context) error { _, err := r.Next(ctx); return err })
			b.quickly("Replace", r.Replace)
			waiting := make(chan error, 1)
			if c.state != reader.StateBufferFull {
				go func() { _, err := r.Next(b.ctx); waiting <- err }()
			} else {
				waiting <- reader.ErrClosed
			}
			ended, cancel := context.WithCancel(b.ctx)
			cancel()
			began := time.Now()
			_ = r.Close(ended) // the server cannot be reached in most of these states
			if took := time.Since(began); took > cfg.Retry.AttemptTimeout/2 {
				t.Errorf("Close took %s: it waits for an answer", took)
			}
			if err := <-waiting; !errors.Is(err, reader.ErrClosed) {
				t.Errorf("a waiting Next got %v, want ErrClosed", err)
			}
			if _, err := r.Next(b.ctx); !errors.Is(err, reader.ErrClosed) {
				t.Errorf("Next after Close got %v, want ErrClosed", err)
			}
			if s := r.Status(); s.State != reader.StateClosed {
				t.Errorf("state after Close: %s", s.State)
			}
		})
	}
}

// freezeUnderLoad stops the server and publishes on the reader's connection until
// nats.go's buffers are full, which blocks nats.go.
func (b *bed) freezeUnderLoad() {
	b.must(b.server.Freeze())
	b.Cleanup(func() { b.must(b.server.Thaw()) })
	var end sync.WaitGroup
	stop := make(chan struct{})
	b.Cleanup(func() { close(stop); end.Wait() })
	body := make([]byte, 256<<10)
	end.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := b.nc.Publish("elsewhere", body); err != nil {
				return
			}
		}
	})
}

func TestCloseFromTheObserver(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	cfg := calm()
	ready := make(chan *reader.Reader, 1)
	closed := make(chan error, 1)
	cfg.Observer = func(e reader.Event) {
		b.observe(e)
		if e.Kind == "session_replaced" {
			closed <- (<-ready).Close(b.ctx)
		}
	}
	r := b.open(cfg)
	ready <- r
	b.expect(r, 1, 10)
	b.must(r.Replace(b.ctx))
	b.must(<-closed)
	if _, err := r.Next(b.ctx); !errors.Is(err, reader.ErrClosed) {
		t.Fatalf("got %v, want ErrClosed", err)
	}
	b.eventually("nothing is left", func() bool { return len(b.consumers()) == 0 })
}

func TestOpenCloseCyclesLeaveNothing(t *testing.T) {
	cycles := 300
	if testing.Short() {
		cycles = 50
	}
	b := withStream(t)
	b.publish(1, 3)
	cfg := calm()
	cfg.Observer = func(reader.Event) {}
	cycle := func() {
		r, err := reader.Open(b.ctx, b.js, cfg)
		b.must(err)
		b.expect(r, 1, 3)
		b.must(r.Close(b.ctx))
	}
	cycle()
	goroutines, subscriptions := runtime.NumGoroutine(), b.nc.NumSubscriptions()
	for range cycles {
		cycle()
	}
	b.eventually("goroutines and subscriptions are as they were", func() bool {
		return runtime.NumGoroutine() <= goroutines && b.nc.NumSubscriptions() == subscriptions
	})
	if c := b.consumers(); len(c) != 0 {
		t.Fatalf("%d consumers are left", len(c))
	}
}

func TestCloseTwiceAndAfterTheEnd(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 3)
	r := b.open(atEnd())
	b.expect(r, 1, 3)
	b.end(r)
	b.must(r.Close(b.ctx))
	b.must(r.Close(b.ctx))
	if err := r.Replace(b.ctx); !errors.Is(err, reader.ErrClosed) {
		t.Fatalf("Replace after the end: %v", err)
	}
}

func TestOpenEndsWithItsContext(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.fault("api-timeout")
	ctx, cancel := context.WithTimeout(b.ctx, 300*time.Millisecond)
	defer cancel()
	_, err := reader.Open(ctx, b.js, quick())
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v, want the context's error in the chain", err)
	}
}

// A caller that reads slowly, or not at all, loses nothing and sees no error,
// also when the server has deleted the consumer meanwhile.
func TestCallerWhoStopsReadingLosesNothing(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	cfg := calm()
	cfg.OnError = reader.OnErrorRaise
	cfg.Pull.MaxMessages = 20
	cfg.InactiveThreshold = time.Second
	r := b.open(cfg)
	b.publish(1, 200)
	b.await("buffer_full", 1)
	b.eventually("the server has let the consumer go", func() bool { return len(b.consumers()) == 0 })
	b.expect(r, 1, 200)
	if s := r.Status(); s.Missed != 0 {
		t.Fatalf("status %+v", s)
	}
}

// Large messages and a slow caller: what is read ahead stays within its bytes,
// and every byte crosses the wire once.
func TestReadAheadIsBoundedInBytes(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	const size, count = 256 << 10, 60
	body := make([]byte, size)
	for range count {
		_, err := b.admin.Publish(b.ctx, "orders.new", body)
		b.must(err)
	}
	cfg := calm()
	cfg.Pull.MaxBytes = 2 << 20
	b.record()
	r := b.open(cfg)
	for i := range count {
		m, err := r.Next(b.ctx)
		b.must(err)
		if m.Sequence != uint64(i+1) {
			t.Fatalf("sequence %d at %d", m.Sequence, i+1)
		}
		if s := r.Status(); s.Buffered > 9 {
			t.Fatalf("%d messages of %d bytes are buffered", s.Buffered, size)
		}
	}
	sent := 0
	for _, f := range b.wire() {
		if f.Stream != "" && f.Direction.String() == "down" {
			sent += f.Size
		}
	}
	if sent != size*count {
		t.Fatalf("%d bytes crossed the wire for %d", sent, size*count)
	}
}

func TestMessageLargerThanMaxBytesIsReadAlone(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	for _, size := range []int{10, 500_000, 10, 700_000, 10} {
		_, err := b.admin.Publish(b.ctx, "orders.new", make([]byte, size))
		b.must(err)
	}
	cfg := calm()
	cfg.Pull.MaxBytes = 64 << 10
	r := b.open(cfg)
	for i := range 5 {
		m, err := r.Next(b.ctx)
		b.must(err)
		if m.Sequence != uint64(i+1) {
			t.Fatalf("sequence %d at %d", m.Sequence, i+1)
		}
	}
	if n := b.count("message_too_large"); n != 1 {
		t.Fatalf("told %d times, want once", n)
	}
	if s := r.Status(); s.Pulls > 30 {
		t.Fatalf("%d pulls for 5 messages", s.Pulls)
	}
}

// A consumer that dies again and again is replaced at the policy's pace.
func TestConsumerThatDiesForEverIsPaced(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	cfg := calm()
	cfg.Retry.Initial, cfg.Retry.Max = 300*time.Millisecond, 2*time.Second
	r := b.open(cfg)
	b.expect(r, 1, 10)
	const long = 5 * time.Second
	began := time.Now()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	killed := 0
	for time.Since(began) < long || killed < 3 {
		select {
		case <-look.C:
		case <-b.ctx.Done():
			t.Fatalf("%d deletes\n%s", killed, b.story())
		}
		name := r.Status().Session.Consumer
		if err := b.admin.DeleteConsumer(b.ctx, b.stream, name); err == nil {
			killed++
		} else if !errors.Is(err, jetstream.ErrConsumerNotFound) {
			b.must(err)
		}
	}
	took := time.Since(began)
	b.publish(11, 20)
	b.expect(r, 11, 20)
	// The pauses of 0.3, 0.6, 1.2 and then 2 seconds.
	if n := r.Status().APIRequests["consumer_create"]; n > 12+uint64((took-long)/cfg.Retry.Max) {
		t.Fatalf("%d creates for %d deletes in %s\n%s", n, killed, took, b.story())
	}
}
