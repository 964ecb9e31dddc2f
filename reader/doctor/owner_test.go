package doctor_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/doctor"
)

// A reader of ours that lost its subscription, and whose requests for another consumer
// are swallowed, is deaf by the word of its owner: it tries on, and its consumer
// lives. One that reads nothing since its caller takes nothing is not.
func TestDeafByItsOwner(t *testing.T) {
	t.Parallel()
	for name, deaf := range map[string]bool{"its requests are swallowed": true, "its caller takes nothing": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWard(t)
			w.stream()
			nc, p := w.proxied()
			r, err := reader.Open(w.ctx, w.jetStream(nc), reader.Config{
				Stream: "S", Pull: reader.Pull{Heartbeat: 250 * time.Millisecond, Expires: 2 * time.Second, MaxMessages: 10},
				Retry: reader.RetryPolicy{Initial: 50 * time.Millisecond, Max: 100 * time.Millisecond, AttemptTimeout: 700 * time.Millisecond},
			})
			w.must(err)
			defer r.Close(w.ctx) //nolint:errcheck // its connection is closed next
			if deaf {
				w.fault(p, "api-timeout(subject=CONSUMER.CREATE.>)")
				w.fault(p, "drop-subscription")
			}
			w.publish("s.a", 50)
			consumer := r.Status().Session.Consumer
			if !deaf {
				w.awaitInfo(consumer, func(i *jetstream.ConsumerInfo) bool { return i.Delivered.Stream == 10 && i.NumWaiting == 0 })
				_, report := w.examine(doctor.Options{Stream: "S", For: 2 * time.Second}, doctor.JudgeOptions{})
				finds(t, report)
				return
			}
			// A look between two attempts sees no inbox: it is taken again.
			for {
				_, report := w.examine(doctor.Options{Stream: "S", For: 2 * time.Second}, doctor.JudgeOptions{})
				if found(report, "READER_001") {
					finds(t, report, "READER_001")
					if report.Findings[0].Consumer != consumer {
						t.Errorf("it is %s, not %s", report.Findings[0].Consumer, consumer)
					}
					return
				}
				if w.ctx.Err() != nil {
					t.Fatalf("it is never found deaf:\n%s", told(report))
				}
			}
		})
	}
}
