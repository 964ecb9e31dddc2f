package doctor_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/reader/doctor"
)

// A reader that resumes in a stream that was made again. Servers of 2.10 clamp its
// start to the stream's end, which is another fault, but none of a consumer's place.
func TestAheadOfItsStream(t *testing.T) {
	t.Parallel()
	for _, start := range []uint64{101, 6} {
		t.Run(fmt.Sprint(start), func(t *testing.T) {
			t.Parallel()
			w := newWard(t)
			w.stream()
			w.publish("s.a", 5)
			w.consumer(jetstream.ConsumerConfig{
				Name: "C", AckPolicy: jetstream.AckNonePolicy, InactiveThreshold: time.Minute,
				DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: start,
			})
			w.consume(w.nc, "C", func(jetstream.Msg) {})
			w.awaitInfo("C", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 1 })
			w.publish("s.a", 3)
			_, r := w.examine(short, doctor.JudgeOptions{})
			if start > 8 && since(t, 2, 11) {
				finds(t, r, "READER_011")
			} else {
				finds(t, r)
			}
		})
	}
}

// A filter that was widened does not reach back.
func TestPassedOver(t *testing.T) {
	t.Parallel()
	for _, widened := range []bool{true, false} {
		t.Run(fmt.Sprint(widened), func(t *testing.T) {
			t.Parallel()
			w := newWard(t)
			s := w.stream()
			w.publish("s.b", 3)
			w.publish("s.a", 2)
			cfg := jetstream.ConsumerConfig{Durable: "D", AckPolicy: jetstream.AckExplicitPolicy, FilterSubject: "s.a"}
			if !widened {
				cfg.FilterSubject = "s.*"
			}
			w.consumer(cfg)
			n := map[bool]int{true: 2, false: 5}[widened]
			read := make(chan struct{}, 8)
			w.consume(w.nc, "D", func(m jetstream.Msg) {
				if m.DoubleAck(w.ctx) == nil {
					read <- struct{}{}
				}
			})
			for range n {
				select {
				case <-read:
				case <-w.ctx.Done():
					t.Fatal("it does not read")
				}
			}
			if widened {
				cfg.FilterSubject = "s.*"
				_, err := s.UpdateConsumer(w.ctx, cfg)
				w.must(err)
			}
			_, r := w.examine(short, doctor.JudgeOptions{})
			if widened {
				finds(t, r, "READER_012")
			} else {
				finds(t, r)
			}
		})
	}
}

func TestFilterMatchesNothing(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	w.stream()
	w.publish("s.a", 3)
	for name, filter := range map[string]string{"BAD": "t.>", "GOOD": "s.*"} {
		w.consumer(jetstream.ConsumerConfig{Durable: name, AckPolicy: jetstream.AckExplicitPolicy, FilterSubject: filter})
		w.consume(w.nc, name, func(m jetstream.Msg) { m.Ack() }) //nolint:errcheck // it only reads
	}
	w.awaitInfo("GOOD", func(i *jetstream.ConsumerInfo) bool { return i.AckFloor.Stream == 3 })
	_, r := w.examine(short, doctor.JudgeOptions{})
	finds(t, r, "READER_013")
	if r.Findings[0].Consumer != "BAD" {
		t.Errorf("it is %s", r.Findings[0].Consumer)
	}
}

// A pause is told, and is no fault; servers of 2.10 know none.
func TestPaused(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	s := w.stream()
	w.consumer(jetstream.ConsumerConfig{Durable: "D", AckPolicy: jetstream.AckExplicitPolicy})
	if !since(t, 2, 11) {
		return // nothing to pause
	}
	_, err := s.PauseConsumer(w.ctx, "D", time.Now().Add(24*time.Hour))
	w.must(err)
	w.publish("s.a", 3)
	_, r := w.examine(short, doctor.JudgeOptions{})
	finds(t, r, "-READER_014 paused")
	if r.Verdict != doctor.VerdictHealthy || r.Fleet[0].Reason != "paused" {
		t.Errorf("the verdict is %s, the word %q", r.Verdict, r.Fleet[0].Reason)
	}
	_, err = s.ResumeConsumer(w.ctx, "D")
	w.must(err)
	w.consume(w.nc, "D", func(m jetstream.Msg) { m.Ack() }) //nolint:errcheck // seen by its effect
	w.awaitInfo("D", func(i *jetstream.ConsumerInfo) bool { return i.AckFloor.Stream == 3 })
	_, r = w.examine(short, doctor.JudgeOptions{})
	finds(t, r)
}

