package doctor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/doctor"
)

// An ordered consumer of nats.go whose consumers are deleted makes one after the
// other; so does a reader that makes a consumer each time it looks.
func TestStorm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		made int
		want []string
	}{{12, []string{"READER_005"}}, {4, nil}} {
		t.Run(fmt.Sprint(c.made), func(t *testing.T) {
			t.Parallel()
			w := newWard(t)
			s := w.stream()
			done := make(chan error, 1)
			started := make(chan struct{})
			o := doctor.Options{Stream: "S", For: 3 * time.Second, Progress: func(p doctor.Progress) {
				if strings.HasPrefix(p.Step, "watch: look 2") {
					close(started)
				}
			}}
			go func() {
				<-started
				for i := range c.made {
					name := fmt.Sprintf("r_%d", i)
					if _, err := s.CreateConsumer(w.ctx, jetstream.ConsumerConfig{Name: name, AckPolicy: jetstream.AckNonePolicy, InactiveThreshold: 10 * time.Second}); err != nil {
						done <- err
						return
					}
					if err := s.DeleteConsumer(w.ctx, name); err != nil {
						done <- err
						return
					}
				}
				done <- nil
			}()
			_, r := w.examine(o, doctor.JudgeOptions{})
			w.must(<-done)
			finds(t, r, c.want...)
		})
	}
}

// A program that makes a durable of a new name at each start leaves the old ones.
func TestOrphans(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	w.stream()
	w.publish("s.a", 3)
	names := []string{"app-3f2a9c1e", "app-77b0d4f2", "app-0c9e8d7f", "app-9a8b7c6d"}
	for _, name := range names {
		w.consumer(jetstream.ConsumerConfig{Durable: name, AckPolicy: jetstream.AckExplicitPolicy, DeliverPolicy: jetstream.DeliverNewPolicy})
	}
	for i := range 3 {
		w.consumer(jetstream.ConsumerConfig{Durable: fmt.Sprintf("worker-%d", i), AckPolicy: jetstream.AckExplicitPolicy, DeliverPolicy: jetstream.DeliverNewPolicy})
	}
	w.consume(w.nc, names[0], func(m jetstream.Msg) { m.Ack() }) //nolint:errcheck // it only waits
	w.awaitInfo(names[0], func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 1 })
	j := doctor.JudgeOptions{IdleAfter: 100 * time.Millisecond}
	f, r := w.examine(short, j)
	finds(t, r, "READER_006")
	young, quiet := w.examine(short, doctor.JudgeOptions{})
	finds(t, quiet, "-READER_006") // they may yet be used
	if all, n := doctor.Orphans(young, doctor.JudgeOptions{}); len(all) > 0 || n != 3 {
		t.Errorf("of consumers that were made just now %d may be deleted, and %d are young", len(all), n)
	}

	// One is used again before it would be deleted, one is made again.
	w.consume(w.nc, names[1], func(m jetstream.Msg) { m.Ack() }) //nolint:errcheck // it only waits
	w.awaitInfo(names[1], func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 1 })
	w.must(w.js.DeleteConsumer(w.ctx, "S", names[2]))
	w.consumer(jetstream.ConsumerConfig{Durable: names[2], AckPolicy: jetstream.AckExplicitPolicy})
	old, _ := doctor.Orphans(f, j)
	removed, err := doctor.Remove(w.ctx, w.nc, short, old)
	w.must(err)
	got := map[string]string{}
	for _, x := range removed {
		got[x.Consumer] = fmt.Sprint(x.Deleted, " ", x.Why)
	}
	want := map[string]string{
		names[1]: "false somebody reads from it now", names[2]: "false it was deleted and made again", names[3]: "true ",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("removed %v, want %v", got, want)
	}
	info, err := w.js.Stream(w.ctx, "S")
	w.must(err)
	if n := info.CachedInfo().State.Consumers; n != 6 {
		t.Errorf("%d consumers are left, want 6", n)
	}
}

