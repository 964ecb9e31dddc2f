package reader_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
)

func durable() reader.Config {
	cfg := calm()
	cfg.Durable = "d"
	return cfg
}

// handle acks what it reads until it has seen want different sequences.
func (b *bed) handle(r *reader.Reader, want int) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	seen := map[uint64]bool{}
	for len(seen) < want {
		m, err := r.Next(ctx)
		if err != nil {
			b.Fatalf("after %d of %d: %v\n%s", len(seen), want, err, b.story())
		}
		if !b.acked(ctx, m) {
			continue // its consumer is gone; it comes again
		}
		seen[m.Sequence] = true
	}
}

// acked says whether the consumer took the ack; one that is gone never answers.
func (b *bed) acked(ctx context.Context, m reader.Message) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return m.DoubleAck(ctx) == nil
}

func TestDurableKeepsItsPlace(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 20)
	r := b.open(durable())
	b.handle(r, 10)
	b.must(r.Close(b.ctx))
	if c := b.consumers(); !slices.Equal(c, []string{"d"}) {
		t.Fatalf("consumers %v, want the durable alone", c)
	}
	b.handle(b.open(durable()), 10)
	c, err := b.admin.Consumer(b.ctx, b.stream, "d")
	b.must(err)
	info, err := c.Info(b.ctx)
	b.must(err)
	if info.AckFloor.Stream != 20 || info.NumAckPending != 0 {
		t.Fatalf("ack floor %d, ack pending %d", info.AckFloor.Stream, info.NumAckPending)
	}
}

func TestDurableIsBoundAnewAndNeverDeleted(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	r := b.open(durable())
	b.handle(r, 10)
	created := func() time.Time {
		c, err := b.admin.Consumer(b.ctx, b.stream, "d")
		b.must(err)
		return c.CachedInfo().Created
	}
	first := created()
	b.fault("drop-subscription")
	b.publish(11, 20)
	b.handle(r, 10)
	b.must(r.Replace(b.ctx))
	b.publish(21, 30)
	b.handle(r, 10)
	if !created().Equal(first) {
		t.Fatal("the durable was made again")
	}
	if n := r.Status().APIRequests["consumer_delete"]; n != 0 {
		t.Fatalf("%d deletes", n)
	}
}

func TestDurableDeletedIsMadeAgainAsItWas(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	_, err := b.admin.CreateConsumer(b.ctx, b.stream, jetstream.ConsumerConfig{
		Durable: "d", AckPolicy: jetstream.AckExplicitPolicy, DeliverPolicy: jetstream.DeliverNewPolicy,
		AckWait: 7 * time.Second, MaxAckPending: 77, Description: "as it was",
	})
	b.must(err)
	b.publish(1, 10)
	r := b.open(hasty(durable()))
	b.handle(r, 10)
	// What is published while the durable is gone is read, whatever it began with.
	undo := b.fault("api-timeout")
	b.must(b.admin.DeleteConsumer(b.ctx, b.stream, "d"))
	b.await("replace_failed", 1)
	b.publish(11, 20)
	undo()
	b.handle(r, 10)
	c, err := b.admin.Consumer(b.ctx, b.stream, "d")
	b.must(err)
	if cfg := c.CachedInfo().Config; cfg.AckWait != 7*time.Second || cfg.MaxAckPending != 77 || cfg.Description != "as it was" {
		t.Fatalf("configuration %+v", cfg)
	}
}

func TestDurableOnAWorkQueue(t *testing.T) {
	t.Parallel()
	b := withStream(t, func(c *jetstream.StreamConfig) { c.Retention = jetstream.WorkQueuePolicy })
	b.publish(1, 30)
	r := b.open(durable())
	b.handle(r, 10)
	b.must(b.admin.DeleteConsumer(b.ctx, b.stream, "d"))
	b.handle(r, 20)
	s, err := b.admin.Stream(b.ctx, b.stream)
	b.must(err)
	b.eventually("the queue is empty", func() bool {
		info, err := s.Info(b.ctx)
		b.must(err)
		return info.State.Msgs == 0
	})
}

func TestDurableWaitsForAcks(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	_, err := b.admin.CreateConsumer(b.ctx, b.stream, jetstream.ConsumerConfig{Durable: "d", AckPolicy: jetstream.AckExplicitPolicy, MaxAckPending: 5})
	b.must(err)
	b.publish(1, 20)
	r := b.open(durable())
	var held []reader.Message
	for range 5 {
		m, err := r.Next(b.ctx)
		b.must(err)
		held = append(held, m)
	}
	b.eventually("it waits for acks", func() bool { return r.Status().State == reader.StateWaitingAcks })
	if b.count("session_lost") != 0 {
		t.Fatalf("a session was blamed\n%s", b.story())
	}
	for _, m := range held {
		b.must(m.Ack())
	}
	b.handle(r, 15)
}

