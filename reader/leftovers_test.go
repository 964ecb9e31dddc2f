package reader_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
)

// counted watches how many consumers the stream has, until stop; most is the highest
// number that was ever seen.
func (b *bed) counted() (most func() int) {
	ctx, stop := context.WithCancel(b.ctx)
	n, done := 0, make(chan struct{})
	var mu sync.Mutex
	s, err := b.admin.Stream(ctx, b.stream)
	b.must(err)
	go func() {
		defer close(done)
		look := time.NewTicker(5 * time.Millisecond)
		defer look.Stop()
		for ctx.Err() == nil {
			// Not the count in the stream's state: a server may count what it is about
			// to forget.
			names, have := s.ConsumerNames(ctx), 0
			for range names.Name() {
				have++
			}
			mu.Lock()
			n = max(n, have)
			mu.Unlock()
			select {
			case <-look.C:
			case <-ctx.Done():
			}
		}
	}()
	b.Cleanup(func() { stop(); <-done })
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		return n
	}
}

// alone waits until the stream has one consumer: the one in use.
func (b *bed) alone(r *reader.Reader) {
	b.Helper()
	b.eventually("one consumer is left, the one in use", func() bool {
		c := b.consumers()
		return len(c) == 1 && c[0] == r.Status().Session.Consumer
	})
}

// condemn ends the session in use for good, while its consumer lives: the last
// message before a quiet time is lost.
func (b *bed) condemn(r *reader.Reader, next int) {
	b.Helper()
	n := b.count("session_replaced")
	b.fault("drop-message(nth=1,limit=1)")
	b.publish(next, next)
	b.expect(r, next, next)
	b.await("session_replaced", n+1)
}

// A status says that the consumer was deleted, and it was not: what it left is found
// and deleted, within the budget of a replacement.
func TestLeftoverOfAForgedDeletion(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*reader.Config, *jetstream.StreamConfig){
		"unique names": func(*reader.Config, *jetstream.StreamConfig) {},
		"one name":     func(c *reader.Config, _ *jetstream.StreamConfig) { c.Name = "mine" },
		"no slot":      func(_ *reader.Config, s *jetstream.StreamConfig) { s.MaxConsumers = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := calm()
			b := withStream(t, func(s *jetstream.StreamConfig) { change(&cfg, s) })
			b.publish(1, 10)
			r := b.open(cfg)
			b.expect(r, 1, 10)
			before := requests(r)
			b.fault("forge-status(code=409)")
			b.publish(11, 20)
			b.expect(r, 11, 20)
			b.await("session_replaced", 1)
			b.alone(r)
			if n := requests(r) - before; n > 4 {
				t.Fatalf("%d requests for one replacement, at most 4: %v\n%s", n, r.Status().APIRequests, b.story())
			}
			b.publish(21, 30)
			b.expect(r, 21, 30)
		})
	}
}

// Deletes are denied, or never answered, and sessions end again and again by a lost
// message: never more than three consumers, none left at the end, and the reader
// waits for no inactive threshold of 30 s.
func TestLeftoversThatCannotBeDeleted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault string
		most  int
		cfg   func(*reader.Config, *jetstream.StreamConfig)
	}{
		"denied":               {"permission-denied(subject=$JS.API.CONSUMER.DELETE.>)", 3, nil},
		"unanswered":           {"api-timeout(subject=CONSUMER.DELETE.>)", 3, nil},
		"answers lost":         {"lose-reply(subject=CONSUMER.DELETE.>)", 3, nil},
		"denied, one name":     {"permission-denied(subject=$JS.API.CONSUMER.DELETE.>)", 1, func(c *reader.Config, _ *jetstream.StreamConfig) { c.Name = "mine" }},
		"unanswered, one name": {"api-timeout(subject=CONSUMER.DELETE.>)", 1, func(c *reader.Config, _ *jetstream.StreamConfig) { c.Name = "mine" }},
		"denied, no slot":      {"permission-denied(subject=$JS.API.CONSUMER.DELETE.>)", 1, func(_ *reader.Config, s *jetstream.StreamConfig) { s.MaxConsumers = 1 }},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := hasty(quick())
			b := withStream(t, func(s *jetstream.StreamConfig) {
				if c.cfg != nil {
					c.cfg(&cfg, s)
				}
			})
			b.publish(1, 10)
			r := b.open(cfg)
			b.expect(r, 1, 10)
			most := b.counted()
			b.fault(c.fault)
			const ends = 6
			for i := range ends {
				b.condemn(r, 11+i)
			}
			b.alone(r)
			if n := most(); n > c.most {
				t.Fatalf("%d consumers of one reader at one time, at most %d\n%s", n, c.most, b.story())
			}
			// A session that waited for its leftovers to lapse by themselves asked for
			// that at every pause: about 60 times.
			if n := r.Status().APIRequests["consumer_info"]; n > 8*ends {
				t.Fatalf("%d asks for %d ends\n%s", n, ends, b.story())
			}
			t.Logf("longest deaf %s, requests %v", b.deafest().Round(time.Millisecond), r.Status().APIRequests)
		})
	}
}

