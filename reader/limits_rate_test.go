package reader_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
)

// A consumer that is deleted again and again: each loss is told and paced, the
// requests stay within the policy, and nothing is lost.
func TestLimitsOfTheRateUnderDeletes(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	cfg := calm()
	cfg.Retry = reader.RetryPolicy{} // a user's pauses: longer than a session lives here
	r := b.open(cfg)
	b.expect(r, 1, 10)
	before := r.Status()
	began := time.Now()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	next := 11
	for time.Since(began) < stormLength {
		select {
		case <-tick.C:
		case <-b.ctx.Done():
			t.Fatal(b.ctx.Err())
		}
		for _, name := range b.consumers() {
			if err := b.admin.DeleteConsumer(b.ctx, b.stream, name); err == nil {
				b.publish(next, next)
				next++
			}
		}
	}
	took := time.Since(began)
	b.expect(r, 11, next-1)
	s := r.Status()
	requests := 0
	for kind, n := range s.APIRequests {
		requests += int(n - before.APIRequests[kind])
	}
	t.Logf("%d deletes in %s: %d sessions, %d requests, replaced %v", next-11, took.Round(time.Millisecond), s.Session.Number, requests, s.Replaced)
	if s.Missed != 0 || s.Gaps != 0 || s.DuplicatesDropped != 0 {
		t.Fatalf("status %+v\n%s", s, b.story())
	}
	if lost := b.count("session_lost"); lost != s.Session.Number-1 || b.count("retry_waiting") == 0 {
		t.Fatalf("%d losses told for %d sessions, %d pauses\n%s", lost, s.Session.Number, b.count("retry_waiting"), b.story())
	}
	// Create and delete for each session, and a look where the overlap proves nothing.
	if most := 4 * (s.Session.Number + 1); requests > most {
		t.Fatalf("%d requests for %d sessions, want %d at most\n%s", requests, s.Session.Number, most, b.story())
	}
	// Pauses of 0.2, 0.4, 0.8, 1.6 and then 2 seconds: far from one each tenth of a second.
	if most := 6 + 2*int(took/(2*time.Second)); s.Session.Number > most {
		t.Fatalf("%d sessions in %s, want %d at most\n%s", s.Session.Number, took, most, b.story())
	}
}

// A stream that is away for ten seconds costs ten requests at most with a user's
// clocks; what comes back is read.
func TestLimitsOfTheRateWithoutAStream(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	r := b.open(reader.Config{Stream: b.stream})
	b.expect(r, 1, 10)
	before := r.Status().APIRequests
	b.must(b.admin.DeleteStream(b.ctx, b.stream))
	b.await("stream_missing", 1)
	timer := time.NewTimer(10 * time.Second)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-b.ctx.Done():
		t.Fatal(b.ctx.Err())
	}
	requests := 0
	for kind, n := range r.Status().APIRequests {
		requests += int(n - before[kind])
	}
	t.Logf("%d requests in ten seconds", requests)
	if requests > 10 {
		t.Fatalf("%d requests, want 10 at most\n%s", requests, b.story())
	}
	_, err := b.admin.CreateStream(b.ctx, jetstream.StreamConfig{Name: b.stream, Subjects: []string{"orders.>"}})
	b.must(err)
	b.publish(11, 15)
	b.expect(r, 11, 15)
}
