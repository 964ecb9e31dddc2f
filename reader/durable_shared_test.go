package reader_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
)

// explicit makes a durable as an operator would, with what change sets.
func (b *bed) explicit(change func(*jetstream.ConsumerConfig)) jetstream.Consumer {
	b.Helper()
	cfg := jetstream.ConsumerConfig{Durable: "d", AckPolicy: jetstream.AckExplicitPolicy}
	change(&cfg)
	c, err := b.admin.CreateConsumer(b.ctx, b.stream, cfg)
	b.must(err)
	return c
}

// tally is what several readers of one durable handled together.
type tally struct {
	mu   sync.Mutex
	seen map[uint64]uint64 // by stream sequence: the highest delivery count
	by   map[*reader.Reader]int
}

func newTally() *tally { return &tally{seen: map[uint64]uint64{}, by: map[*reader.Reader]int{}} }

func (y *tally) note(r *reader.Reader, m reader.Message) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.seen[m.Sequence] = max(y.seen[m.Sequence], m.NumDelivered)
	y.by[r]++
}

func (y *tally) count() int {
	y.mu.Lock()
	defer y.mu.Unlock()
	return len(y.seen)
}

// work reads and acks with r until the bed ends.
func (y *tally) work(b *bed, r *reader.Reader) {
	ctx, stop := context.WithCancel(b.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			m, err := r.Next(ctx)
			if err != nil {
				return
			}
			if m.DoubleAck(ctx) == nil {
				y.note(r, m)
				b.nudge()
			}
		}
	}()
	b.Cleanup(func() { stop(); <-done })
}

// A consumer that lets one pull wait: the reader has one out at a time, and its
// replacement takes the old one off before its own.
func TestDurableThatLetsOnePullWait(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.explicit(func(c *jetstream.ConsumerConfig) { c.MaxWaiting = 1 })
	cfg := durable()
	cfg.Pull.MaxMessages = 10
	b.publish(1, 100)
	r := b.open(cfg)
	b.handle(r, 100)
	for i := range 5 {
		b.must(r.Replace(b.ctx))
		b.publish(101+10*i, 110+10*i)
		b.handle(r, 10)
	}
	b.fault("drop-subscription")
	b.publish(151, 170)
	b.handle(r, 20)
	for _, e := range b.seen() {
		if e.Kind == "pull_refused" || e.Kind == "replace_failed" {
			t.Fatalf("%s: %v %s\n%s", e.Kind, e.Err, e.Text, b.story())
		}
	}
}

// No pull of ours that is left behind takes a message: what is published behind a
// replacement comes at once, not after ack_wait, which is longer than this test. (The
// server may count two deliveries: one that met the unsubscribe on its way.)
func TestDurableReplacedLeavesNoPullThatSwallows(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.explicit(func(c *jetstream.ConsumerConfig) { c.AckWait = time.Hour })
	cfg := durable()
	cfg.Retry.AttemptTimeout = 3 * time.Second // one request runs out of it
	r := b.open(cfg)
	for i := 1; i <= 50; i++ {
		b.must(r.Replace(b.ctx))
		b.publish(i, i)
		b.expect(r, i, i)
	}
	undo := b.fault("api-timeout")
	if err := r.Replace(b.ctx); err == nil {
		t.Fatal("replaced although nothing is answered")
	}
	undo()
	b.publish(51, 60)
	b.expect(r, 51, 60)
	c, err := b.admin.Consumer(b.ctx, b.stream, "d")
	b.must(err)
	info, err := c.Info(b.ctx)
	b.must(err)
	if info.NumAckPending != 60 || info.Delivered.Stream != 60 {
		t.Fatalf("%d wait for acks, delivered up to %d: want 60 and 60", info.NumAckPending, info.Delivered.Stream)
	}
}

// Several readers of one durable, on one connection and on others, each replaced again
// and again: together they handle every message.
func TestDurableSharedByReaders(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.explicit(func(c *jetstream.ConsumerConfig) { c.AckWait = 2 * time.Second })
	y := newTally()
	var readers []*reader.Reader
	for i := range 4 {
		js := b.js
		if i >= 2 {
			var err error
			js, err = jetstream.New(b.connect(b.server.URL(), nats.Name("other")))
			b.must(err)
		}
		cfg := durable()
		cfg.Pull.MaxMessages = 5
		r, err := reader.Open(b.ctx, js, cfg)
		b.must(err)
		b.Cleanup(func() { _ = r.Close(context.Background()) })
		readers = append(readers, r)
		y.work(b, r)
	}
	b.publish(1, 400)
	for i, r := range readers {
		b.must(r.Replace(b.ctx))
		b.publish(401+50*i, 450+50*i)
	}
	b.fault("drop-subscription")
	b.publish(601, 700)
	b.must(readers[0].Close(b.ctx))
	b.publish(701, 800)
	b.eventually("all are handled", func() bool { return y.count() == 800 })
	c, err := b.admin.Consumer(b.ctx, b.stream, "d")
	b.must(err)
	b.eventually("nothing waits", func() bool {
		info, err := c.Info(b.ctx)
		b.must(err)
		return info.NumPending == 0 && info.NumAckPending == 0
	})
	for i, r := range readers {
		if y.by[r] == 0 {
			t.Errorf("reader %d handled nothing", i)
		}
	}
}

// Three readers of a durable that lets one pull wait: together they read everything,
// whoever finds no room says so, and when one leaves the others go on.
func TestDurableThatLetsOnePullWaitSharedByThree(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.explicit(func(c *jetstream.ConsumerConfig) { c.MaxWaiting = 1 })
	y := newTally()
	first := b.open(durable())
	y.work(b, first)
	opened := make(chan error, 2)
	for range 2 {
		go func() {
			cfg := durable()
			cfg.Observer = b.observe
			r, err := reader.Open(b.ctx, b.js, cfg)
			if err == nil {
				b.Cleanup(func() { _ = r.Close(context.Background()) })
				y.work(b, r)
			}
			opened <- err
		}()
	}
	e := b.await("replace_failed", 1)
	if !contains(e.Err, "max_waiting") {
		t.Errorf("a reader that finds no room says %v, want one that names max_waiting", e.Err)
	}
	b.publish(1, 20)
	b.eventually("all is read", func() bool { return y.count() == 20 })
	b.must(first.Close(b.ctx))
	b.must(<-opened)
	b.publish(21, 30)
	b.eventually("another goes on", func() bool { return y.count() == 30 })
}
