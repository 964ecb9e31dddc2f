package reader_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/reader"
)

func isRefusal(f proxy.Frame) bool {
	return f.Direction == proxy.Down && f.Status == 409 && strings.Contains(f.Text, "Exceeded")
}

func (b *bed) refusals() (n int) {
	for _, f := range b.wire() {
		if isRefusal(f) {
			n++
		}
	}
	return n
}

// A limit of the server stands in the create's answer: no pull is ever refused.
func TestLimitsOfTheServerAreObeyed(t *testing.T) {
	t.Parallel()
	b := withServer(t, lab.Options{Config: "jetstream { limits { max_request_batch: 7 } }\n"})
	b.publish(1, 100)
	b.record()
	r := b.open(calm())
	b.expect(r, 1, 100)
	b.must(b.admin.DeleteConsumer(b.ctx, b.stream, r.Status().Session.Consumer))
	b.publish(101, 120)
	b.expect(r, 101, 120)
	if n := b.refusals(); n != 0 || b.count("pull_refused") != 0 {
		t.Fatalf("%d pulls were refused\n%s", n, b.story())
	}
}

// The limits an operator set on a durable are obeyed from the first pull on; one
// that is tightened under the reader costs one pull, and no session.
func TestLimitsOfADurableAreObeyed(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	limits := jetstream.ConsumerConfig{Durable: "d", AckPolicy: jetstream.AckExplicitPolicy,
		MaxRequestBatch: 10, MaxRequestExpires: 20 * time.Second, MaxRequestMaxBytes: 2000}
	_, err := b.admin.CreateConsumer(b.ctx, b.stream, limits)
	b.must(err)
	b.publish(1, 50)
	b.record()
	r := b.open(durable())
	b.handle(r, 50)
	if n := b.refusals(); n != 0 {
		t.Fatalf("%d pulls were refused\n%s", n, b.story())
	}
	for _, c := range []struct {
		word string
		set  func()
	}{
		{"MaxRequestBatch", func() { limits.MaxRequestBatch = 3 }},
		{"MaxRequestExpires", func() { limits.MaxRequestExpires = 10 * time.Second }},
		{"MaxRequestMaxBytes", func() { limits.MaxRequestMaxBytes = 500 }},
	} {
		c.set()
		_, err := b.admin.UpdateConsumer(b.ctx, b.stream, limits)
		b.must(err)
		from := int(r.Status().Cursor) + 1
		b.publish(from, from+29)
		b.handle(r, 30)
	}
	for n := range b.count("pull_refused") {
		if e := b.await("pull_refused", n+1); e.Code != 409 || !strings.Contains(e.Text, "Exceeded MaxRequest") {
			t.Fatalf("told %+v", e)
		}
	}
	if n := b.count("pull_refused"); n < 1 || n > 3 || b.count("session_lost") != 0 {
		t.Fatalf("%d refusals, want one for each limit at most, and no session lost\n%s", n, b.story())
	}
}

// A message beyond the bytes of a pull is named once and pulled alone, whoever set
// the bound; pulls do not loop.
func TestLimitsSmallerThanAMessage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		open func(*bed) *reader.Reader
	}{
		{"of the reader", func(b *bed) *reader.Reader {
			cfg := calm()
			cfg.Pull.MaxBytes = 1 << 10
			return b.open(cfg)
		}},
		{"of the durable", func(b *bed) *reader.Reader {
			_, err := b.admin.CreateConsumer(b.ctx, b.stream, jetstream.ConsumerConfig{Durable: "d", AckPolicy: jetstream.AckExplicitPolicy, MaxRequestMaxBytes: 1 << 10})
			b.must(err)
			return b.open(durable())
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := withStream(t)
			b.publish(1, 3)
			_, err := b.admin.Publish(b.ctx, "orders.big", make([]byte, 1<<19))
			b.must(err)
			b.publish(5, 9)
			b.record()
			r := c.open(b)
			for want := uint64(1); want <= 9; want++ {
				m, err := r.Next(b.ctx)
				b.must(err)
				if m.Sequence != want {
					t.Fatalf("got sequence %d, want %d\n%s", m.Sequence, want, b.story())
				}
			}
			if n := b.count("message_too_large"); n != 1 {
				t.Fatalf("told %d times\n%s", n, b.story())
			}
			if e := b.await("message_too_large", 1); e.Sequence != 3 || !strings.Contains(e.Text, "behind sequence 3 ") {
				t.Fatalf("told %d %q, want the message behind sequence 3", e.Sequence, e.Text)
			}
			pulls := 0
			for _, f := range b.wire() {
				if f.Direction == proxy.Up && strings.Contains(f.Subject, ".CONSUMER.MSG.NEXT.") {
					pulls++
				}
			}
			if pulls > 15 || b.count("session_lost") != 0 {
				t.Fatalf("%d pulls for 9 messages\n%s", pulls, b.story())
			}
		})
	}
}
