package doctor_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader/doctor"
)

func TestShortThreshold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		threshold time.Duration
		want      []string
	}{{time.Second, []string{"READER_007"}}, {10 * time.Second, nil}} {
		t.Run(c.threshold.String(), func(t *testing.T) {
			t.Parallel()
			w := newWard(t)
			w.stream()
			w.consumer(jetstream.ConsumerConfig{Name: "C", AckPolicy: jetstream.AckNonePolicy, InactiveThreshold: c.threshold})
			w.consume(w.nc, "C", func(jetstream.Msg) {})
			_, r := w.examine(short, doctor.JudgeOptions{})
			finds(t, r, c.want...)
		})
	}
}

// A handler that is busy for longer than the threshold, one message at a time.
func TestHandlerLongerThanThreshold(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	w.stream()
	w.publish("s.a", 2)
	c := w.consumer(jetstream.ConsumerConfig{Name: "C", AckPolicy: jetstream.AckExplicitPolicy, AckWait: time.Minute, InactiveThreshold: 2 * time.Second})
	w.fetch(c, 1)
	_, r := w.examine(doctor.Options{Stream: "S", For: 2 * time.Second}, doctor.JudgeOptions{})
	if since(t, 2, 11) { // older ones delete it under the handler's hands
		finds(t, r, "READER_007")
	}
}

// A handler that takes 5ms a message, behind a publisher that is faster.
func TestFallingBehind(t *testing.T) {
	t.Parallel()
	for _, grows := range []bool{true, false} {
		t.Run(fmt.Sprint(grows), func(t *testing.T) {
			t.Parallel()
			w := newWard(t)
			w.stream()
			w.consumer(jetstream.ConsumerConfig{Name: "C", AckPolicy: jetstream.AckNonePolicy, InactiveThreshold: time.Minute})
			w.flood(3000)
			c, err := w.js.Consumer(w.ctx, "S", "C")
			w.must(err)
			messages, err := c.Messages(jetstream.PullMaxMessages(1))
			w.must(err)
			t.Cleanup(messages.Stop)
			end, ended := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(ended)
				pace := time.NewTicker(5 * time.Millisecond)
				defer pace.Stop()
				for {
					if _, err := messages.Next(); err != nil {
						return
					}
					select {
					case <-pace.C:
					case <-end:
						return
					}
				}
			}()
			stop := func() {}
			if grows {
				stop = w.keepFlooding()
			}
			_, r := w.examine(doctor.Options{Stream: "S", For: 2 * time.Second}, doctor.JudgeOptions{})
			stop()
			close(end)
			messages.Stop()
			<-ended
			if grows {
				finds(t, r, "READER_008")
			} else {
				finds(t, r)
			}
		})
	}
}

// flood stores many messages.
func (w *ward) flood(n int) {
	w.t.Helper()
	for range n {
		w.must(w.nc.Publish("s.a", []byte("x")))
	}
	w.must(w.nc.FlushWithContext(w.ctx))
}

func (w *ward) keepFlooding() (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		pace := time.NewTicker(10 * time.Millisecond)
		defer pace.Stop()
		for {
			select {
			case <-pace.C:
				for range 20 {
					w.nc.Publish("s.a", []byte("x")) //nolint:errcheck // the judgement is what counts
				}
			case <-end:
				return
			}
		}
	}()
	return func() { close(end); <-ended }
}

func TestMonitorMetadata(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	w.stream()
	w.publish("s.a", 3)
	w.consumer(jetstream.ConsumerConfig{Durable: "D", AckPolicy: jetstream.AckExplicitPolicy, Metadata: map[string]string{"io.nats.monitor.unprocessed-critical": "2"}})
	w.consumer(jetstream.ConsumerConfig{Durable: "E", AckPolicy: jetstream.AckExplicitPolicy, Metadata: map[string]string{"io.nats.monitor.unprocessed-critical": "3"}})
	_, r := w.examine(short, doctor.JudgeOptions{Skip: []string{"2"}})
	finds(t, r, "READER_008")
}

