package reader_test

import (
	"testing"

	"github.com/an-open-reader/nats-reader/reader"
)

func TestReadsWhatIsThereAndWhatComes(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 500)
	r := b.open(calm())
	b.expect(r, 1, 500)
	b.publish(501, 1000)
	b.expect(r, 501, 1000)
	if s := r.Status(); s.Delivered != 1000 || s.Cursor != 1000 || s.Session.Number != 1 {
		t.Fatalf("status %+v", s)
	}
	b.eventually("it is idle", func() bool { return r.Status().State == reader.StateIdle })
}

func TestConsumerDeletedIsReplacedAtOnce(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	r := b.open(calm())
	b.expect(r, 1, 10)
	b.must(b.admin.DeleteConsumer(b.ctx, b.stream, r.Status().Session.Consumer))
	b.publish(11, 20)
	b.expect(r, 11, 20)
	if e := b.await("session_replaced", 1); e.Cause != "consumer_deleted" || e.Session != 2 {
		t.Fatalf("replaced: %+v", e)
	}
}

func TestLostSubscriptionIsReplaced(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	r := b.open(quick())
	b.expect(r, 1, 10)
	b.fault("drop-subscription")
	b.publish(11, 20)
	b.expect(r, 11, 20)
	if e := b.await("session_replaced", 1); e.Cause != "answers_lost" {
		t.Fatalf("replaced: %+v", e)
	}
	b.await("session_retired", 1)
	b.alone(r)
}
