package doctor_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/reader/doctor"
)

func TestConsumerLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		most int
		want []string
	}{{2, []string{"READER_016"}}, {3, nil}} {
		t.Run(fmt.Sprint(c.most), func(t *testing.T) {
			t.Parallel()
			w := newWard(t)
			w.stream(func(cfg *jetstream.StreamConfig) { cfg.MaxConsumers = c.most })
			for i := range 2 {
				w.consumer(jetstream.ConsumerConfig{Durable: fmt.Sprintf("D%d", i), AckPolicy: jetstream.AckExplicitPolicy})
			}
			_, r := w.examine(short, doctor.JudgeOptions{})
			finds(t, r, c.want...)
		})
	}
}

// Newer servers allow 1000 on a stream where nothing is set.
func TestConsumerLimitOfTheServer(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	w.stream()
	const near = 900
	var all sync.WaitGroup
	failed := make(chan error, near)
	next := make(chan int)
	for range 8 {
		all.Go(func() {
			for i := range next {
				_, err := w.js.CreateConsumer(w.ctx, "S", jetstream.ConsumerConfig{Name: fmt.Sprintf("worker-a%d", i), AckPolicy: jetstream.AckExplicitPolicy, InactiveThreshold: time.Hour})
				if err != nil {
					failed <- err
				}
			}
		})
	}
	for i := range near - 1 {
		next <- i
	}
	close(next)
	all.Wait()
	close(failed)
	for err := range failed {
		t.Fatal(err)
	}
	_, r := w.examine(short, doctor.JudgeOptions{})
	finds(t, r)
	w.consumer(jetstream.ConsumerConfig{Name: "one-more", AckPolicy: jetstream.AckExplicitPolicy, InactiveThreshold: time.Hour})
	_, r = w.examine(short, doctor.JudgeOptions{})
	if since(t, 2, 15) {
		finds(t, r, "READER_016")
	} else {
		finds(t, r)
	}
}

func TestFullStream(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	w.stream(func(cfg *jetstream.StreamConfig) { cfg.MaxMsgs, cfg.Discard = 3, jetstream.DiscardNew })
	w.publish("s.a", 2)
	_, r := w.examine(short, doctor.JudgeOptions{})
	finds(t, r)
	w.publish("s.a", 1)
	_, r = w.examine(short, doctor.JudgeOptions{})
	finds(t, r, "READER_018")
}