// Why a consumer stands at max_ack_pending, each made by a client.
func TestAckLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		wait time.Duration
		do   func(*ward, jetstream.Consumer)
		o    doctor.Options
		want []string
	}{
		{"a handler works", time.Minute, func(w *ward, c jetstream.Consumer) { w.fetch(c, 5) }, short, []string{"READER_009 slow_handler"}},
		{"the owner is dead", time.Second, func(w *ward, c jetstream.Consumer) { w.fetch(c, 5) }, doctor.Options{Stream: "S", For: 2500 * time.Millisecond}, []string{"READER_009 owner_dead"}},
		{"naks with delay", time.Second, func(w *ward, _ jetstream.Consumer) {
			w.consume(w.nc, "D", func(m jetstream.Msg) { m.NakWithDelay(time.Minute) }) //nolint:errcheck // seen by its effect
		}, doctor.Options{Stream: "S", For: 2500 * time.Millisecond}, []string{"READER_009 naks_with_delay"}},
		{"acks are denied", 300 * time.Millisecond, func(w *ward, _ jetstream.Consumer) {
			w.consume(w.connect("mute"), "D", func(m jetstream.Msg) { m.Ack() }) //nolint:errcheck // it is denied
		}, doctor.Options{Stream: "S", For: 2500 * time.Millisecond}, []string{"READER_009 acks_denied"}},
		{"it acknowledges", time.Second, func(w *ward, _ jetstream.Consumer) {
			w.consume(w.nc, "D", func(m jetstream.Msg) { m.Ack() }) //nolint:errcheck // seen by its effect
		}, short, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWard(t)
			w.stream()
			w.publish("s.a", 8)
			d := w.consumer(jetstream.ConsumerConfig{Durable: "D", AckPolicy: jetstream.AckExplicitPolicy, AckWait: c.wait, MaxAckPending: 5})
			c.do(w, d)
			w.awaitInfo("D", func(i *jetstream.ConsumerInfo) bool { return i.NumAckPending == 5 || i.AckFloor.Stream == 8 })
			_, r := w.examine(c.o, doctor.JudgeOptions{})
			finds(t, r, c.want...)
		})
	}
}

func TestMaxWaiting(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		most int
		want []string
	}{{2, []string{"READER_010"}}, {3, nil}} {
		t.Run(fmt.Sprint(c.most), func(t *testing.T) {
			t.Parallel()
			w := newWard(t)
			w.stream()
			w.consumer(jetstream.ConsumerConfig{Durable: "D", AckPolicy: jetstream.AckExplicitPolicy, MaxWaiting: c.most})
			for range 2 {
				w.consume(w.connect("u"), "D", func(jetstream.Msg) {})
			}
			w.awaitInfo("D", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 2 })
			_, r := w.examine(short, doctor.JudgeOptions{})
			finds(t, r, c.want...)
		})
	}
}

func TestPullsBeyondLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		limits jetstream.ConsumerConfig
		bytes  int // 0: pulls without max_bytes
		want   []string
	}{
		{"max_batch", jetstream.ConsumerConfig{MaxRequestBatch: 10}, 0, []string{"READER_017"}},
		{"max_expires", jetstream.ConsumerConfig{MaxRequestExpires: 50 * time.Millisecond}, 0, []string{"READER_017"}},
		{"max_bytes", jetstream.ConsumerConfig{MaxRequestMaxBytes: 1000}, 1001, []string{"READER_017"}},
		{"within the bytes", jetstream.ConsumerConfig{MaxRequestMaxBytes: 1000}, 1000, nil},
		{"within both", jetstream.ConsumerConfig{MaxRequestBatch: 100, MaxRequestExpires: time.Second}, 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWard(t)
			w.stream()
			w.publish("s.a", 5)
			cfg := c.limits
			cfg.Durable, cfg.AckPolicy = "D", jetstream.AckExplicitPolicy
			w.consumer(cfg)
			d, err := w.js.Consumer(w.ctx, "S", "D")
			w.must(err)
			end, ended := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(ended)
				pause := time.NewTicker(50 * time.Millisecond)
				defer pause.Stop()
				for {
					fetch := func() (jetstream.MessageBatch, error) {
						return d.Fetch(100, jetstream.FetchMaxWait(200*time.Millisecond))
					}
					if c.bytes > 0 {
						fetch = func() (jetstream.MessageBatch, error) {
							return d.FetchBytes(c.bytes, jetstream.FetchMaxWait(200*time.Millisecond))
						}
					}
					if b, err := fetch(); err == nil {
						for m := range b.Messages() {
							m.Ack() //nolint:errcheck // the judgement is what counts
						}
					}
					select {
					case <-end:
						return
					case <-pause.C:
					}
				}
			}()
			_, r := w.examine(heardTo(short), doctor.JudgeOptions{})
			close(end)
			<-ended
			finds(t, r, c.want...)
			if len(c.want) > 0 && len(r.Findings) > 0 && !strings.Contains(r.Findings[0].Text, c.name) {
				t.Errorf("it does not name %s: %s", c.name, r.Findings[0].Text)
			}
		})
	}
}
