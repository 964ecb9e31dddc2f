package reader_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
)

// shared makes the durable "d" as an operator would.
func (b *bed) shared(cfg jetstream.ConsumerConfig) jetstream.Consumer {
	b.Helper()
	cfg.Durable, cfg.AckPolicy = "d", jetstream.AckExplicitPolicy
	c, err := b.admin.CreateConsumer(b.ctx, b.stream, cfg)
	b.must(err)
	return c
}

// The stream is removed and made again, and the durable with it.
func TestDurableOnARecreatedStream(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 20)
	r := b.open(durable())
	b.handle(r, 20)
	b.recreate()
	b.publish(101, 110)
	b.handle(r, 10)
	b.await("session_replaced", 1)
	if n := b.count("stream_reset"); n != 1 {
		t.Fatalf("the re-created stream was told %d times\n%s", n, b.story())
	}
	if n := b.count("session_replaced"); n != 1 {
		t.Fatalf("%d replacements were told\n%s", n, b.story())
	}
}

// A durable with an inactive threshold is made early and read late.
func TestDurableThatLapsedBeforeOpen(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.shared(jetstream.ConsumerConfig{InactiveThreshold: 100 * time.Millisecond})
	b.publish(1, 5)
	b.eventually("the server has let it go", func() bool { return len(b.consumers()) == 0 })
	b.handle(b.open(durable()), 5)
}

// A handler works for longer than the consumer may be inactive, and no other
// message may be out meanwhile. That is nobody's failure.
func TestHandlerSlowerThanTheThreshold(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	c := b.shared(jetstream.ConsumerConfig{InactiveThreshold: 4 * time.Second, MaxAckPending: 1, AckWait: time.Minute})
	b.publish(1, 3)
	cfg := durable()
	cfg.Pull.Expires = 2 * time.Second
	r := b.open(cfg)
	m, err := r.Next(b.ctx)
	b.must(err)
	pulls := r.Status().Pulls
	b.eventually("pulls have come and gone for longer than the threshold", func() bool { return r.Status().Pulls >= pulls+3 })
	b.must(m.DoubleAck(b.ctx))
	b.handle(r, 2)
	if s := r.Status(); s.LastError != "" || s.Session.Number != 1 {
		t.Fatalf("status %+v\n%s", s, b.story())
	}
	info, err := c.Info(b.ctx)
	b.must(err)
	if !info.Created.Equal(c.CachedInfo().Created) || info.NumRedelivered != 0 {
		t.Fatalf("consumer %+v", info)
	}
}

// A call of Next that gave up leaves nothing behind that takes a message.
func TestNextThatGaveUpTakesNothing(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	private, shared := b.open(calm()), b.open(durable())
	ended, cancel := context.WithCancel(b.ctx)
	cancel()
	for i := 1; i <= 200; i++ {
		for _, r := range []*reader.Reader{private, shared} {
			if _, err := r.Next(ended); !errors.Is(err, context.Canceled) {
				t.Fatalf("round %d: %v", i, err)
			}
		}
		b.publish(i, i)
		b.expect(private, i, i)
		m, err := shared.Next(b.ctx)
		b.must(err)
		if m.Sequence != uint64(i) || m.NumDelivered != 1 {
			t.Fatalf("round %d: sequence %d, delivered %d times", i, m.Sequence, m.NumDelivered)
		}
		b.must(m.DoubleAck(b.ctx))
	}
	if s := private.Status(); s.Gaps != 0 || s.Session.Number != 1 {
		t.Fatalf("status %+v\n%s", s, b.story())
	}
}

// A pull of a reader that was closed takes no message from the next one.
func TestPullOfAClosedReaderTakesNothing(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	for i := 1; i <= 20; i++ {
		first := b.open(durable())
		b.must(first.Close(b.ctx))
		b.publish(i, i)
		second := b.open(durable())
		m, err := second.Next(b.ctx)
		b.must(err)
		if m.Sequence != uint64(i) || m.NumDelivered != 1 {
			t.Fatalf("round %d: sequence %d, delivered %d times", i, m.Sequence, m.NumDelivered)
		}
		b.must(m.DoubleAck(b.ctx))
		b.must(second.Close(b.ctx))
	}
}

