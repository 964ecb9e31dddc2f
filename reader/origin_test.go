package reader_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
)

// The ten cases of the reader this one comes from.

func TestOrigin1LostSubscriptionIsNoticedByMissingAnswers(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	r := b.open(quick())
	b.expect(r, 1, 10)
	consumer := r.Status().Session.Consumer
	b.fault("drop-subscription")
	b.await("session_silent", 1)
	b.publish(11, 20)
	b.expect(r, 11, 20)
	if e := b.await("session_lost", 1); e.Cause != "answers_lost" {
		t.Fatalf("lost by %s, want answers_lost", e.Cause)
	}
	b.eventually("the old consumer is gone, the new one is there", func() bool {
		c := b.consumers()
		return len(c) == 1 && c[0] != consumer
	})
}

func TestOrigin2OldSessionStaysWhileNoConsumerCanBeMade(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	r := b.open(hasty(quick()))
	b.expect(r, 1, 10)
	undo := b.fault("api-timeout")
	before, replaced := r.Status().Session, b.count("session_replaced")
	b.fault("drop-subscription")
	b.eventually("three attempts failed", func() bool { return r.Status().Retry.Attempt > 3 })
	if s := r.Status(); s.State != reader.StateRecovering || s.Session.Number != before.Number || s.Session.Consumer != before.Consumer {
		t.Fatalf("status while the API is silent: %+v\n%s", s, b.story())
	}
	if first, third := b.await("retry_waiting", 1), b.await("retry_waiting", 3); first.Wait <= 0 || third.Wait <= first.Wait {
		t.Fatalf("pauses of %s, then %s: not paced\n%s", first.Wait, third.Wait, b.story())
	}
	b.publish(11, 20)
	undo()
	b.expect(r, 11, 20)
	b.await("session_replaced", replaced+1)
	b.eventually("one consumer is left", func() bool { return len(b.consumers()) == 1 })
}

func TestOrigin3WorkingSessionGoesOnWhenItsReplacementFails(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	cfg := calm()
	cfg.Retry.AttemptTimeout = 3 * time.Second // one request runs out of it
	r := b.open(cfg)
	b.expect(r, 1, 10)
	before := r.Status().Session
	undo := b.fault("api-timeout")
	if err := r.Replace(b.ctx); err == nil {
		t.Fatal("replaced although no consumer can be made")
	}
	b.publish(11, 20)
	b.expect(r, 11, 20)
	undo()
	if s := r.Status().Session; s.Consumer != before.Consumer || s.Number != 1 {
		t.Fatalf("session %+v, want %+v", s, before)
	}
	b.eventually("one consumer is left", func() bool { return len(b.consumers()) == 1 })
	b.must(r.Replace(b.ctx))
	b.publish(21, 30)
	b.expect(r, 21, 30)
	if n := r.Status().Session.Number; n != 2 {
		t.Fatalf("session %d, want 2", n)
	}
}

func TestOrigin4CancelledReplacementLeavesNothing(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	r := b.open(calm())
	b.expect(r, 1, 10)
	undo := b.fault("lose-reply(subject=CONSUMER.CREATE.>)")
	ctx, cancel := context.WithCancel(b.ctx)
	failed := make(chan error, 1)
	go func() { failed <- r.Replace(ctx) }()
	b.eventually("the new consumer is half made", func() bool { return len(b.consumers()) == 2 })
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want context.Canceled", err)
	}
	b.publish(11, 20)
	b.expect(r, 11, 20)
	undo()
	if n := r.Status().Session.Number; n != 1 {
		t.Fatalf("session %d, want 1", n)
	}
	b.eventually("one consumer and one subscription are left", func() bool {
		return len(b.consumers()) == 1 && b.nc.NumSubscriptions() == 1
	})
}

func TestOrigin5HalfMadeSessionLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"api-timeout(subject=CONSUMER.CREATE.>)", "lose-reply(subject=CONSUMER.CREATE.>)"} {
		t.Run(fault, func(t *testing.T) {
			b := withStream(t)
			b.publish(1, 10)
			undo := b.fault(fault)
			ctx, cancel := context.WithTimeout(b.ctx, 3*time.Second)
			defer cancel()
			if r, err := reader.Open(ctx, b.js, hasty(quick())); err == nil {
				t.Fatalf("opened %v without an answer to the create", r.Status())
			}
			undo()
			b.eventually("nothing is left", func() bool {
				return len(b.consumers()) == 0 && b.nc.NumSubscriptions() <= 1
			})
			// And under way, where the reader lives on.
			r := b.open(hasty(quick()))
			b.expect(r, 1, 10)
			undo = b.fault(fault)
			b.deleteConsumer(r)
			b.await("replace_failed", b.count("replace_failed")+3)
			undo()
			b.publish(11, 20)
			b.expect(r, 11, 20)
			b.eventually("one consumer and one subscription are left", func() bool {
				return len(b.consumers()) == 1 && b.nc.NumSubscriptions() == 1
			})
		})
	}
}

