//go:build long

package reader_test

import (
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/reader"
)

// The default clocks, as the bounds of the long tests need them.
const (
	heartbeat      = 2 * time.Second
	attemptTimeout = 2 * time.Second
	longestPause   = 2 * time.Second
	expires        = 30 * time.Second
	threshold      = 30 * time.Second
	grace          = 15 * time.Second
)

// killings is how many readers are killed, one after the other.
const killings = 50

// quick is the configuration of a user who set nothing: every clock has its default.
func quick() reader.Config { return reader.Config{Stream: "ORDERS"} }

// calm and hasty are what tests choose of scaled clocks; here there is one choice.
func calm() reader.Config                   { return quick() }
func hasty(cfg reader.Config) reader.Config { return cfg }

// TestLongClocksAreTheDefaults keeps the name quick from being taken at its word
// here: every figure of these runs is one of the default configuration.
func TestLongClocksAreTheDefaults(t *testing.T) {
	if c := quick(); c.Pull != (reader.Pull{}) || c.Retry != (reader.RetryPolicy{}) || c.StreamGrace != 0 || c.InactiveThreshold != 0 {
		t.Fatalf("clocks are set: %+v", c)
	}
}

// longestDeaf is the longest time without an answer that the events tell.
func (b *bed) longestDeaf() (longest time.Duration) {
	for _, e := range b.seen() {
		longest = max(longest, e.Deaf)
	}
	return longest
}

// figures prints what a reader's life was like.
func (b *bed) figures(r *reader.Reader) {
	s := r.Status()
	b.Logf("figures: sessions=%d replaced=%v longest_deaf=%s delivered=%d missed=%d gaps=%d duplicates_dropped=%d pulls=%d api_requests=%v orphans=%d",
		s.Session.Number, s.Replaced, b.longestDeaf().Round(time.Millisecond), s.Delivered, s.Missed, s.Gaps,
		s.DuplicatesDropped, s.Pulls, s.APIRequests, s.Orphans)
}

// held checks the longest deafness against the contract: the detection time and
// one recovery beyond the fault's own length.
func (b *bed) held(fault time.Duration) {
	b.Helper()
	if limit := fault + 2*heartbeat + 2*(attemptTimeout+longestPause); b.longestDeaf() > limit {
		b.Fatalf("deaf for %s, the contract allows %s\n%s", b.longestDeaf(), limit, b.story())
	}
}

// quiet lets time pass in which nothing is done: no publish, no call of the reader.
func (b *bed) quiet(d time.Duration) {
	b.Helper()
	select {
	case <-time.After(d):
	case <-b.ctx.Done():
		b.Fatal("the test's own time is over")
	}
}

func (b *bed) idle(r *reader.Reader) {
	b.Helper()
	b.eventually("the reader is idle", func() bool { return r.Status().State == reader.StateIdle })
}

// slowRate makes a message of 1 MiB take ten seconds.
const slowRate = 100_000

// stormLength is how long a consumer is deleted again and again.
const stormLength = 20 * time.Second

// awayLength is how long a server is away whose reader's work is measured.
const awayLength = time.Minute