// Three readers share a durable that lets one pull wait. Those without a place are
// told so, or hear nothing; none of them ends, and none takes a message away.
func TestOnePlaceForThreeReaders(t *testing.T) {
	t.Parallel()
	const count = 60
	b := withStream(t)
	b.shared(jetstream.ConsumerConfig{MaxWaiting: 1})
	var mu sync.Mutex
	acked := map[uint64]bool{}
	ctx, stop := context.WithCancel(b.ctx)
	var working sync.WaitGroup
	defer working.Wait()
	defer stop()
	for n := range 3 {
		cfg := durable()
		cfg.Observer = b.observe
		opened := make(chan struct{})
		working.Go(func() {
			r, err := reader.Open(ctx, b.js, cfg) // one without a place may not come so far
			close(opened)
			for err == nil {
				var m reader.Message
				if m, err = r.Next(ctx); err == nil && m.DoubleAck(ctx) == nil {
					mu.Lock()
					acked[m.Sequence] = true
					mu.Unlock()
					b.nudge()
				}
			}
			if ctx.Err() == nil {
				t.Error(err)
			}
			if r != nil {
				_ = r.Close(b.ctx)
			}
		})
		if n == 0 {
			<-opened // it has the place
		}
	}
	b.publish(1, count)
	b.eventually("all are acked", func() bool { mu.Lock(); defer mu.Unlock(); return len(acked) == count })
	if failed, pauses := b.count("replace_failed"), b.count("retry_waiting"); failed > pauses+3 {
		t.Fatalf("%d attempts failed with %d pauses behind them\n%s", failed, pauses, b.story())
	}
}

// What a consumer allows a pull to ask for is kept to from the first one.
func TestLimitsOfADurableAreKept(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.shared(jetstream.ConsumerConfig{MaxRequestBatch: 3, MaxRequestExpires: 2 * time.Second, MaxRequestMaxBytes: 1000})
	b.publish(1, 50)
	r := b.open(durable())
	b.handle(r, 50)
	if s := r.Status(); s.LastError != "" || s.Session.Number != 1 || b.count("pull_refused") != 0 {
		t.Fatalf("status %+v\n%s", s, b.story())
	}
}

// What was handed out before a drain is acked behind it: nothing comes again.
func TestDrainedDurableRedeliversNothing(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	c := b.shared(jetstream.ConsumerConfig{})
	b.publish(1, 10)
	r := b.open(durable())
	b.eventually("all is buffered", func() bool { return r.Status().Buffered == 10 })
	drained := make(chan error, 1)
	go func() { drained <- r.Drain(b.ctx) }()
	var held []reader.Message
	for range 10 {
		m, err := r.Next(b.ctx)
		b.must(err)
		held = append(held, m)
	}
	b.must(<-drained)
	for _, m := range held {
		b.must(m.DoubleAck(b.ctx))
	}
	info, err := c.Info(b.ctx)
	b.must(err)
	if info.NumAckPending != 0 || info.NumRedelivered != 0 || info.AckFloor.Stream != 10 {
		t.Fatalf("consumer %+v", info)
	}
	b.publish(11, 11)
	m, err := b.open(durable()).Next(b.ctx)
	b.must(err)
	if m.Sequence != 11 {
		t.Fatalf("sequence %d came again", m.Sequence)
	}
}

// A consumer with priority groups wants pulls that name one: Open says at once that
// it is not for a reader.
func TestPriorityGroupIsRefused(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 3)
	if b.older(11) {
		b.shared(jetstream.ConsumerConfig{})
		b.handle(b.open(durable()), 3) // there are none
		return
	}
	b.shared(jetstream.ConsumerConfig{PriorityPolicy: jetstream.PriorityPolicyPinned, PriorityGroups: []string{"g"}, PinnedTTL: time.Minute})
	if r, err := reader.Open(b.ctx, b.js, durable()); !errors.Is(err, reader.ErrConfig) || !contains(err, "priority groups") {
		t.Fatalf("got %v and %v, want ErrConfig that says why", r, err)
	}
}

