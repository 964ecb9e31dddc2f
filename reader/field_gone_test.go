package reader_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/reader"
)

// One message at a time, a handler that takes longer than the durable may be inactive
// and than its ack wait, and no pull out meanwhile: what is buffered keeps the durable,
// or the server lets it go under the handler. Either way the next message is read, and
// nothing is a failure.
func TestHandlerBehindAFullBuffer(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.shared(jetstream.ConsumerConfig{InactiveThreshold: time.Second, AckWait: time.Second})
	b.publish(1, 6)
	cfg := durable()
	cfg.OnError = reader.OnErrorRaise
	cfg.Pull.MaxMessages = 1
	b.record()
	r := b.open(cfg)
	first, err := r.Next(b.ctx)
	b.must(err)
	b.eventually("three thresholds have passed, or the durable is gone", func() bool {
		kept := 0
		for _, f := range b.wire() {
			if f.Direction == proxy.Up && strings.HasPrefix(f.Subject, "$JS.ACK.") {
				kept++ // one each half of the ack wait
			}
		}
		return kept >= 6 || len(b.consumers()) == 0
	})
	_ = first.Ack() // it may have been too late for it
	b.handle(r, 5)
	if s := r.Status(); s.LastError != "" {
		t.Fatalf("status %+v\n%s", s, b.story())
	}
}

// The consumer is deleted and another made under its name while no pull is out, so
// that nothing tells. What the other one sends is taken only where it is the next
// message in order; it is nobody's to delete but its owner's.
func TestAnotherConsumerUnderTheName(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]uint64{
		"from the first message": 1, "from amid what was read": 3, "from further on": 15, "and nothing more is read": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := withStream(t)
			b.publish(1, 20)
			cfg := hasty(calm())
			cfg.Name = "mine"
			cfg.Pull.MaxMessages = 5
			r := b.open(cfg)
			b.full(r)
			b.dropConsumer("mine")
			_, err := b.admin.CreateConsumer(b.ctx, b.stream, jetstream.ConsumerConfig{
				Name: "mine", AckPolicy: jetstream.AckNonePolicy, InactiveThreshold: time.Hour,
				DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: max(start, 1),
			})
			b.must(err)
			read := r.Status().Buffered
			if start == 0 {
				b.closedBeside(r)
				return
			}
			b.expect(r, 1, read)
			for read < 20 { // as far as the other one serves
				if told := strings.Contains(r.Status().LastError, reader.ErrNameInUse.Error()); told {
					if c := b.consumers(); !slices.Equal(c, []string{"mine"}) {
						t.Fatalf("consumers %v: the other's is gone\n%s", c, b.story())
					}
					b.dropConsumer("mine")
					b.expect(r, read+1, 20)
					return
				}
				b.eventually("there is a message, or it is told", func() bool {
					return r.Status().Buffered > 0 || r.Status().LastError != ""
				})
				for n := r.Status().Buffered; n > 0; n-- {
					read++
					b.expect(r, read, read)
				}
			}
			b.closedBeside(r)
		})
	}
}

// closedBeside closes a reader whose Name is another one's by now.
func (b *bed) closedBeside(r *reader.Reader) {
	b.Helper()
	b.must(r.Close(b.ctx))
	if c := b.consumers(); !slices.Equal(c, []string{"mine"}) {
		b.Fatalf("consumers %v: the other's is gone\n%s", c, b.story())
	}
}

// The same of a durable: whoever made it, the reader reads it, and everything that it
// holds.
func TestAnotherDurableUnderTheName(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.shared(jetstream.ConsumerConfig{})
	b.publish(1, 20)
	cfg := durable()
	cfg.Pull.MaxMessages = 2
	r := b.open(cfg)
	b.full(r)
	b.dropDurable()
	c := b.shared(jetstream.ConsumerConfig{AckWait: 3 * time.Second, Description: "another"})
	b.handle(r, 20)
	b.eventually("all is acked", func() bool {
		info, err := c.Info(b.ctx)
		b.must(err)
		return info.AckFloor.Stream == 20 && info.NumAckPending == 0 && info.Config.Description == "another"
	})
}

