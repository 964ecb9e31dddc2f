package reader_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/reader"
)

// remake deletes the stream and makes it again, with n messages from 1 on.
func (b *bed) remake(n int) {
	b.Helper()
	s, err := b.admin.Stream(b.ctx, b.stream)
	b.must(err)
	cfg := s.CachedInfo().Config
	b.must(b.admin.DeleteStream(b.ctx, b.stream))
	_, err = b.admin.CreateStream(b.ctx, cfg)
	b.must(err)
	b.publish(1, n)
}

// dropDurable deletes the durable.
func (b *bed) dropDurable() { b.dropConsumer("d") }

// dropConsumer deletes a consumer. 2.10.7 may fail at the files of one that is just
// being read or acked (10051).
func (b *bed) dropConsumer(name string) {
	b.Helper()
	b.eventually(name+" is deleted", func() bool {
		err := b.admin.DeleteConsumer(b.ctx, b.stream, name)
		return err == nil || errors.Is(err, jetstream.ErrConsumerNotFound)
	})
}

// heldRequest waits until the proxy holds back a request of that kind.
func (b *bed) heldRequest(kind string) {
	b.Helper()
	b.eventually("a request "+kind+" is on its way", func() bool {
		for _, f := range b.wire() {
			if f.Direction == proxy.Up && f.Verb == proxy.PUB && strings.Contains(f.Subject, kind) {
				return true
			}
		}
		return false
	})
}

// The stream is made again between the reader's look at it and the create of its
// durable: nothing of the new stream is skipped.
func TestDurableInAStreamRemadeBetweenLookAndCreate(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 40)
	cfg := durable()
	cfg.Retry.AttemptTimeout = 20 * time.Second
	r := b.open(cfg)
	b.handle(r, 40)
	b.must(r.Replace(b.ctx)) // it learns what is acknowledged
	b.record()
	release := b.fault("delay-api(delay=20s,what=request,subject=CONSUMER.CREATE.>)")
	b.dropDurable()
	b.heldRequest("CONSUMER.CREATE")
	b.remake(10)
	release()
	b.expectAcked(r, 1, 10)
	if e := b.await("stream_reset", 1); e.Sequence != 40 {
		t.Fatalf("%+v", e)
	}
	b.publish(11, 20)
	b.expectAcked(r, 11, 20)
}

// expectAcked is expect for a durable.
func (b *bed) expectAcked(r *reader.Reader, from, to int) {
	b.Helper()
	seen := map[string]bool{}
	for len(seen) < to-from+1 {
		m, err := r.Next(b.ctx)
		if err != nil {
			b.Fatalf("after %d: %v\n%s", len(seen), err, b.story())
		}
		if seq := int(m.Sequence); seq < from || seq > to {
			b.Fatalf("sequence %d, want %d to %d\n%s", seq, from, to, b.story())
		}
		seen[string(m.Data)] = true
		b.must(m.Ack())
	}
}

// Open looks, the stream is made again, then the durable is created: what is read is
// known to be of the new stream.
func TestDurableOpenedInAStreamRemadeMeanwhile(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	cfg := durable()
	cfg.Observer = b.observe
	cfg.Retry.AttemptTimeout = 20 * time.Second
	b.record()
	release := b.fault("delay-api(delay=20s,what=request,subject=CONSUMER.CREATE.>)")
	opened := b.opening(cfg)
	b.heldRequest("CONSUMER.CREATE")
	b.remake(5)
	release()
	r := <-opened
	if r == nil {
		return
	}
	b.Cleanup(func() { _ = r.Close(b.ctx) })
	m, err := r.Next(b.ctx)
	b.must(err)
	b.must(m.DoubleAck(b.ctx))
	s, err := b.admin.Stream(b.ctx, b.stream)
	b.must(err)
	if got, want := m.Position().StreamCreated, s.CachedInfo().Created; !got.Equal(want) {
		t.Fatalf("read from a stream created at %s, it is the one of %s", got, want)
	}
	b.handle(r, 4)
	b.dropDurable()
	b.publish(6, 8)
	b.handle(r, 3)
	if n := b.count("stream_reset"); n != 0 {
		t.Fatalf("%d resets are told\n%s", n, b.story())
	}
}