// An operator gives a durable priority groups under its reader: it is told why it
// reads no more when the pull that waits is over, at a pace, and reads on without them.
func TestPriorityGroupUnderTheReader(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 5)
	plain := jetstream.ConsumerConfig{Durable: "d", AckPolicy: jetstream.AckExplicitPolicy}
	b.shared(plain)
	cfg := durable()
	cfg.Pull.Expires = 4 * time.Second
	r := b.open(cfg)
	b.handle(r, 5)
	if !b.older(11) {
		grouped := plain
		grouped.PriorityPolicy, grouped.PriorityGroups, grouped.PinnedTTL = jetstream.PriorityPolicyPinned, []string{"g"}, time.Minute
		_, err := b.admin.UpdateConsumer(b.ctx, b.stream, grouped)
		b.must(err)
		b.eventually("it is told", func() bool { return strings.Contains(r.Status().LastError, "riority") })
		if s := r.Status(); s.State != reader.StateRecovering {
			t.Fatalf("status %+v\n%s", s, b.story())
		}
		b.await("retry_waiting", 3)
		_, err = b.admin.UpdateConsumer(b.ctx, b.stream, plain)
		b.must(err)
	}
	b.publish(6, 10)
	b.handle(r, 5)
}

// noPause shows, on a server that knows no pause, that there is none to withstand.
func (b *bed) noPause(consumer string) {
	b.Helper()
	short, cancel := context.WithTimeout(b.ctx, 200*time.Millisecond)
	defer cancel()
	if p, err := b.admin.PauseConsumer(short, b.stream, consumer, time.Now().Add(time.Hour)); err == nil {
		b.Fatalf("paused by a server that does not know how: %+v", p)
	}
}

// full waits until the reader has read ahead as far as it may, and gives how far.
func (b *bed) full(r *reader.Reader) int {
	b.Helper()
	b.await("buffer_full", 1)
	return r.Status().Buffered
}

// An operator's pause amid a backlog holds while the server is restarted within it,
// and the durable stays the one it was.
func TestPausedDurableThroughARestart(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	c := b.shared(jetstream.ConsumerConfig{})
	b.publish(1, 20)
	cfg := durable()
	cfg.Pull.MaxMessages = 5
	r := b.open(cfg)
	n := b.full(r)
	if b.older(11) {
		b.noPause("d")
		b.handle(r, 20)
		return
	}
	_, err := b.admin.PauseConsumer(b.ctx, b.stream, "d", time.Now().Add(time.Hour))
	b.must(err)
	b.handle(r, n)
	b.await("paused", 1)
	b.must(b.server.Term(b.ctx))
	b.must(b.server.Start(b.ctx))
	b.eventually("the operator is back", b.direct.IsConnected)
	b.await("paused", 2)
	b.eventually("the state is paused", func() bool { return r.Status().State == reader.StatePaused })
	if s := r.Status(); s.Delivered != uint64(n) || s.APIRequests["consumer_create"] != 0 {
		t.Fatalf("status %+v\n%s", s, b.story())
	}
	_, err = b.admin.ResumeConsumer(b.ctx, b.stream, "d")
	b.must(err)
	b.handle(r, 20-n)
	info, err := c.Info(b.ctx)
	b.must(err)
	if !info.Created.Equal(c.CachedInfo().Created) {
		t.Fatal("the durable was made again")
	}
}

// A private reader's consumer is paused: it is told, and nothing is replaced.
func TestPausedConsumerIsLeftAlone(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 20)
	cfg := calm()
	cfg.Pull.MaxMessages = 5
	r := b.open(cfg)
	n := b.full(r)
	consumer := r.Status().Session.Consumer
	if b.older(11) {
		b.noPause(consumer)
		b.expect(r, 1, 20)
		return
	}
	_, err := b.admin.PauseConsumer(b.ctx, b.stream, consumer, time.Now().Add(time.Hour))
	b.must(err)
	b.expect(r, 1, n)
	b.await("paused", 1)
	b.eventually("the state is paused", func() bool { return r.Status().State == reader.StatePaused })
	if s := r.Status(); s.LastError != "" {
		t.Fatalf("status %+v\n%s", s, b.story())
	}
	_, err = b.admin.ResumeConsumer(b.ctx, b.stream, consumer)
	b.must(err)
	b.expect(r, n+1, 20)
	if n := r.Status().Session.Number; n != 1 {
		t.Fatalf("session %d\n%s", n, b.story())
	}
}
