package reader_test

import (
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
)

// A reader that is to stop at the end comes to it, whatever is purged under it: what
// is left up to the end is read, and io.EOF comes.
func TestStopAtEndIsReachedThroughAPurge(t *testing.T) {
	t.Parallel()
	mixed := func(b *backlog) { b.turns(20, "orders.a", "orders.b") }
	both := []string{"orders.a", "orders.b"}
	for _, c := range []struct {
		name     string
		subjects []string
		start    reader.Start
		durable  bool
		fill     func(*backlog)
		act      func(*backlog)
	}{
		{name: "all", act: func(b *backlog) { b.purge("orders.>") }},
		{name: "all of a durable", durable: true, act: func(b *backlog) { b.purge("orders.>") }},
		{name: "all, and more comes", act: func(b *backlog) { b.purge("orders.>"); b.pub("orders.a", 20) }},
		{name: "all of a durable, and more comes", durable: true, act: func(b *backlog) { b.purge("orders.>"); b.pub("orders.a", 20) }},
		{name: "all but the end", act: func(b *backlog) { b.purge("orders.>", jetstream.WithPurgeKeep(1)) }},
		{name: "up to the middle", act: func(b *backlog) { b.purge("orders.>", jetstream.WithPurgeSequence(25)) }},
		{name: "the subject of a filter", subjects: both[:1], act: func(b *backlog) { b.purge("orders.a") }},
		{name: "the subject of a filter, and more comes", subjects: both[:1], act: func(b *backlog) { b.purge("orders.a"); b.pub("orders.b", 5) }},
		{name: "the subject of a filter of a durable", subjects: both[:1], durable: true, act: func(b *backlog) { b.purge("orders.a") }},
		{name: "one of two filters", subjects: both, act: func(b *backlog) { b.purge("orders.a") }},
		{name: "both of two filters", subjects: both, act: func(b *backlog) { b.purge("orders.>") }},
		{name: "both of two filters of a durable", subjects: both, durable: true, act: func(b *backlog) { b.purge("orders.>") }},
		{name: "the last of each subject", start: reader.FromLastPerSubject(), fill: func(b *backlog) {
			for i := range 20 {
				b.pub("orders.a."+num(i), 2)
			}
		}, act: func(b *backlog) { b.purge("orders.>") }},
		{name: "the last message deleted", act: func(b *backlog) {
			s, err := b.admin.Stream(b.ctx, b.stream)
			b.must(err)
			b.must(s.DeleteMsg(b.ctx, uint64(b.last)))
		}},
		{name: "all, and the consumer is deleted", act: func(b *backlog) {
			b.purge("orders.>")
			for _, name := range b.consumers() {
				b.must(b.admin.DeleteConsumer(b.ctx, b.stream, name))
			}
		}},
		{name: "all, and the subscription is lost", act: func(b *backlog) { b.fault("drop-subscription"); b.purge("orders.>") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBacklog(t)
			if c.fill == nil {
				c.fill = mixed
			}
			c.fill(b)
			end := uint64(b.last)
			cfg := quick()
			if c.durable {
				cfg.Durable = "d"
			}
			cfg.Subjects, cfg.Start, cfg.StopAtEnd, cfg.Pull.MaxMessages = c.subjects, c.start, true, 5
			r := b.open(cfg)
			b.full(r)
			c.act(b)
			left := b.held(0)
			var read []int
			for {
				m, err := r.Next(b.ctx)
				if errors.Is(err, io.EOF) {
					break
				}
				b.must(err)
				if c.durable {
					b.must(m.Ack())
				}
				if n := len(read); m.Sequence > end && !c.durable || n > 0 && int(m.Sequence) <= read[n-1] {
					t.Fatalf("read %d after %v, the end is %d\n%s", m.Sequence, read, end, b.story())
				}
				read = append(read, int(m.Sequence))
			}
			t.Logf("read %v", read)
			for _, n := range left {
				if (len(c.subjects) != 1 || n%2 == 1) && uint64(n) <= end && !slices.Contains(read, n) {
					t.Errorf("%d is there, and was not read\n%s", n, b.story())
				}
			}
		})
	}
}
