//go:build !long

package reader_test

import (
	"time"

	"github.com/an-open-reader/nats-reader/reader"
)

// quick is a configuration with clocks short enough for tests that wait for silence;
// an answer has the time that a busy machine needs, so that nothing but the test's
// own faults makes a request fail. Under the build tag long the same tests run with
// the clocks a user has.
func quick() reader.Config {
	return reader.Config{
		Stream: "ORDERS",
		Pull:   reader.Pull{Heartbeat: 500 * time.Millisecond},
		Retry:  reader.RetryPolicy{Initial: 50 * time.Millisecond, Max: 500 * time.Millisecond, AttemptTimeout: 5 * time.Second},
	}
}

// calm is quick with a user's heartbeat: for tests in which nothing falls silent, or
// that count what silence would add to, a machine that stands still for a second is
// no silence.
func calm() reader.Config {
	cfg := quick()
	cfg.Pull.Heartbeat = 0
	return cfg
}

// hasty is a configuration whose requests run out of time soon: for tests that take
// answers away, and would wait for each.
func hasty(cfg reader.Config) reader.Config {
	cfg.Retry.AttemptTimeout = time.Second
	return cfg
}

// figures are printed where clocks are not scaled.
func (b *bed) figures(*reader.Reader) {}

// slowRate makes a message of 1 MiB take three seconds: longer than any first wait.
const slowRate = 350_000

// stormLength is how long a consumer is deleted again and again.
const stormLength = 4 * time.Second

// killings is how many readers are killed, one after the other.
const killings = 5

// awayLength is how long a server is away whose reader's work is measured.
const awayLength = 5 * time.Second