func TestNoJetStream(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	nc, err := nats.Connect(server.URL(), nats.UserInfo("none", "p"), nats.Timeout(30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	off, err := lab.Start(ctx, lab.Options{NoJetStream: true})
	if err != nil {
		t.Fatal(err)
	}
	defer off.Close() //nolint:errcheck // the test is over
	without, err := nats.Connect(off.URL(), nats.Timeout(30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	defer without.Close()
	for name, nc := range map[string]*nats.Conn{"the account has none": nc, "the server has none": without} {
		f, err := doctor.Gather(ctx, nc, doctor.Options{For: time.Second})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		r := doctor.Judge(f, doctor.JudgeOptions{})
		finds(t, r, "READER_018")
		if r.Verdict != doctor.VerdictCritical {
			t.Errorf("%s: the verdict is %s", name, r.Verdict)
		}
	}
}

// Permissions are tried in a way that changes nothing, and what is denied is told at once.
func TestPermissions(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	w.stream()
	w.publish("s.a", 3)
	o := short
	o.Timeout = time.Minute // a denied request does not wait for it
	began := time.Now()
	f, r := w.examineBy(w.connect("few"), o, doctor.JudgeOptions{})
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s: a denied request was waited for", took)
	}
	finds(t, r, "READER_019", "-READER_019")
	if text := r.Findings[0].Text; !strings.Contains(text, "$JS.API.CONSUMER.MSG.NEXT.S.") {
		t.Errorf("it does not name the pull: %s", text)
	}
	var missing []string
	for _, n := range f.NotJudged {
		missing = append(missing, n.What)
	}
	if fmt.Sprint(missing) != "[advisories connections pulls]" {
		t.Errorf("not judged are %v", missing)
	}
	_, r = w.examine(short, doctor.JudgeOptions{})
	finds(t, r)
}

// Who may not list consumers is told so, not that all is well; one by name is judged.
func TestUnlisted(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	w.stream()
	w.publish("s.a", 3)
	w.consumer(jetstream.ConsumerConfig{Durable: "D", AckPolicy: jetstream.AckExplicitPolicy})
	nc := w.connect("unlisted")
	if _, r := w.examineBy(nc, short, doctor.JudgeOptions{}); r.Verdict != doctor.VerdictUnknown || len(r.NotJudged) != 2 {
		t.Errorf("without a list of consumers the verdict is %s\n%s", r.Verdict, told(r))
	}
	o := short
	o.Consumer = "D"
	_, r := w.examineBy(nc, o, doctor.JudgeOptions{})
	finds(t, r, "READER_002")
}

// Without any permission nothing can be said, and that at once.
func TestNoPermissionAtAll(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	w.stream()
	for _, o := range []doctor.Options{{Timeout: time.Minute, For: time.Second}, {Timeout: time.Minute, For: time.Second, Stream: "S"}, {Timeout: time.Minute, For: time.Second, Stream: "S", Consumer: "C", Listen: true}} {
		began := time.Now()
		f, r := w.examineBy(w.connect("none"), o, doctor.JudgeOptions{Skip: []string{"19"}})
		if r.Verdict != doctor.VerdictUnknown || len(f.NotJudged) == 0 {
			t.Errorf("%+v: the verdict is %s\n%s", o, r.Verdict, told(r))
		}
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("it took %s: a denied request was waited for", took)
		}
	}
}

func TestNotFound(t *testing.T) {
	t.Parallel()
	w := newWard(t)
	w.stream()
	for _, c := range []struct {
		o    doctor.Options
		want error
	}{
		{doctor.Options{Stream: "T"}, doctor.ErrStreamNotFound},
		{doctor.Options{Stream: "S", Consumer: "C"}, doctor.ErrConsumerNotFound},
		{doctor.Options{Stream: "a.b"}, doctor.ErrOptions},
		{doctor.Options{Consumer: "C"}, doctor.ErrOptions},
		{doctor.Options{For: time.Millisecond}, doctor.ErrOptions},
		{doctor.Options{Timeout: -1}, doctor.ErrOptions},
	} {
		if _, err := doctor.Gather(w.ctx, w.nc, c.o); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.o, err, c.want)
		}
	}
}

// A client that does not read is told while the server waits for it, and after it
// was cut off; one that reads all the same is not.
func TestSlowConnection(t *testing.T) {
	t.Parallel()
	for _, reads := range []bool{false, true} {
		t.Run(fmt.Sprint("reads ", reads), func(t *testing.T) {
			t.Parallel()
			w := newWard(t)
			w.stream()
			raw, err := net.Dial("tcp", strings.TrimPrefix(server.URL(), "nats://")) //nolint:noctx // the server is on loopback
			w.must(err)
			defer raw.Close() //nolint:errcheck // the test is over
			_, err = fmt.Fprintf(raw, "CONNECT {\"verbose\":false,\"user\":\"u%d\",\"pass\":\"p\",\"name\":\"sleeper\"}\r\nSUB _INBOX.sleeper.* 1\r\nPING\r\n", w.n)
			w.must(err)
			answer := make([]byte, 64<<10)
			for text := ""; !strings.Contains(text, "PONG"); {
				n, err := raw.Read(answer)
				w.must(err)
				text += string(answer[:n])
			}
			const chunks, size = 48, 512 << 10
			chunk, took := make([]byte, size), make(chan struct{})
			if reads {
				go func() {
					defer close(took)
					io.CopyN(io.Discard, raw, chunks*size) //nolint:errcheck // the judgement is what counts
				}()
			}
			for range chunks {
				w.must(w.nc.Publish("_INBOX.sleeper.x", chunk))
				if reads { // at the pace of the one that takes them
					w.must(w.nc.FlushWithContext(w.ctx))
				}
			}
			w.must(w.nc.FlushWithContext(w.ctx))
			if reads {
				select {
				case <-took:
				case <-w.ctx.Done():
					t.Fatal("it does not take what it is sent")
				}
			}
			_, r := w.examine(short, doctor.JudgeOptions{})
			if reads {
				finds(t, r)
				return
			}
			finds(t, r, "READER_022")
			if !strings.Contains(r.Findings[0].Text, "sleeper") {
				t.Errorf("it does not name the connection: %s", r.Findings[0].Text)
			}
		})
	}
}

