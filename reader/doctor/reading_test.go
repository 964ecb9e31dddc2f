package doctor_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader/doctor"
)

const threshold = 2 * time.Second

// outlive is a watch that a threshold of threshold is outlived in.
var outlive = doctor.Options{Stream: "S", For: 3500 * time.Millisecond}

// short is a watch for what needs no time.
var short = doctor.Options{Stream: "S", For: time.Second}

func heardTo(o doctor.Options) doctor.Options {
	o.Listen = true
	return o
}

// consume reads with nats.go's Consume and gives each message's sequence.
func (w *ward) consume(nc *nats.Conn, name string, handle func(jetstream.Msg)) {
	w.t.Helper()
	c, err := w.jetStream(nc).Consumer(w.ctx, "S", name)
	w.must(err)
	running, err := c.Consume(handle, jetstream.PullExpiry(2*time.Second), jetstream.PullHeartbeat(500*time.Millisecond),
		jetstream.ConsumeErrHandler(func(jetstream.ConsumeContext, error) {}))
	w.must(err)
	w.t.Cleanup(running.Stop)
}

// awaitInfo waits until a consumer is as wanted.
func (w *ward) awaitInfo(name string, is func(*jetstream.ConsumerInfo) bool) {
	w.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		c, err := w.js.Consumer(w.ctx, "S", name)
		w.must(err)
		if is(c.CachedInfo()) {
			return
		}
		select {
		case <-tick.C:
		case <-w.ctx.Done():
			w.t.Fatalf("consumer %s never came to be as wanted: %+v", name, c.CachedInfo())
		}
	}
}

// nats.go's Consume goes deaf when the server forgets its inbox, and its pulls keep
// the consumer alive.
func TestDeafReader(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		faults  []string
		durable bool
		o       doctor.Options
		want    []string
	}{
		{"outlives its threshold", []string{"drop-subscription"}, false, outlive, []string{"READER_001"}},
		{"a pull is heard", []string{"drop-subscription"}, true, heardTo(short), []string{"READER_001"}},
		{"neither", []string{"drop-subscription"}, true, short, []string{"READER_002"}},
		{"reads", nil, false, outlive, nil},
		{"reads, and is heard", nil, true, heardTo(short), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWard(t)
			w.stream()
			cfg := jetstream.ConsumerConfig{Name: "C", AckPolicy: jetstream.AckNonePolicy, InactiveThreshold: threshold}
			if c.durable {
				cfg.Durable, cfg.InactiveThreshold, cfg.AckPolicy = "C", 0, jetstream.AckExplicitPolicy
			}
			w.consumer(cfg)
			nc, p := w.proxied()
			w.consume(nc, "C", func(m jetstream.Msg) { m.Ack() }) //nolint:errcheck // some have no acks
			w.awaitInfo("C", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 1 })
			for _, fault := range c.faults {
				w.fault(p, fault)
				w.awaitInfo("C", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 0 })
			}
			w.publish("s.a", 10)
			_, r := w.examine(c.o, doctor.JudgeOptions{})
			finds(t, r, c.want...)
		})
	}
}

func TestNobodyPulls(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	w.stream()
	w.publish("s.a", 3)
	w.consumer(jetstream.ConsumerConfig{Durable: "ALONE", AckPolicy: jetstream.AckExplicitPolicy})
	w.consumer(jetstream.ConsumerConfig{Durable: "READ", AckPolicy: jetstream.AckExplicitPolicy})
	w.consume(w.nc, "READ", func(m jetstream.Msg) { m.Ack() }) //nolint:errcheck // seen by its effect
	w.awaitInfo("READ", func(i *jetstream.ConsumerInfo) bool { return i.AckFloor.Stream == 3 })
	_, r := w.examine(short, doctor.JudgeOptions{})
	finds(t, r, "READER_002")
	if r.Findings[0].Consumer != "ALONE" || r.Verdict != doctor.VerdictWarning {
		t.Errorf("it is %s, and the verdict %s", r.Findings[0].Consumer, r.Verdict)
	}
	if r.Fleet[0].Reason != "no puller" || r.Fleet[1].Reason != "idle" {
		t.Errorf("the table is %+v", r.Fleet)
	}
}