// An interest stream drops what is published while its durable is gone: that is told,
// and what comes after is read.
func TestDurableOnAnInterestStreamIsMadeAgain(t *testing.T) {
	t.Parallel()
	b := withStream(t, func(c *jetstream.StreamConfig) { c.Retention = jetstream.InterestPolicy })
	r := b.open(hasty(durable()))
	b.publish(1, 10)
	b.handle(r, 10)
	b.must(r.Replace(b.ctx))
	undo := b.fault("api-timeout")
	b.dropDurable()
	b.await("replace_failed", 1)
	b.publish(11, 15)
	undo()
	e := b.await("missed", 1)
	if e.From != 11 || e.To != 15 {
		t.Fatalf("missed %d to %d, want 11 to 15\n%s", e.From, e.To, b.story())
	}
	b.publish(16, 20)
	b.handle(r, 5)
}

// A message that waits here for its caller longer than half of ack_wait is kept in
// progress: it is not sent again.
func TestDurableKeepsBufferedMessagesInProgress(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.explicit(func(c *jetstream.ConsumerConfig) { c.AckWait = 2 * time.Second })
	b.record()
	r := b.open(durable())
	b.publish(1, 5)
	b.eventually("three ack waits have passed", func() bool {
		kept := 0
		for _, f := range b.wire() {
			if f.Direction == proxy.Up && f.Verb == proxy.PUB && strings.Contains(f.Subject, "$JS.ACK.") {
				kept++
			}
		}
		return kept >= 5*3*2
	})
	for i := 1; i <= 5; i++ {
		m, err := r.Next(b.ctx)
		b.must(err)
		b.must(m.DoubleAck(b.ctx))
		if int(m.Sequence) != i || m.NumDelivered != 1 {
			t.Fatalf("sequence %d, delivery %d, want %d and 1", m.Sequence, m.NumDelivered, i)
		}
	}
}

// A reader of the last of each subject sees the last of each subject again when the
// stream was made again, not all of it.
func TestLastPerSubjectInAStreamMadeAgain(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publishTo("orders.a", 1, 3)
	b.publishTo("orders.b", 4, 5)
	cfg := hasty(calm())
	cfg.Start = reader.FromLastPerSubject()
	r := b.open(cfg)
	b.expect(r, 3, 3)
	b.expect(r, 5, 5)
	undo := b.fault("api-timeout")
	b.must(b.admin.DeleteStream(b.ctx, b.stream))
	_, err := b.admin.CreateStream(b.ctx, jetstream.StreamConfig{Name: b.stream, Subjects: []string{"orders.>"}})
	b.must(err)
	b.publishTo("orders.a", 11, 13)
	b.publishTo("orders.b", 14, 15)
	b.publishTo("orders.c", 16, 16)
	undo()
	for _, want := range []int{13, 15, 16} {
		b.expect(r, want, want)
	}
	b.publishTo("orders.a", 17, 19)
	b.expect(r, 17, 19)
	b.await("stream_reset", 1)
}

// A durable that is deleted is made again behind what was acknowledged here, not where
// it stood when it was last looked at: what was handled does not come again.
func TestDurableIsMadeAgainBehindItsAcks(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 900)
	r := b.open(durable())
	for i := 1; i <= 900; i++ {
		m, err := r.Next(b.ctx)
		b.must(err)
		if i == 900 {
			b.must(m.DoubleAck(b.ctx))
			break
		}
		b.must(m.Ack())
	}
	b.dropDurable()
	b.await("session_replaced", 1)
	c, err := b.admin.Consumer(b.ctx, b.stream, "d")
	b.must(err)
	if at := c.CachedInfo().Config.OptStartSeq; at != 901 {
		t.Fatalf("made again from sequence %d, want 901\n%s", at, b.story())
	}
	b.publish(901, 1000)
	b.expectAcked(r, 901, 1000)
}

// A message of a durable that was deleted and made again is not acknowledged on the new
// one, which would begin behind it: it fails, and the message comes again.
func TestDurableMadeAgainTakesNoAckOfTheOneBefore(t *testing.T) {
	t.Parallel()
	b := withStream(t, func(c *jetstream.StreamConfig) { c.Retention = jetstream.WorkQueuePolicy })
	b.publish(1, 30)
	r := b.open(hasty(durable()))
	b.eventually("all is buffered", func() bool { return r.Status().Buffered == 30 })
	first, err := r.Next(b.ctx)
	b.must(err)
	undo := b.fault("api-timeout(pulls=true)") // the new one delivers nothing yet
	b.must(b.admin.DeleteConsumer(b.ctx, b.stream, "d"))
	b.await("replace_failed", 1)
	undo()
	b.await("session_replaced", 1)
	if err := first.Ack(); err == nil || !contains(err, "comes again") {
		t.Fatalf("the ack for a durable that is gone gave %v", err)
	}
	again := map[uint64]bool{}
	for len(again) < 30 {
		m, err := r.Next(b.ctx)
		b.must(err)
		if m.Ack() == nil {
			again[m.Sequence] = true
		}
	}
}