// A reader of nats-reader that is there holds its inbox; what one that is gone has
// left is an orphan that lapses.
func TestOrphanOfAReader(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	w.stream()
	w.publish("s.a", 3)
	nc := w.connect("u")
	r, err := reader.Open(w.ctx, w.jetStream(nc), reader.Config{Stream: "S"})
	w.must(err)
	t.Cleanup(func() { r.Close(w.ctx) }) //nolint:errcheck // its connection is gone
	_, healthy := w.examine(short, doctor.JudgeOptions{})
	finds(t, healthy)
	nc.Close()
	_, left := w.examine(short, doctor.JudgeOptions{})
	finds(t, left, "-READER_006")
	if left.Verdict != doctor.VerdictHealthy {
		t.Errorf("what lapses by itself makes the verdict %s", left.Verdict)
	}
}

// Two clients that make one consumer without acks in turn.
func TestTwoOwners(t *testing.T) {
	t.Parallel()
	for _, clients := range []int{2, 1} {
		t.Run(fmt.Sprint(clients), func(t *testing.T) {
			t.Parallel()
			w := newWard(t)
			w.stream()
			cfg := jetstream.ConsumerConfig{Name: "R", AckPolicy: jetstream.AckNonePolicy, InactiveThreshold: time.Minute}
			var all []jetstream.JetStream
			for range clients {
				all = append(all, w.jetStream(w.connect("u")))
			}
			started, done := make(chan struct{}), make(chan error, 1)
			go func() {
				<-started
				for i := range 4 {
					js := all[i%clients]
					js.DeleteConsumer(w.ctx, "S", "R") //nolint:errcheck // it may be the first
					if _, err := js.CreateConsumer(w.ctx, "S", cfg); err != nil {
						done <- err
						return
					}
				}
				done <- nil
			}()
			f, r := w.examine(doctor.Options{Stream: "S", For: 2 * time.Second, Progress: func(p doctor.Progress) {
				if strings.HasPrefix(p.Step, "watch: look 2") {
					close(started)
				}
			}}, doctor.JudgeOptions{})
			w.must(<-done)
			named := slices.ContainsFunc(f.Advisories, func(a doctor.Advisory) bool { return a.Client != "" })
			if v := f.Server.Version; !named && !strings.HasPrefix(v, "2.10.") {
				t.Errorf("%s does not tell who asks", v)
			}
			if clients == 2 && named {
				finds(t, r, "READER_021")
			} else {
				finds(t, r)
			}
		})
	}
}

// Two processes that pull from one consumer without acks share its messages without
// knowing it; with acks they mean to. The second one is played by inboxes as another
// process draws them.
func TestTwoOwnersAreHeard(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		acks jetstream.AckPolicy
		want []string
	}{{jetstream.AckNonePolicy, []string{"READER_021"}}, {jetstream.AckExplicitPolicy, nil}} {
		t.Run(c.acks.String(), func(t *testing.T) {
			t.Parallel()
			w := newWard(t)
			w.stream()
			w.consumer(jetstream.ConsumerConfig{Name: "C", AckPolicy: c.acks, InactiveThreshold: time.Minute})
			w.consume(w.nc, "C", func(jetstream.Msg) {})
			const other = "_INBOX.ZZZZZZZZZZZZ0123456789"
			_, err := w.nc.SubscribeSync(other)
			w.must(err)
			end, ended := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(ended)
				pace := time.NewTicker(200 * time.Millisecond)
				defer pace.Stop()
				for {
					select {
					case <-pace.C:
						w.nc.PublishRequest("$JS.API.CONSUMER.MSG.NEXT.S.C", other, []byte(`{"batch":1,"expires":100000000}`)) //nolint:errcheck // the judgement is what counts
					case <-end:
						return
					}
				}
			}()
			f, r := w.examine(heardTo(doctor.Options{Stream: "S", For: 3 * time.Second}), doctor.JudgeOptions{})
			close(end)
			<-ended
			if f.Heard == nil || !slices.ContainsFunc(f.Heard.Pulls, func(p doctor.Pulls) bool { return p.Inbox == other }) {
				t.Errorf("the second one was not heard: %+v", f.Heard)
			}
			finds(t, r, c.want...)
		})
	}
}
