package doctor_test

import (
	"os"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader/doctor"
)

// clockVariable is how far ahead of the server's the clock of these tests is, below 0
// behind it: scripts/doctor.sh builds them with such a clock, and all must pass.
const clockVariable = "NATS_READER_DOCTOR_CLOCK"

// The times of facts are the server's, whatever the clock here says.
func TestTimesAreTheServers(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	w.stream()
	w.publish("s.a", 3)
	w.consumer(jetstream.ConsumerConfig{Durable: "D", AckPolicy: jetstream.AckExplicitPolicy})
	var off time.Duration
	if text := os.Getenv(clockVariable); text != "" {
		var err error
		off, err = time.ParseDuration(text)
		w.must(err)
	}
	f, r := w.examine(short, doctor.JudgeOptions{})
	finds(t, r, "READER_002")
	for what, at := range map[string]time.Time{"beginning": f.Began, "end": f.Ended, "consumer's beginning": f.Consumers[0].Created} {
		if apart := time.Since(at.Add(off)); apart.Abs() > limit {
			t.Errorf("the %s is %s, %s from the server's time", what, at, apart)
		}
	}
}
