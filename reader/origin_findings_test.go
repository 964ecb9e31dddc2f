package reader_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
)

// What reviewers found in the reader this one comes from: each must be impossible here.

// The clean-up of a retired session deletes a durable that the new one still uses.
func TestOriginARetiredSessionLeavesTheDurable(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 20)
	r := b.open(durable())
	b.handle(r, 10)
	c, err := b.admin.Consumer(b.ctx, b.stream, "d")
	b.must(err)
	born := c.CachedInfo().Created
	for _, end := range []func(){
		func() { b.must(r.Replace(b.ctx)) },
		func() { b.fault("drop-subscription") },
		func() { b.fault("forge-status(code=409)") },
		func() { b.fault("cut") },
	} {
		n := b.count("session_replaced") + b.count("session_healed")
		end()
		// On a new connection the old session may also be heard again: a pull of it
		// still waits, and its inbox is subscribed anew.
		b.eventually("replaced or healed", func() bool {
			return b.count("session_replaced")+b.count("session_healed") > n
		})
	}
	b.handle(r, 10)
	b.must(r.Close(b.ctx))
	info, err := c.Info(b.ctx)
	b.must(err)
	if !info.Created.Equal(born) || info.AckFloor.Stream != 20 {
		t.Fatalf("made at %s, acknowledged up to %d: want %s and 20", info.Created, info.AckFloor.Stream, born)
	}
	if n := r.Status().APIRequests["consumer_delete"]; n != 0 {
		t.Fatalf("%d deletes", n)
	}
}

// A closing status counts as an empty batch: asked again at once, at the speed of the
// round trip, past the pacing and the total timeout.
func TestOriginBRefusedPullIsAPacedFailure(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Exceeded MaxWaiting", "Consumer is push based", "Something Never Heard Of",
		"in use: Exceeded MaxWaiting", "in use: Consumer is push based", "in use: Something Never Heard Of"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, inUse := strings.CutPrefix(name, "in use: ")
			b := withStream(t)
			b.publish(1, 10)
			cfg := calm()
			cfg.Retry.TotalTimeout = 3 * time.Second
			r := b.open(cfg)
			b.expect(r, 1, 10)
			b.fault(`forge-status(code=409,text="` + text + `",on=pulls)`)
			if inUse { // the pull that waits is refused, too
				b.fault(`forge-status(code=409,text="` + text + `")`)
				if e := b.await("session_lost", 1); e.Cause != "pull_refused" || !contains(e.Err, text) {
					t.Fatalf("lost by %s, %v", e.Cause, e.Err)
				}
			} else {
				b.deleteConsumer(r)
			}
			ctx, cancel := context.WithTimeout(b.ctx, patience)
			defer cancel()
			if _, err := r.Next(ctx); !errors.Is(err, reader.ErrGaveUp) || !contains(err, text) {
				t.Fatalf("got %v, want ErrGaveUp with the server's text\n%s", err, b.story())
			}
			// Pauses of 50 ms, doubled up to 500 ms, fit about ten times into 3 s.
			if n := r.Status().Pulls; n > 40 {
				t.Fatalf("%d pulls in 3 s: not paced", n)
			}
		})
	}
}

// A stream at max_consumers refuses the replacement's create: that ended the reader.
func TestOriginCStreamWithoutASlotForTheReplacement(t *testing.T) {
	t.Parallel()
	b := withStream(t, func(s *jetstream.StreamConfig) { s.MaxConsumers = 1 })
	b.publish(1, 10)
	r := b.open(hasty(quick()))
	b.expect(r, 1, 10)
	b.fault("drop-subscription")
	b.publish(11, 20)
	b.expect(r, 11, 20)
	// Somebody else takes the slot while ours is gone.
	undo := b.fault("api-timeout")
	b.must(b.admin.DeleteConsumer(b.ctx, b.stream, r.Status().Session.Consumer))
	_, err := b.admin.CreateConsumer(b.ctx, b.stream, jetstream.ConsumerConfig{Durable: "other"})
	b.must(err)
	undo()
	b.await("consumer_limit", b.count("consumer_limit")+3)
	if err := r.Err(); err != nil {
		t.Fatalf("the reader ended: %v", err)
	}
	b.must(b.admin.DeleteConsumer(b.ctx, b.stream, "other"))
	b.publish(21, 30)
	b.expect(r, 21, 30)
}

