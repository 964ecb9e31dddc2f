package doctor_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader/doctor"
)

// Who polls every 10s is given the time to do so; who polled once, and died, is told.
func TestBetweenPolls(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	w.stream()
	ctx, cancel := context.WithCancel(w.ctx)
	var all sync.WaitGroup
	defer func() { cancel(); all.Wait() }()
	w.publish("s.a", 5)
	w.poll(ctx, &all, "S", "POLLS", func(c jetstream.Consumer) (jetstream.MessageBatch, error) {
		return c.Fetch(100, jetstream.FetchMaxWait(100*time.Millisecond))
	}, 10*time.Second)
	dead := w.consumer(jetstream.ConsumerConfig{Durable: "DEAD", AckPolicy: jetstream.AckExplicitPolicy})
	for _, m := range w.fetch(dead, 5) {
		w.must(m.DoubleAck(ctx))
	}
	w.awaitInfo("POLLS", func(i *jetstream.ConsumerInfo) bool { return i.AckFloor.Stream == 5 && i.NumWaiting == 0 })
	w.publish("s.a", 20)
	var steps []string
	o := doctor.Options{Stream: "S", For: time.Second, LookOn: 25 * time.Second, Progress: func(p doctor.Progress) { steps = append(steps, p.Step) }}
	f, r := w.examine(o, doctor.JudgeOptions{})
	finds(t, r, "READER_002")
	if r.Findings[0].Consumer != "DEAD" || !strings.Contains(strings.Join(steps, "\n"), "look on for up to 25s: 2 readers may be between two polls") {
		t.Errorf("it is %s; it was told\n%s", r.Findings[0].Consumer, strings.Join(steps, "\n"))
	}
	if watched := f.Ended.Sub(f.Began); watched < o.LookOn {
		t.Errorf("the one that nobody decided was watched for %s only", watched)
	}
	o.LookOn = 0
	if f, _ := w.examine(o, doctor.JudgeOptions{}); len(f.Consumers[0].Samples) != 3 {
		t.Errorf("it was looked at %d times, though not for longer", len(f.Consumers[0].Samples))
	}
}

// A consumer with a short threshold is looked at until it lapses, which nobody's
// does, or outlives it, which a deaf reader's does.
func TestDecidedByThreshold(t *testing.T) {
	t.Parallel()
	o := doctor.Options{Stream: "S", For: time.Second, LookOn: 20 * time.Second}
	config := jetstream.ConsumerConfig{Name: "C", AckPolicy: jetstream.AckNonePolicy, InactiveThreshold: 4 * time.Second}
	for name, want := range map[string]string{"nobody": "READER_002 lapsed", "deaf": "READER_001"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWard(t)
			w.stream()
			if name == "deaf" {
				w.consumer(config)
				nc, p := w.proxied()
				w.consume(nc, "C", func(jetstream.Msg) {})
				w.awaitInfo("C", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 1 })
				w.fault(p, "drop-subscription")
				w.awaitInfo("C", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 0 })
			}
			w.publish("s.a", 3)
			var f doctor.Facts
			var r doctor.Report
			for {
				if name == "nobody" {
					w.consumer(config)
				}
				f, r = w.examine(o, doctor.JudgeOptions{})
				if name == "deaf" || len(f.Consumers) > 0 && f.Consumers[0].Lapsed || w.ctx.Err() != nil {
					break // else it lapsed before it was looked at three times
				}
			}
			finds(t, r, want)
			if watched := f.Ended.Sub(f.Began); watched > o.LookOn {
				t.Errorf("it was looked at for %s, though it was decided", watched)
			}
		})
	}
}