// A cluster comes back without the stream, and nobody makes it again: the reader
// ends with that reason, and says how far it came.
func TestStreamIsLostWithItsServer(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 20)
	cfg := calm()
	cfg.StreamGrace = 2 * time.Second
	r := b.open(cfg)
	b.expect(r, 1, 20)
	b.must(b.server.Kill(b.ctx))
	b.must(b.server.LoseStore())
	b.must(b.server.Start(b.ctx))
	_, err := r.Next(b.ctx)
	b.sameStory(r, err, reader.ErrStreamNotFound, "ORDERS", "10059")
	if p := r.Position(); p.Sequence != 20 || p.Stream != "ORDERS" || p.StreamCreated.IsZero() {
		t.Fatalf("position %+v", p)
	}
	if e := b.await("failed", 1); e.Sequence != 20 {
		t.Fatalf("told at %d, want 20", e.Sequence)
	}
}

// Every pull ends by itself and has a heartbeat: whatever is done to the reader, none
// can wait for ever.
func TestEveryPullEndsAndBeats(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	pulls := make(chan *nats.Msg, 10000)
	sub, err := b.direct.ChanSubscribe("$JS.API.CONSUMER.MSG.NEXT.>", pulls)
	b.must(err)
	b.publish(1, 5)
	_, err = b.admin.Publish(b.ctx, "orders.big", make([]byte, 4000))
	b.must(err)
	private := hasty(quick())
	private.Pull.MaxBytes = 1000
	r := b.open(private)
	b.sequences(r, 1, 2, 3, 4, 5, 6)
	d := b.open(durable())
	b.handle(d, 6)
	b.must(r.Replace(b.ctx))
	undo := b.fault("api-timeout")
	b.fault("drop-subscription")
	b.await("replace_failed", 3) // it gives the silent session a pull by then
	undo()
	b.publish(7, 10)
	b.sequences(r, 7, 8, 9, 10)
	b.must(r.Close(b.ctx))
	b.must(d.Close(b.ctx))
	b.must(sub.Drain())
	b.eventually("all pulls are here", func() bool { return !sub.IsValid() })
	if len(pulls) < 8 {
		t.Fatalf("%d pulls were seen", len(pulls))
	}
	for n := len(pulls); n > 0; n-- {
		m := <-pulls
		var p struct {
			Expires   time.Duration `json:"expires"`
			Heartbeat time.Duration `json:"idle_heartbeat"`
			NoWait    bool          `json:"no_wait"`
		}
		b.must(json.Unmarshal(m.Data, &p))
		if p.Expires <= 0 || p.Heartbeat <= 0 || p.Heartbeat > p.Expires/2 || p.NoWait {
			t.Fatalf("pull %s", m.Data)
		}
	}
}

// The owner of the connection allows its subscriptions a queue of ten, and the caller
// is slower than the publisher: nothing is dropped.
func TestSmallQueuesOfTheConnection(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.nc = b.connect(b.server.URL(), nats.SetCustomDialer(b.proxy.Dialer()), nats.SyncQueueLen(10))
	var err error
	b.js, err = jetstream.New(b.nc)
	b.must(err)
	cfg := calm()
	cfg.Pull.MaxMessages = 50
	r := b.open(cfg)
	b.publish(1, 200)
	b.full(r)
	b.expect(r, 1, 200)
	if s := r.Status(); s.Gaps != 0 || s.Missed != 0 || s.DuplicatesDropped != 0 {
		t.Fatalf("status %+v\n%s", s, b.story())
	}
}

// A work queue whose messages another consumer takes has none for a second one. The
// operator has to see the server's reason.
func TestWorkQueueOfAnotherConsumer(t *testing.T) {
	t.Parallel()
	b := withStream(t, func(c *jetstream.StreamConfig) { c.Retention = jetstream.WorkQueuePolicy })
	b.shared(jetstream.ConsumerConfig{})
	b.publish(1, 5)
	cfg := durable()
	cfg.Durable = "second"
	err := b.refused(cfg, "workqueue")
	if !errors.Is(err, reader.ErrConfig) || !contains(err, "10099") {
		t.Fatalf("got %v, want ErrConfig that says why", err)
	}
	b.handle(b.open(durable()), 5)
}