func TestOrigin6ExpiredConsumerIsNoErrorUnderRaise(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]func(*bed, *reader.Reader){
		"expired": func(b *bed, _ *reader.Reader) {
			b.eventually("the server has let the consumer go", func() bool { return len(b.consumers()) == 0 })
		},
		"deleted": func(b *bed, r *reader.Reader) { b.deleteConsumer(r) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := withStream(t)
			b.publish(1, 100)
			cfg := calm()
			cfg.OnError = reader.OnErrorRaise
			cfg.Pull.MaxMessages = 10 // all are buffered, nobody pulls, and the consumer is idle
			cfg.InactiveThreshold = time.Second
			r := b.open(cfg)
			b.expect(r, 1, 1)
			b.full(r)
			ends(b, r)
			b.expect(r, 2, 100)
			b.publish(101, 110)
			b.expect(r, 101, 110)
			if s := r.Status(); s.LastError != "" || s.Session.Number != 2 {
				t.Fatalf("status %+v\n%s", s, b.story())
			}
		})
	}
}

func TestOrigin7ConsumerLevel404IsOrdinary(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	cfg := calm()
	cfg.OnError = reader.OnErrorRaise
	r := b.open(cfg)
	b.expect(r, 1, 10)
	// The status that would tell is lost with the subscription: the ask says 10014.
	b.deafen(r)
	b.must(b.admin.DeleteConsumer(b.ctx, b.stream, r.Status().Session.Consumer))
	b.publish(11, 20)
	b.expect(r, 11, 20)
	if e := b.await("session_lost", 1); e.Cause != "consumer_gone" || e.Err != nil {
		t.Fatalf("lost: %+v", e)
	}
}

func TestOrigin8MissingStreamAtOpenIsFatalAtOnce(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	cfg := calm()
	cfg.Stream = "NONE"
	_, err := reader.Open(b.ctx, b.js, cfg)
	if !errors.Is(err, reader.ErrStreamNotFound) {
		t.Fatalf("got %v, want ErrStreamNotFound", err)
	}
	cfg.Stream, cfg.Subjects = "", []string{"nowhere.bound"}
	if _, err := reader.Open(b.ctx, b.js, cfg); !errors.Is(err, reader.ErrStreamNotFound) {
		t.Fatalf("by subject: got %v, want ErrStreamNotFound", err)
	}
}

func TestOrigin9RunningAttemptEndsAtTotalTimeout(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	cfg := calm()
	cfg.Retry.AttemptTimeout = 40 * time.Second // far beyond the total
	cfg.Retry.TotalTimeout = 3 * time.Second
	r := b.open(cfg)
	b.expect(r, 1, 10)
	b.fault("api-timeout")
	b.must(b.admin.DeleteConsumer(b.ctx, b.stream, r.Status().Session.Consumer))
	ctx, cancel := context.WithTimeout(b.ctx, 20*time.Second)
	defer cancel()
	if _, err := r.Next(ctx); !errors.Is(err, reader.ErrGaveUp) {
		t.Fatalf("got %v, want ErrGaveUp", err)
	}
	var f *reader.RecoveryError
	if err := r.Err(); !errors.As(err, &f) || f.Cause != "consumer_deleted" {
		t.Fatalf("Err() = %v, want a RecoveryError by consumer_deleted", err)
	}
}

func TestOrigin10UnansweredRequestEndsAtItsAttemptTimeout(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	js, err := jetstream.New(b.nc, jetstream.WithDefaultTimeout(time.Minute))
	b.must(err)
	b.js = js
	b.publish(1, 10)
	cfg := calm()
	cfg.Retry.AttemptTimeout = time.Second
	r := b.open(cfg)
	b.expect(r, 1, 10)
	failed := b.count("replace_failed")
	b.fault("api-timeout")
	b.must(b.admin.DeleteConsumer(b.ctx, b.stream, r.Status().Session.Consumer))
	e := b.await("replace_failed", failed+2)
	if e.Took < 900*time.Millisecond || e.Took > 20*time.Second {
		t.Fatalf("an attempt took %s, want about its timeout of %s", e.Took, cfg.Retry.AttemptTimeout)
	}
}