// A consumer that was asked for by name, and that nobody pulls from, is gone before
// the watch is over.
func TestLapses(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	w.stream()
	w.publish("s.a", 3)
	w.consumer(jetstream.ConsumerConfig{Name: "C", AckPolicy: jetstream.AckNonePolicy, InactiveThreshold: time.Second})
	_, r := w.examine(doctor.Options{Stream: "S", Consumer: "C", For: 4 * time.Second}, doctor.JudgeOptions{})
	finds(t, r, "READER_002 lapsed", "READER_007")
}

// What a killed reader holds is told when its ack wait is over, not before.
func TestAbandonedDeliveries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		wait time.Duration
		want []string
	}{{time.Second, []string{"READER_002 abandoned"}}, {time.Minute, nil}} {
		t.Run(c.wait.String(), func(t *testing.T) {
			t.Parallel()
			w := newWard(t)
			w.stream()
			w.publish("s.a", 5)
			d := w.consumer(jetstream.ConsumerConfig{Durable: "D", AckPolicy: jetstream.AckExplicitPolicy, AckWait: c.wait})
			w.fetch(d, 5)
			_, r := w.examine(doctor.Options{Stream: "S", For: 2500 * time.Millisecond}, doctor.JudgeOptions{})
			finds(t, r, c.want...)
		})
	}
}

// fetch takes messages and acknowledges none.
func (w *ward) fetch(c jetstream.Consumer, n int) []jetstream.Msg {
	w.t.Helper()
	batch, err := c.Fetch(n, jetstream.FetchContext(w.ctx))
	w.must(err)
	var all []jetstream.Msg
	for m := range batch.Messages() {
		all = append(all, m)
	}
	if len(all) != n {
		w.t.Fatalf("%d messages came of %d: %v", len(all), n, batch.Error())
	}
	return all
}

// A foreign subscription to every inbox makes a deaf reader look healthy.
func TestDeliveredToNobody(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		deaf, listen bool
		want         []string
	}{
		{"deaf, and its pulls are heard", true, true, []string{"READER_003"}},
		{"deaf, and nobody was sent that much", true, false, []string{"READER_003"}},
		{"reads, and its pulls are heard", false, true, nil},
		{"reads", false, false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWard(t)
			w.stream()
			w.consumer(jetstream.ConsumerConfig{Name: "C", AckPolicy: jetstream.AckNonePolicy, InactiveThreshold: time.Minute})
			_, err := w.connect("u").Subscribe("_INBOX.>", func(*nats.Msg) {})
			w.must(err)
			nc, p := w.proxied()
			w.consume(nc, "C", func(jetstream.Msg) {})
			w.awaitInfo("C", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 1 })
			if c.deaf {
				w.fault(p, "drop-subscription")
			}
			stop := w.keepPublishing(20 * time.Millisecond)
			_, r := w.examine(doctor.Options{Stream: "S", For: 3 * time.Second, Listen: c.listen}, doctor.JudgeOptions{})
			stop()
			finds(t, r, c.want...)
		})
	}
}

// keepPublishing publishes at a pace until it is stopped, which it is at the end of the test.
func (w *ward) keepPublishing(every time.Duration) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				w.nc.Publish("s.a", []byte("x")) //nolint:errcheck // the judgement is what counts
			case <-end:
				return
			}
		}
	}()
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			close(end)
			<-ended
		}
	}
	w.t.Cleanup(stop)
	return stop
}

// A loop of fetches does not notice that its consumer is gone; servers up to
// 2.10.22 do not tell it.
func TestPullsForNoConsumer(t *testing.T) {
	t.Parallel()
	for _, gone := range []bool{true, false} {
		t.Run(fmt.Sprint(gone), func(t *testing.T) {
			t.Parallel()
			w := newWard(t)
			w.stream()
			c := w.consumer(jetstream.ConsumerConfig{Durable: "D", AckPolicy: jetstream.AckExplicitPolicy})
			if gone {
				w.must(w.js.DeleteConsumer(w.ctx, "S", "D"))
			}
			end, ended := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(ended)
				pause := time.NewTicker(50 * time.Millisecond)
				defer pause.Stop()
				for {
					if b, err := c.Fetch(1, jetstream.FetchMaxWait(300*time.Millisecond)); err == nil {
						for range b.Messages() { //nolint:revive // nothing comes
						}
					}
					select {
					case <-end:
						return
					case <-pause.C:
					}
				}
			}()
			_, r := w.examine(heardTo(doctor.Options{Stream: "S", For: 3 * time.Second}), doctor.JudgeOptions{})
			close(end)
			<-ended
			if gone {
				finds(t, r, "READER_004")
			} else {
				finds(t, r)
			}
		})
	}
}