// A reader that is told 409 for ever because of a large message looks deaf; the
// finding names the size.
func TestLargeMessageIsNamed(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	w.stream()
	w.must(w.nc.Publish("s.a", make([]byte, 100<<10)))
	w.must(w.nc.FlushWithContext(w.ctx))
	w.consumer(jetstream.ConsumerConfig{Name: "C", AckPolicy: jetstream.AckNonePolicy, InactiveThreshold: threshold})
	inbox := w.nc.NewInbox()
	sub, err := w.nc.SubscribeSync(inbox)
	w.must(err)
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		pause := time.NewTicker(100 * time.Millisecond)
		defer pause.Stop()
		for {
			w.nc.PublishRequest("$JS.API.CONSUMER.MSG.NEXT.S.C", inbox, []byte(`{"batch":1,"max_bytes":1000,"expires":1000000000}`)) //nolint:errcheck // the judgement is what counts
			select {
			case <-end:
				return
			case <-pause.C:
			}
		}
	}()
	m, err := sub.NextMsgWithContext(w.ctx)
	w.must(err)
	if status := m.Header.Get("Status"); status != "409" {
		t.Fatalf("the pull was answered %s", status)
	}
	f, r := w.examine(outlive, doctor.JudgeOptions{})
	close(end)
	<-ended
	finds(t, r, "READER_001")
	if got := f.Consumers[0].NextSize; got != 100<<10 {
		t.Errorf("the next message has %d bytes, it says", got)
	}
}

// A server that has lost the messages of a stream, and kept the places of its
// consumers: a disk that was restored in part.
func TestAheadOfALostStore(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	for {
		f, r := loseStore(ctx, t)
		last := f.Consumers[0].Samples[len(f.Consumers[0].Samples)-1]
		switch ahead := last.Delivered.Stream > f.Streams[0].Last.LastSeq; {
		case ahead:
			finds(t, r, "READER_011")
		case !strings.HasPrefix(f.Server.Version, "2.10."): // newer ones set it back
			finds(t, r)
		case ctx.Err() != nil:
			t.Errorf("a server of 2.10 sets the place back by itself:\n%s", told(r))
		default:
			continue // its last place may not be on disk when it ends
		}
		return
	}
}

// loseStore reads to a stream's end, takes the stored messages away while the server
// is down, and looks at what is left.
func loseStore(ctx context.Context, t *testing.T) (doctor.Facts, doctor.Report) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	own, err := lab.Start(ctx, lab.Options{})
	must(err)
	defer own.Close() //nolint:errcheck // the test is over
	nc, err := nats.Connect(own.URL(), nats.Timeout(30*time.Second), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	must(err)
	defer nc.Close()
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(30*time.Second))
	must(err)
	_, err = js.CreateStream(ctx, jetstream.StreamConfig{Name: "S", Subjects: []string{"s.>"}})
	must(err)
	for range 20 {
		_, err := js.Publish(ctx, "s.a", nil)
		must(err)
	}
	c, err := js.CreateConsumer(ctx, "S", jetstream.ConsumerConfig{Durable: "D", AckPolicy: jetstream.AckExplicitPolicy})
	must(err)
	batch, err := c.Fetch(20, jetstream.FetchContext(ctx))
	must(err)
	for m := range batch.Messages() {
		must(m.DoubleAck(ctx))
	}
	must(own.Term(ctx))
	lost, err := filepath.Glob(filepath.Join(own.StoreDir(), "jetstream", "*", "streams", "S", "msgs", "*"))
	must(err)
	if len(lost) == 0 {
		t.Fatalf("the store holds no messages in %s", own.StoreDir())
	}
	for _, file := range lost {
		must(os.RemoveAll(file))
	}
	must(own.Start(ctx))
	for range 3 {
		_, err := js.Publish(ctx, "s.a", nil, jetstream.WithRetryAttempts(100))
		must(err)
	}
	f, err := doctor.Gather(ctx, nc, doctor.Options{Stream: "S", For: time.Second})
	must(err)
	return f, doctor.Judge(f, doctor.JudgeOptions{Skip: []string{"2"}}) // nobody reads by now
}