// A monitoring port tells what the account's API cannot.
func TestMonitoringPort(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	own, err := lab.Start(ctx, lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close() //nolint:errcheck // the test is over
	nc, err := nats.Connect(own.URL(), nats.Timeout(30*time.Second), nats.MaxReconnects(-1), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	look := func(url string) (doctor.Facts, doctor.Report) {
		t.Helper()
		f, err := doctor.Gather(ctx, nc, doctor.Options{For: 200 * time.Millisecond, Monitor: url})
		if err != nil {
			t.Fatal(err)
		}
		return f, doctor.Judge(f, doctor.JudgeOptions{})
	}
	f, r := look(own.MonitorURL())
	finds(t, r)
	if f.Monitor == nil || f.Monitor.Disabled || f.Monitor.MaxStorage == 0 {
		t.Errorf("the port told %+v", f.Monitor)
	}
	f, r = look("http://user:secret@127.0.0.1:1/")
	finds(t, r)
	if text := fmt.Sprint(f); f.Monitor != nil || strings.Contains(text, "secret") || !strings.Contains(text, "monitoring port http://user:xxxxx@127.0.0.1:1/") {
		t.Errorf("of a port that nobody answers it says %s", text)
	}
	_, err = own.Amend(ctx, func() string { return "jetstream: disabled\n" })
	if err != nil {
		t.Fatal(err)
	}
	f, r = look(own.MonitorURL())
	if f.Monitor == nil || !f.Monitor.Disabled || !found(r, "READER_018") || r.Verdict != doctor.VerdictCritical {
		t.Errorf("of a server whose JetStream was disabled the port told %+v\n%s", f.Monitor, told(r))
	}
}

// An account that has used its memory up to nine tenths, and then all of it.
func TestAccountLimits(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	nc, err := nats.Connect(server.URL(), nats.UserInfo("small", "p"), nats.Timeout(30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "S", Subjects: []string{"s.>"}, Storage: jetstream.MemoryStorage}); err != nil {
		t.Fatal(err)
	}
	const limits = 100_000 // 100K, or 1024 of them
	fill := func(to uint64) {
		t.Helper()
		for {
			info, err := js.AccountInfo(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if info.Memory >= to {
				return
			}
			if _, err := js.Publish(ctx, "s.a", make([]byte, 500)); err != nil {
				return // it is full
			}
		}
	}
	for _, c := range []struct {
		bytes   uint64
		want    []string
		verdict doctor.Verdict
	}{
		{limits / 2, nil, doctor.VerdictHealthy},
		{limits * 93 / 100, []string{"READER_018"}, doctor.VerdictWarning},
		{2 * limits, []string{"READER_018"}, doctor.VerdictCritical},
	} {
		fill(c.bytes)
		f, err := doctor.Gather(ctx, nc, doctor.Options{For: 200 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		r := doctor.Judge(f, doctor.JudgeOptions{})
		finds(t, r, c.want...)
		if r.Verdict != c.verdict {
			t.Errorf("with %d of %d bytes in use the verdict is %s", f.Account.Memory, f.Account.Limits.MaxMemory, r.Verdict)
		}
	}
}

// A server that stands still in the middle of the watch has not lost its consumers.
func TestFrozenMeanwhile(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	own, err := lab.Start(ctx, lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close() //nolint:errcheck // the test is over
	nc, err := nats.Connect(own.URL(), nats.Timeout(30*time.Second), nats.FlusherTimeout(2*time.Second), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "S", Subjects: []string{"s.>"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateConsumer(ctx, jetstream.ConsumerConfig{Durable: "D", AckPolicy: jetstream.AckExplicitPolicy}); err != nil {
		t.Fatal(err)
	}
	for _, consumer := range []string{"", "D"} {
		f, err := doctor.Gather(ctx, nc, doctor.Options{Stream: "S", Consumer: consumer, For: time.Second, Timeout: time.Second, Progress: func(p doctor.Progress) {
			if strings.HasPrefix(p.Step, "watch: look 2") {
				if err := own.Freeze(); err != nil {
					t.Error(err)
				}
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if err := own.Thaw(); err != nil {
			t.Fatal(err)
		}
		r := doctor.Judge(f, doctor.JudgeOptions{})
		if !found(r, "READER_015") || len(f.Consumers) != 1 || f.Consumers[0].Gone {
			t.Errorf("of a server that stands still it says\n%s%+v", told(r), f.Consumers)
		}
	}
}