func TestDurableGivesBackWhatWasNotHandedOut(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	r := b.open(durable())
	m, err := r.Next(b.ctx)
	b.must(err)
	b.must(m.DoubleAck(b.ctx))
	b.eventually("the rest is buffered", func() bool { return r.Status().Buffered == 9 })
	b.must(r.Close(b.ctx))
	b.handle(b.open(durable()), 9)
}

// A durable that filters something else is not bound: its messages would be
// acked, and lost on a work queue, by who did not ask for them.
func TestDurableWithOtherFiltersIsRefused(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	_, err := b.admin.CreateConsumer(b.ctx, b.stream, jetstream.ConsumerConfig{
		Durable: "d", AckPolicy: jetstream.AckExplicitPolicy, FilterSubjects: []string{"orders.a", "orders.b"}})
	b.must(err)
	cfg := durable()
	cfg.Subjects = []string{"orders.c"}
	if _, err := reader.Open(b.ctx, b.js, cfg); !errors.Is(err, reader.ErrConfig) || !contains(err, "orders.a, orders.b") {
		t.Fatalf("got %v, want ErrConfig with the durable's filters", err)
	}
	b.publishTo("orders.b", 1, 3)
	for _, fits := range [][]string{nil, {"orders.b", "orders.a"}} {
		cfg.Subjects = fits
		r := b.open(cfg)
		b.publishTo("orders.a", 4, 6)
		b.handle(r, 3)
		b.must(r.Close(b.ctx))
	}
}

func TestDurableStopsAtEnd(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	cfg := durable()
	cfg.StopAtEnd = true
	r := b.open(cfg)
	b.handle(r, 10)
	b.end(r)
}

func TestPrivateMessagesTakeNoAck(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 1)
	r := b.open(calm())
	m, err := r.Next(b.ctx)
	b.must(err)
	for name, ack := range map[string]func() error{
		"Ack": m.Ack, "Nak": m.Nak, "Term": m.Term, "InProgress": m.InProgress,
		"DoubleAck":      func() error { return m.DoubleAck(b.ctx) },
		"NakWithDelay":   func() error { return m.NakWithDelay(time.Second) },
		"TermWithReason": func() error { return m.TermWithReason("x") },
	} {
		if err := ack(); !errors.Is(err, reader.ErrNotDurable) {
			t.Errorf("%s: %v, want ErrNotDurable", name, err)
		}
	}
	meta, err := m.JetStream().Metadata()
	b.must(err)
	if meta.Stream != "ORDERS" || meta.Sequence.Stream != 1 {
		t.Fatalf("metadata %+v", meta)
	}
}

// A stream with one slot: the consumer in use gets a new inbox.
func TestNoSlotForAReplacement(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		end  func(b *bed, r *reader.Reader)
	}{
		{"subscription lost", func(b *bed, r *reader.Reader) { b.fault("drop-subscription") }},
		{"consumer deleted", func(b *bed, r *reader.Reader) {
			b.must(b.admin.DeleteConsumer(b.ctx, b.stream, r.Status().Session.Consumer))
		}},
		{"replaced by wish", func(b *bed, r *reader.Reader) { b.must(r.Replace(b.ctx)) }},
		{"message lost", func(b *bed, r *reader.Reader) { b.fault("drop-message(nth=1,limit=1)") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := withStream(t, func(s *jetstream.StreamConfig) { s.MaxConsumers = 1 })
			b.publish(1, 10)
			r := b.open(quick())
			b.expect(r, 1, 10)
			c.end(b, r)
			b.publish(11, 30)
			b.expect(r, 11, 30)
			b.await("session_replaced", 1)
			b.alone(r)
		})
	}
}

// A private reader with a Name keeps it through its replacements.
func TestNameIsKept(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	cfg := quick()
	cfg.Name = "mine"
	r := b.open(cfg)
	b.expect(r, 1, 10)
	b.fault("drop-subscription")
	b.publish(11, 20)
	b.expect(r, 11, 20)
	b.must(b.admin.DeleteConsumer(b.ctx, b.stream, "mine"))
	b.publish(21, 30)
	b.expect(r, 21, 30)
	b.fault("drop-message(nth=1,limit=1)")
	b.publish(31, 40)
	b.expect(r, 31, 40)
	b.eventually("its consumer is there", func() bool { return slices.Equal(b.consumers(), []string{"mine"}) })
	if err := b.refused(cfg, reader.ErrNameInUse.Error()); !errors.Is(err, reader.ErrNameInUse) {
		t.Fatalf("a second reader of that name: %v, want ErrNameInUse", err)
	}
	b.publish(41, 50)
	b.expect(r, 41, 50)
	b.must(r.Close(b.ctx))
	if c := b.consumers(); len(c) != 0 {
		t.Fatalf("consumers %v after Close", c)
	}
}
