package reader_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/reader"
)

// No pull waits when the consumer goes, so nothing tells: the next pull is answered
// 503 by newer servers and not at all by older ones.
func TestConsumerDeletedWhileNoPullIsOut(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 30)
	cfg := calm()
	cfg.Pull.MaxMessages = 10
	cfg.OnError = reader.OnErrorRaise
	r := b.open(cfg)
	c, err := b.admin.Consumer(b.ctx, b.stream, r.Status().Session.Consumer)
	b.must(err)
	b.eventually("the buffer is full and no pull waits", func() bool {
		info, err := c.Info(b.ctx)
		b.must(err)
		return r.Status().State == reader.StateBufferFull && info.NumWaiting == 0
	})
	consumer := r.Status().Session.Consumer
	b.must(b.admin.DeleteConsumer(b.ctx, b.stream, consumer))
	b.record()
	b.expect(r, 1, 30)
	if e := b.await("session_lost", 1); e.Cause != "consumer_gone" || e.Err != nil {
		t.Fatalf("lost: %+v\n%s", e, b.story())
	}
	if n := b.count("session_lost"); n != 1 {
		t.Fatalf("%d sessions were lost\n%s", n, b.story())
	}
	pulls := 0
	for _, f := range b.wire() {
		if f.Direction == proxy.Up && strings.HasSuffix(f.Subject, ".CONSUMER.MSG.NEXT.ORDERS."+consumer) {
			pulls++
		}
	}
	// One for each half of the buffer that got free, and no more for want of an answer.
	if pulls < 1 || pulls > 3 {
		t.Fatalf("%d pulls of a consumer that is gone\n%s", pulls, b.story())
	}
}

// A status is no message: it is not handed out, and no sign of life of a consumer
// that nobody answers for.
func TestNoRespondersIsNoSignOfLife(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	r := b.open(calm())
	b.expect(r, 1, 10)
	undo := b.fault("forge-status(code=503,on=pulls)")
	b.must(b.admin.DeleteConsumer(b.ctx, b.stream, r.Status().Session.Consumer))
	b.await("replace_failed", 3)
	if s := r.Status(); s.Delivered != 10 || s.Buffered != 0 || s.State != reader.StateRecovering {
		t.Fatalf("status %+v\n%s", s, b.story())
	}
	b.publish(11, 20)
	undo()
	b.expect(r, 11, 20)
}

// While there is no consumer nothing is pulled, however long that takes.
func TestNothingIsPulledWithoutAConsumer(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	r := b.open(hasty(calm()))
	b.expect(r, 1, 10)
	undo := b.fault("api-timeout(subject=CONSUMER.CREATE.>)")
	b.must(b.admin.DeleteConsumer(b.ctx, b.stream, r.Status().Session.Consumer))
	b.await("session_lost", 1)
	b.record()
	b.await("replace_failed", 4)
	for _, f := range b.wire() {
		if f.Direction == proxy.Up && strings.Contains(f.Subject, ".CONSUMER.MSG.NEXT.") {
			t.Fatalf("pulled: %+v", f)
		}
	}
	undo()
	b.publish(11, 20)
	b.expect(r, 11, 20)
}

// A reader that began by time goes on by sequence.
func TestFromTimeThroughAReplacement(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 20)
	s, err := b.admin.Stream(b.ctx, b.stream)
	b.must(err)
	m, err := s.GetMsg(b.ctx, 6)
	b.must(err)
	cfg := calm()
	cfg.Start = reader.FromTime(m.Time)
	cfg.Pull.MaxMessages = 5
	r := b.open(cfg)
	b.expect(r, 6, 15)
	b.must(b.admin.DeleteConsumer(b.ctx, b.stream, r.Status().Session.Consumer))
	b.publish(21, 30)
	b.expect(r, 16, 30)
}

// One of two subjects is purged under the reader of both.
func TestPurgeOfOneSubjectLeavesTheOther(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publishTo("orders.a", 1, 20)
	b.publishTo("orders.b", 21, 40)
	cfg := calm()
	cfg.Subjects = []string{"orders.a", "orders.b"}
	cfg.Pull.MaxMessages = 5
	r := b.open(cfg)
	b.expect(r, 1, 3)
	s, err := b.admin.Stream(b.ctx, b.stream)
	b.must(err)
	b.must(s.Purge(b.ctx, jetstream.WithPurgeSubject("orders.a")))
	b.publishTo("orders.b", 41, 50)
	for last, want := 3, 21; last < 50; {
		m, err := r.Next(b.ctx)
		b.must(err)
		n, err := strconv.Atoi(string(m.Data))
		b.must(err)
		if n <= last || n > 20 && n != want {
			t.Fatalf("read %d after %d\n%s", n, last, b.story())
		}
		if last = n; n > 20 {
			want++
		}
	}
}

// The consumer of a Name survives the server, and is in the way of nobody.
func TestNameThroughARestart(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	cfg := calm()
	cfg.Name = "mine"
	r := b.open(cfg)
	b.expect(r, 1, 10)
	for i := range 3 {
		b.must(b.server.Kill(b.ctx))
		b.must(b.server.Start(b.ctx))
		b.eventually("the publisher is back", b.direct.IsConnected)
		b.publish(11+i, 11+i)
		b.expect(r, 11+i, 11+i)
	}
	b.eventually("its consumer is there", func() bool { return slices.Equal(b.consumers(), []string{"mine"}) })
	if n := b.count("replace_failed"); n > 3 {
		t.Fatalf("%d attempts failed in three restarts\n%s", n, b.story())
	}
}

// The stream does not hold the subject yet when the reader is opened.
func TestSubjectIsWaitedFor(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	cfg := calm()
	cfg.Stream, cfg.Subjects = "", []string{"late.x"}
	cfg.WaitForStream = true
	cfg.Observer = b.observe
	opened := b.opening(cfg)
	b.await("stream_missing", 1)
	_, err := b.admin.UpdateStream(b.ctx, jetstream.StreamConfig{Name: b.stream, Subjects: []string{"orders.>", "late.>"}})
	b.must(err)
	b.publishTo("late.x", 1, 5)
	r := <-opened
	if r == nil {
		t.Fatal("not opened")
	}
	b.expect(r, 1, 5)
	b.must(r.Close(b.ctx))
}