// deafest is the longest time without an answer that was told.
func (b *bed) deafest() (longest time.Duration) {
	for _, e := range b.seen() {
		longest = max(longest, e.Deaf)
	}
	return longest
}

// Creates are done and not answered: what they made is found and deleted.
func TestLeftoversOfLostCreateReplies(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*reader.Config){
		"unique names": func(*reader.Config) {},
		"one name":     func(c *reader.Config) { c.Name = "mine" },
	} {
		t.Run(name, func(t *testing.T) {
			b := withStream(t)
			b.publish(1, 10)
			cfg := hasty(quick())
			change(&cfg)
			r := b.open(cfg)
			b.expect(r, 1, 10)
			most := b.counted()
			for i := range 3 {
				undo := b.fault("lose-reply(subject=CONSUMER.CREATE.>)")
				failed := b.count("replace_failed")
				b.must(b.admin.DeleteConsumer(b.ctx, b.stream, r.Status().Session.Consumer))
				b.await("replace_failed", failed+3)
				b.publish(11+i, 11+i)
				undo()
				b.expect(r, 11+i, 11+i)
			}
			b.alone(r)
			if n := most(); n > 3 {
				t.Fatalf("%d consumers of one reader at one time, at most 3\n%s", n, b.story())
			}
		})
	}
}

// Thirty ends, of every kind that a server or a wire can bring: the bound holds all
// along, nothing is lost, and one consumer is left.
func TestLeftoversOfThirtyEnds(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	r := b.open(quick())
	b.expect(r, 1, 10)
	most, next := b.counted(), 11
	ends := []func(){
		func() { _ = b.admin.DeleteConsumer(b.ctx, b.stream, r.Status().Session.Consumer) }, // it may be gone already
		func() { b.fault("drop-message(nth=1,limit=1)") },
		func() { b.fault("forge-status(code=409,limit=1)") },
		func() {
			b.fault("lose-reply(subject=CONSUMER.DELETE.>,for=300ms)")
			b.fault("drop-message(nth=1,limit=1)")
		},
		func() { b.fault("drop-subscription") },
		func() { b.fault("cut") },
	}
	for i := range 30 {
		replaced := b.count("session_replaced") + b.count("session_healed")
		ends[i%len(ends)]()
		b.publish(next, next+4)
		b.expect(r, next, next+4)
		next += 5
		b.eventually("it was replaced", func() bool { return b.count("session_replaced")+b.count("session_healed") > replaced })
	}
	b.alone(r)
	if n := most(); n > 3 {
		t.Fatalf("%d consumers of one reader at one time, at most 3\n%s", n, b.story())
	}
	t.Logf("longest deaf %s, requests %v", b.deafest().Round(time.Millisecond), r.Status().APIRequests)
}

// Creates that are done and not answered, then refused with "temporarily unavailable":
// the names that may have been made stay, so that there are never more than three
// consumers of the reader.
func TestNamesOfUnansweredCreatesStayThroughRefusals(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	cfg := quick()
	cfg.Retry.AttemptTimeout = 200 * time.Millisecond
	r := b.open(cfg)
	b.expect(r, 1, 10)
	most := b.counted()
	lost := b.fault("lose-reply(subject=CONSUMER.CREATE.>)")
	b.deafen(r)
	b.await("replace_failed", 2)
	b.fault("api-error(err_code=10008,subject=CONSUMER.CREATE.>)")
	lost()
	b.await("replace_failed", b.count("replace_failed")+4)
	b.fault("lose-reply(subject=CONSUMER.CREATE.>)")
	b.await("replace_failed", b.count("replace_failed")+3)
	b.proxy.Reset()
	b.publish(11, 20)
	b.expect(r, 11, 20)
	b.alone(r)
	if n := most(); n > 3 {
		t.Fatalf("%d consumers of one reader were there at a time, want at most 3\n%s", n, b.story())
	}
}
