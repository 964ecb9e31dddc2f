//go:build !long

package reader_test

import (
	"time"

	"github.com/an-open-reader/nats-reader/reader"
)

// quick is a configuration with clocks short enough for tests; under the build
// tag long the same tests run with the clocks a user has.
func quick() reader.Config {
	return reader.Config{
		Stream: "ORDERS",
		Pull:   reader.Pull{Heartbeat: 250 * time.Millisecond},
		Retry:  reader.RetryPolicy{Initial: 50 * time.Millisecond, Max: 500 * time.Millisecond, AttemptTimeout: 500 * time.Millisecond},
	}
}

// figures are printed where clocks are not scaled.
func (b *bed) figures(*reader.Reader) {}

// slowRate makes a message of 1 MiB take three seconds: longer than any first wait.
const slowRate = 350_000

// stormLength is how long a consumer is deleted again and again.
const stormLength = 4 * time.Second

// killings is how many readers are killed, one after the other.
const killings = 5
