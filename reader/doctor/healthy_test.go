package doctor_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/doctor"
)

// watchVariable lengthens the watch over healthy readers: 60s for a long look.
const watchVariable = "NATS_READER_DOCTOR_WATCH"

// Healthy clients of every kind, all of one account: nothing is found of them.
func TestHealthy(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	w.stream()
	w.background()
	o := doctor.Options{For: 6 * time.Second}
	if text := os.Getenv(watchVariable); text != "" {
		d, err := time.ParseDuration(text)
		w.must(err)
		o.For = d
	}
	for _, listen := range []bool{false, true} {
		o.Listen = listen
		f, r := w.examine(o, doctor.JudgeOptions{IdleAfter: time.Millisecond})
		if since(t, 2, 11) {
			finds(t, r, "-READER_014 paused")
		} else {
			finds(t, r)
		}
		if r.Verdict != doctor.VerdictHealthy || len(f.Consumers) < 18 {
			t.Errorf("the verdict is %s over %d consumers", r.Verdict, len(f.Consumers))
		}
	}
}

// background starts one of each kind of healthy client, until the end of the test.
func (w *ward) background() {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.ctx)
	var all sync.WaitGroup
	w.t.Cleanup(func() { cancel(); all.Wait() })

	// A quiet stream, and an empty work queue, each with a reader.
	for name, retention := range map[string]jetstream.RetentionPolicy{"QUIET": jetstream.LimitsPolicy, "WORK": jetstream.WorkQueuePolicy} {
		_, err := w.js.CreateStream(ctx, jetstream.StreamConfig{Name: name, Subjects: []string{name + ".>"}, Retention: retention, Storage: jetstream.MemoryStorage})
		w.must(err)
		c, err := w.js.CreateConsumer(ctx, name, jetstream.ConsumerConfig{Durable: "D", AckPolicy: jetstream.AckExplicitPolicy})
		w.must(err)
		running, err := c.Consume(func(m jetstream.Msg) { m.Ack() }) //nolint:errcheck // nothing comes
		w.must(err)
		w.t.Cleanup(running.Stop)
	}

	// Ten readers of ours under load; what they read is published at a pace.
	for range 10 {
		r, err := reader.Open(ctx, w.js, reader.Config{Stream: "S"})
		w.must(err)
		w.t.Cleanup(func() { r.Close(context.Background()) }) //nolint:errcheck // the connection is closed next
		all.Go(func() {
			for {
				if _, err := r.Next(ctx); err != nil {
					return
				}
			}
		})
	}
	w.t.Cleanup(w.keepPublishing(time.Millisecond))

	// One of ours whose caller takes nothing: a full buffer.
	full, err := reader.Open(ctx, w.js, reader.Config{Stream: "S", Pull: reader.Pull{MaxMessages: 10}})
	w.must(err)
	w.t.Cleanup(func() { full.Close(context.Background()) }) //nolint:errcheck // the connection is closed next

	// A durable of ours.
	d, err := reader.Open(ctx, w.js, reader.Config{Stream: "S", Durable: "OURS"})
	w.must(err)
	w.t.Cleanup(func() { d.Close(context.Background()) }) //nolint:errcheck // the connection is closed next
	all.Go(func() {
		for {
			m, err := d.Next(ctx)
			if err != nil {
				return
			}
			m.Ack() //nolint:errcheck // it reads on
		}
	})

	// One that polls with no_wait, and one that takes its time over each message of a
	// backlog.
	_, err = w.js.CreateStream(ctx, jetstream.StreamConfig{Name: "BACKLOG", Subjects: []string{"backlog.>"}, Storage: jetstream.MemoryStorage})
	w.must(err)
	for range 2000 {
		w.must(w.nc.Publish("backlog.a", []byte("x")))
	}
	w.poll(ctx, &all, "S", "POLLS", func(c jetstream.Consumer) (jetstream.MessageBatch, error) { return c.FetchNoWait(1000) }, 200*time.Millisecond)
	w.poll(ctx, &all, "BACKLOG", "SLOW", func(c jetstream.Consumer) (jetstream.MessageBatch, error) {
		return c.Fetch(1, jetstream.FetchMaxWait(time.Second))
	}, 700*time.Millisecond)

	// nats.go's ordered consumer, and a push consumer with a subscriber.
	ordered, err := w.js.OrderedConsumer(ctx, "S", jetstream.OrderedConsumerConfig{})
	w.must(err)
	running, err := ordered.Consume(func(jetstream.Msg) {})
	w.must(err)
	w.t.Cleanup(running.Stop)
	legacy, err := w.nc.JetStream(nats.MaxWait(30 * time.Second))
	w.must(err)
	_, err = legacy.Subscribe("s.>", func(m *nats.Msg) { m.Ack() }, nats.Durable("PUSH"), nats.ManualAck()) //nolint:errcheck // it reads on
	w.must(err)

	// A bucket with a watcher, and an object store.
	kv, err := w.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "K", Storage: jetstream.MemoryStorage})
	w.must(err)
	_, err = kv.Put(ctx, "a", []byte("1"))
	w.must(err)
	watcher, err := kv.WatchAll(ctx)
	w.must(err)
	w.t.Cleanup(func() { watcher.Stop() }) //nolint:errcheck // the connection is closed next
	all.Go(func() {
		for {
			select {
			case <-watcher.Updates():
			case <-ctx.Done():
				return
			}
		}
	})
	store, err := w.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: "O", Storage: jetstream.MemoryStorage})
	w.must(err)
	_, err = store.PutBytes(ctx, "o", make([]byte, 300<<10))
	w.must(err)

	// A consumer that an operator paused.
	if since(w.t, 2, 11) {
		w.consumer(jetstream.ConsumerConfig{Durable: "PAUSED", AckPolicy: jetstream.AckExplicitPolicy})
		s, err := w.js.Stream(ctx, "S")
		w.must(err)
		_, err = s.PauseConsumer(ctx, "PAUSED", time.Now().Add(24*time.Hour))
		w.must(err)
	}
}

