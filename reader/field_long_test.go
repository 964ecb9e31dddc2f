//go:build long

package reader_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A stream that is gone for ten seconds costs ten requests at most.
func TestLongStreamGoneForTenSeconds(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	r := b.open(quick())
	b.expect(r, 1, 10)
	before := requests(r)
	b.must(b.admin.DeleteStream(b.ctx, b.stream))
	b.quiet(10 * time.Second)
	asked := requests(r) - before
	_, err := b.admin.CreateStream(b.ctx, jetstream.StreamConfig{Name: b.stream, Subjects: []string{"orders.>"}})
	b.must(err)
	b.publish(11, 20)
	b.expect(r, 11, 20)
	t.Logf("%d requests while the stream was gone, %d in all", asked, requests(r)-before)
	if asked > 10 {
		t.Fatalf("%d requests in 10s\n%s", asked, b.story())
	}
	b.held(10 * time.Second)
}

// The server is away for a minute: nothing is asked of anybody, next to nothing is
// told, and hardly any work is done.
func TestLongServerAwayForAMinute(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	r := b.open(quick())
	b.expect(r, 1, 10)
	b.must(b.server.Term(b.ctx))
	b.await("disconnected", 1)
	before, told := r.Status(), len(b.seen())
	b.quiet(time.Minute)
	if s := r.Status(); s.Pulls != before.Pulls || requests(r) != total(before.APIRequests) || len(b.seen())-told > 30 {
		t.Fatalf("status %+v, %d events\n%s", s, len(b.seen())-told, b.story())
	}
	b.must(b.server.Start(b.ctx))
	b.eventually("the publisher is back", b.direct.IsConnected)
	b.publish(11, 20)
	b.expect(r, 11, 20)
	b.held(time.Minute)
}

// The link carries nothing for longer than the consumer may be inactive; the server
// lets it go while the client takes itself for connected.
func TestLongConsumerReapedBehindADeadLink(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	cfg := quick()
	cfg.KeepConnection = true
	r := b.open(cfg)
	b.expect(r, 1, 10)
	began := time.Now()
	undo := b.fault("black-hole")
	b.quiet(expires + threshold)
	b.eventually("the server has let the consumer go", func() bool { return len(b.consumers()) == 0 })
	b.publish(11, 20)
	undo()
	hole := time.Since(began)
	b.expect(r, 11, 20)
	b.held(hole)
}