// A named reader is refused its own name (another start under the same name), or
// deletes the consumer that its replacement just took.
func TestOriginDNamedReaderIsReplaced(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	cfg := hasty(quick())
	cfg.Name = "mine"
	cfg.Start = reader.FromSequence(3)
	r := b.open(cfg)
	b.expect(r, 3, 10)
	next := 11
	for name, end := range map[string]func(){
		"subscription lost": func() { b.fault("drop-subscription") },
		"message lost":      func() { b.fault("drop-message(nth=1,limit=1)") },
		"deleted":           func() { b.must(b.admin.DeleteConsumer(b.ctx, b.stream, "mine")) },
		"said to be":        func() { b.fault("forge-status(code=409)") },
		"by wish":           func() { b.must(r.Replace(b.ctx)) },
		"create unanswered": func() {
			undo, n := b.fault("lose-reply(subject=CONSUMER.CREATE.>)"), b.count("replace_failed")
			b.must(b.admin.DeleteConsumer(b.ctx, b.stream, "mine"))
			b.await("replace_failed", n+2)
			undo()
		},
	} {
		n := b.count("session_replaced")
		end()
		b.publish(next, next+9)
		b.expect(r, next, next+9)
		next += 10
		b.eventually("replaced: "+name, func() bool { return b.count("session_replaced") > n })
		b.eventually("its consumer is there", func() bool { return slices.Equal(b.consumers(), []string{"mine"}) })
	}
	b.publish(next, next+9)
	b.expect(r, next, next+9)
	// Three times by the test; once more would be by the reader itself.
	if by := r.Status().Replaced; by["consumer_deleted"]+by["consumer_gone"] > 3 {
		t.Fatalf("replaced %v\n%s", by, b.story())
	}
}

// Messages that wait in the old session are skipped for good.
func TestOriginEQueuedMessagesSurviveTheReplacement(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 200)
	cfg := calm()
	cfg.Pull.MaxMessages = 50
	r := b.open(cfg)
	b.expect(r, 1, 1)
	for _, end := range []func(){
		func() { b.must(r.Replace(b.ctx)) },
		func() { b.must(b.admin.DeleteConsumer(b.ctx, b.stream, r.Status().Session.Consumer)) },
		func() { b.fault("cut") },
	} {
		b.eventually("messages are queued", func() bool { return r.Status().Buffered >= 25 })
		n := b.count("session_replaced")
		end()
		b.eventually("it is replaced or needs not be", func() bool {
			return b.count("session_replaced") > n || r.Status().State == reader.StateBufferFull
		})
	}
	b.expect(r, 2, 200)
	if s := r.Status(); s.Missed != 0 {
		t.Fatalf("%d missed", s.Missed)
	}
}

// A consumer blocks its own replacement: it holds the only slot, its name, or a place
// among those that cannot be deleted.
func TestOriginFConsumerDoesNotBlockItsReplacement(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault  string
		change func(*reader.Config, *jetstream.StreamConfig)
	}{
		"only slot":   {"", func(_ *reader.Config, s *jetstream.StreamConfig) { s.MaxConsumers = 1 }},
		"only name":   {"", func(r *reader.Config, _ *jetstream.StreamConfig) { r.Name = "mine" }},
		"undeletable": {"api-timeout(subject=CONSUMER.DELETE.>)", func(*reader.Config, *jetstream.StreamConfig) {}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := hasty(quick())
			b := withStream(t, func(s *jetstream.StreamConfig) { c.change(&cfg, s) })
			b.publish(1, 10)
			r := b.open(cfg)
			b.expect(r, 1, 10)
			if c.fault != "" {
				b.fault(c.fault)
			}
			for i := range 4 {
				b.condemn(r, 11+i) // its consumer lives, and cannot be read on
			}
			b.alone(r)
		})
	}
}

// Something other than a proven session starts the retry budget anew: an answered
// create, a status, an answered ask.
func TestOriginGOnlyAProofStartsTheBudgetAnew(t *testing.T) {
	t.Parallel()
	refuse := func(text string) func(*bed, *reader.Reader) {
		return func(b *bed, r *reader.Reader) {
			b.fault(`forge-status(code=409,text="` + text + `",on=pulls)`)
			b.deleteConsumer(r)
		}
	}
	for _, c := range []struct {
		name, consumer string
		end            func(*bed, *reader.Reader)
		answered       string // what is asked for again and again, and answered
	}{
		{"Leadership Change", "", refuse("Leadership Change"), "consumer_create"},
		{"Consumer Deleted", "", refuse("Consumer Deleted"), "consumer_create"},
		{"answered asks", "mine", func(b *bed, r *reader.Reader) {
			b.fault("api-timeout(subject=CONSUMER.MSG.NEXT.>,pulls=true)")
			b.fault("drop-subscription")
		}, "consumer_info"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := withStream(t)
			b.publish(1, 10)
			cfg := calm()
			cfg.Name = c.consumer
			cfg.Retry.TotalTimeout = 15 * time.Second // several attempts fit, also on a busy machine
			r := b.open(cfg)
			b.expect(r, 1, 10)
			c.end(b, r)
			ctx, cancel := context.WithTimeout(b.ctx, patience)
			defer cancel()
			if _, err := r.Next(ctx); !errors.Is(err, reader.ErrGaveUp) {
				t.Fatalf("got %v, want ErrGaveUp\n%s", err, b.story())
			}
			if n := r.Status().APIRequests[c.answered]; n < 3 {
				t.Fatalf("%d requests %s: want several that were answered\n%s", n, c.answered, b.story())
			}
		})
	}
}