// poll fetches from a durable of its own at a pace, and acknowledges.
func (w *ward) poll(ctx context.Context, all *sync.WaitGroup, stream, name string, fetch func(jetstream.Consumer) (jetstream.MessageBatch, error), every time.Duration) {
	w.t.Helper()
	c, err := w.js.CreateConsumer(ctx, stream, jetstream.ConsumerConfig{Durable: name, AckPolicy: jetstream.AckExplicitPolicy})
	w.must(err)
	all.Go(func() {
		pace := time.NewTicker(every)
		defer pace.Stop()
		for {
			if batch, err := fetch(c); err == nil {
				for m := range batch.Messages() {
					m.Ack() //nolint:errcheck // it reads on
				}
			}
			select {
			case <-pace.C:
			case <-ctx.Done():
				return
			}
		}
	})
}

// state is all that the API tells of an account, but for times.
func (w *ward) state() string {
	w.t.Helper()
	var all []any
	for info := range w.js.ListStreams(w.ctx).Info() {
		s, err := w.js.Stream(w.ctx, info.Config.Name)
		w.must(err)
		info.TimeStamp = time.Time{}
		all = append(all, info)
		for c := range s.ListConsumers(w.ctx).Info() {
			c.TimeStamp = time.Time{}
			all = append(all, c)
		}
	}
	text, err := json.Marshal(all)
	w.must(err)
	return string(text)
}

// Nothing on the server differs after a look, and it leaves no subscription.
func TestOnlyAsks(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	w.stream()
	w.publish("s.a", 10)
	d := w.consumer(jetstream.ConsumerConfig{Durable: "D", AckPolicy: jetstream.AckExplicitPolicy, AckWait: time.Hour, FilterSubject: "s.a"})
	w.fetch(d, 3)
	w.consumer(jetstream.ConsumerConfig{Name: "E", AckPolicy: jetstream.AckNonePolicy, InactiveThreshold: time.Hour})
	before := w.state()
	nc := w.connect("u")
	for _, o := range []doctor.Options{{For: time.Second}, {For: time.Second, Stream: "S", Consumer: "D", Listen: true}} {
		w.examineBy(nc, o, doctor.JudgeOptions{})
		if after := w.state(); after != before {
			t.Errorf("%+v: before\n%s\nafter\n%s", o, before, after)
		}
		if n := nc.NumSubscriptions(); n > 1 { // nats.go's own for requests
			t.Errorf("%+v: %d subscriptions are left", o, n)
		}
	}
}

// Where nobody listens, a pull for a consumer that is gone is answered as ever.
func TestHidesNoAnswer(t *testing.T) {
	t.Parallel()
	if !since(t, 2, 11) {
		return // these answer nothing anyway
	}
	w := newWard(t)
	w.stream()
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.examine(doctor.Options{Stream: "S", For: 3 * time.Second}, doctor.JudgeOptions{})
	}()
	for {
		_, err := w.nc.RequestWithContext(w.ctx, "$JS.API.CONSUMER.MSG.NEXT.S.GONE", []byte("1"))
		if !errors.Is(err, nats.ErrNoResponders) {
			t.Fatalf("a pull was answered with %v", err)
		}
		select {
		case <-done:
			return
		default:
		}
	}
}

// What is judged from a bundle is what was judged on the server.
func TestBundle(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	w.stream()
	w.publish("s.a", 3)
	w.consumer(jetstream.ConsumerConfig{Durable: "D", AckPolicy: jetstream.AckExplicitPolicy, Metadata: map[string]string{"secret": "hush"}})
	f, r := w.examine(heardTo(short), doctor.JudgeOptions{})
	finds(t, r, "READER_002")
	var file bytes.Buffer
	w.must(doctor.Write(&file, f))
	whole := bytes.Clone(file.Bytes())
	back, err := doctor.Read(&file)
	w.must(err)
	again := doctor.Judge(back, doctor.JudgeOptions{})
	if !reflect.DeepEqual(r, again) {
		t.Errorf("from the bundle it is\n%s, not\n%s", told(again), told(r))
	}
	plain, err := json.Marshal(back)
	w.must(err)
	if bytes.Contains(plain, []byte("hush")) {
		t.Error("the bundle tells metadata that is none of its business")
	}
	if _, err := doctor.Read(bytes.NewReader(plain)); err != nil {
		t.Errorf("it is not read unfolded: %v", err)
	}
	for name, bad := range map[string][]byte{
		"empty": nil, "half": whole[:len(whole)/2], "no end": whole[:len(whole)-2], "text": []byte("hello"),
		"no schema": []byte("{}"), "of another version": []byte(`{"schema":"nats-reader/facts/v9"}`),
	} {
		if _, err := doctor.Read(bytes.NewReader(bad)); !errors.Is(err, doctor.ErrBundle) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
