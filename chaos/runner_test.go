package chaos

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/reader"
)

// stage is a lab server with a stream and a consumer that is ours.
type stage struct {
	*testing.T
	env      *Environment
	consumer string
}

const stageStream = "S"

func newStage(t *testing.T) *stage {
	t.Helper()
	server, err := lab.Start(t.Context(), lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	nc, err := nats.Connect(server.URL(), nats.Timeout(10*time.Second), nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{T: t}
	s.env = &Environment{Stream: stageStream, JS: js, Lab: server, Status: s.status}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: stageStream, Subjects: []string{"s.>"}, MaxConsumers: 100}); err != nil {
		t.Fatal(err)
	}
	s.makeConsumer(jetstream.ConsumerConfig{Name: "ours", Metadata: map[string]string{OwnerKey: "me"}, InactiveThreshold: time.Minute})
	return s
}

func (s *stage) makeConsumer(cfg jetstream.ConsumerConfig) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), 30*time.Second) // an election may be under way
	defer cancel()
	c, err := s.env.JS.CreateConsumer(ctx, stageStream, cfg)
	if err != nil {
		s.Fatal(err)
	}
	s.consumer = c.CachedInfo().Name
}

func (s *stage) status() reader.Status {
	return reader.Status{Session: reader.SessionStatus{Number: 1, Consumer: s.consumer}}
}

func (s *stage) publish(n int) {
	s.Helper()
	for range n {
		if _, err := s.env.JS.Publish(s.Context(), "s.x", nil); err != nil {
			s.Fatal(err)
		}
	}
}

// run runs a schedule to its end and gives what was told.
func (s *stage) run(ctx context.Context, tell func(Firing), texts ...string) (*Runner, []string) {
	s.Helper()
	var specs []Spec
	for _, text := range texts {
		spec, err := ParseSpec(text)
		if err != nil {
			s.Fatal(err)
		}
		specs = append(specs, spec)
	}
	var mu sync.Mutex
	var told []string
	r, err := NewRunner(s.env, specs, func(f Firing) {
		mu.Lock()
		told = append(told, f.Spec.Name+" "+string(f.Phase))
		mu.Unlock()
		if tell != nil {
			tell(f)
		}
	})
	if err != nil {
		s.Fatal(err)
	}
	r.Run(ctx)
	return r, told
}

func TestRunnerDeletesTheConsumerInUse(t *testing.T) {
	s := newStage(t)
	_, told := s.run(t.Context(), nil, "delete-consumer@1ms")
	if !slices.Equal(told, []string{"delete-consumer fired"}) {
		t.Errorf("told %q", told)
	}
	if _, err := s.env.JS.Consumer(t.Context(), stageStream, s.consumer); !errors.Is(err, jetstream.ErrConsumerNotFound) {
		t.Errorf("the consumer is there: %v", err)
	}
}

func TestRunnerPausesAndResumes(t *testing.T) {
	s := newStage(t)
	paused := func() bool {
		c, err := s.env.JS.Consumer(t.Context(), stageStream, s.consumer)
		if err != nil {
			t.Fatal(err)
		}
		return c.CachedInfo().Paused
	}
	s.run(t.Context(), func(f Firing) {
		if f.Phase == PhaseFired && !paused() {
			t.Error("not paused while the fault acts")
		}
	}, "pause-consumer@1ms+2s")
	if paused() {
		t.Error("still paused after the fault's end")
	}
}

func TestRunnerPurges(t *testing.T) {
	s := newStage(t)
	s.publish(5)
	s.run(t.Context(), nil, "purge-stream(keep=2)@1ms")
	stream, err := s.env.JS.Stream(t.Context(), stageStream)
	if err != nil {
		t.Fatal(err)
	}
	if n := stream.CachedInfo().State.Msgs; n != 2 {
		t.Errorf("%d messages are left, want 2", n)
	}
}

func TestRunnerRecreatesTheStream(t *testing.T) {
	s := newStage(t)
	s.publish(5)
	before, err := s.env.JS.Stream(t.Context(), stageStream)
	if err != nil {
		t.Fatal(err)
	}
	s.run(t.Context(), func(f Firing) {
		if _, err := s.env.JS.Stream(t.Context(), stageStream); f.Phase == PhaseFired && !errors.Is(err, jetstream.ErrStreamNotFound) {
			t.Errorf("the stream is there while the fault acts: %v", err)
		}
	}, "recreate-stream(first=1000)@1ms+50ms")
	after, err := s.env.JS.Stream(t.Context(), stageStream)
	if err != nil {
		t.Fatal(err)
	}
	a, b := before.CachedInfo(), after.CachedInfo()
	if !b.Created.After(a.Created) || b.State.Msgs != 0 || b.State.FirstSeq != 1000 || !slices.Equal(a.Config.Subjects, b.Config.Subjects) {
		t.Errorf("got %+v", b)
	}
}

func TestRunnerMakesTheStreamAgainWhenInterrupted(t *testing.T) {
	s := newStage(t)
	ctx, cancel := context.WithCancel(t.Context())
	s.run(ctx, func(f Firing) {
		if f.Phase == PhaseFired {
			cancel()
		}
	}, "recreate-stream@1ms+1h", "purge-stream@1h")
	if _, err := s.env.JS.Stream(t.Context(), stageStream); err != nil {
		t.Errorf("the stream is not there after an interrupt: %v", err)
	}
}

func TestRunnerKillsAndRestartsTheServer(t *testing.T) {
	for _, fault := range []string{"kill-server@1ms+10ms", "stop-server@1ms+10ms"} {
		t.Run(fault, func(t *testing.T) {
			s := newStage(t)
			s.publish(3)
			pid := s.env.Lab.PID()
			s.run(t.Context(), func(f Firing) {
				if f.Phase == PhaseFired && s.env.Lab.Running() {
					t.Error("the server runs while the fault acts")
				}
			}, fault)
			if now := s.env.Lab.PID(); now == 0 || now == pid {
				t.Errorf("pid %d after %d", now, pid)
			}
			if n := s.stored(); n != 3 {
				t.Errorf("%d messages after the restart, want 3", n)
			}
		})
	}
}

func TestRunnerFreezesAndThaws(t *testing.T) {
	s := newStage(t)
	s.run(t.Context(), func(f Firing) {
		if f.Phase == PhaseFired && !s.env.Lab.Frozen() {
			t.Error("not frozen while the fault acts")
		}
	}, "freeze-server@1ms+20ms")
	if s.env.Lab.Frozen() {
		t.Error("still frozen after the fault's end")
	}
}

func TestRunnerTellsWhatCouldNotAct(t *testing.T) {
	s := newStage(t)
	s.consumer = "gone"
	r, told := s.run(t.Context(), nil, "delete-consumer@1ms")
	if !slices.Equal(told, []string{"delete-consumer failed"}) || len(r.Failed()) != 1 {
		t.Errorf("told %q, failed %v", told, r.Failed())
	}
}

// On a server that is not the lab's only what is ours is touched.
func TestForeignServerIsSpared(t *testing.T) {
	s := newStage(t)
	s.env.Lab = nil
	for text, want := range map[string]string{
		"kill-server@1s":     "--demo",
		"purge-stream@1s":    "--allow-server-faults",
		"recreate-stream@1s": "--allow-server-faults",
		"cut@1s":             "proxy",
	} {
		spec, err := ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewRunner(s.env, []Spec{spec}, nil); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want a refusal that names %s", text, err, want)
		}
	}
	for _, cfg := range []jetstream.ConsumerConfig{
		{Name: "foreign", InactiveThreshold: time.Minute},
		{Durable: "durable", Metadata: map[string]string{OwnerKey: "me"}},
	} {
		s.makeConsumer(cfg)
		r, _ := s.run(t.Context(), nil, "delete-consumer@1ms", "pause-consumer@1ms+1ms")
		for _, err := range r.Failed() {
			if !errors.Is(err, ErrRefused) {
				t.Errorf("consumer %s: %v", s.consumer, err)
			}
		}
		if len(r.Failed()) != 2 {
			t.Errorf("consumer %s: %d of 2 faults were refused", s.consumer, len(r.Failed()))
		}
		if _, err := s.env.JS.Consumer(t.Context(), stageStream, s.consumer); err != nil {
			t.Errorf("consumer %s was touched: %v", s.consumer, err)
		}
	}
	s.env.AllowServerFaults, s.env.TargetName = true, "T"
	purge, _ := ParseSpec("purge-stream@1ms")
	if err := s.env.Allow(purge); !errors.Is(err, ErrRefused) {
		t.Errorf("a wrong target name: got %v", err)
	}
	s.env.TargetName = stageStream
	if err := s.env.Allow(purge); err != nil {
		t.Errorf("allowed and named: got %v", err)
	}
}

// ledger keeps which id was stored under which sequence.
type ledger struct {
	mu        sync.Mutex
	attempted map[string]int // attempts by id
	sequences map[uint64]string
	twice     []string
	again     []string // that the server had already
}

func (l *ledger) Deduplicated(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.again = append(l.again, id)
}

func (l *ledger) Attempted(id string, _ time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.attempted[id]++
}

func (l *ledger) Acknowledged(id string, sequence uint64, _ time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if other, stored := l.sequences[sequence]; stored {
		l.twice = append(l.twice, fmt.Sprintf("sequence %d was acknowledged for %s and for %s", sequence, other, id))
	}
	l.sequences[sequence] = id
}

func TestPublisherSurvivesAKilledServer(t *testing.T) {
	s := newStage(t)
	o := &ledger{attempted: map[string]int{}, sequences: map[uint64]string{}}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		NewPublisher(s.env.JS, o, "s.x", "w", 1000).Run(ctx)
	}()
	s.run(t.Context(), nil, "kill-server@50ms+50ms")
	stored := func() uint64 {
		stream, err := s.env.JS.Stream(t.Context(), stageStream)
		if err != nil {
			return 0
		}
		return stream.CachedInfo().State.Msgs
	}
	for at := stored(); stored() <= at+10; {
		if t.Context().Err() != nil {
			t.Fatal("the publisher does not go on")
		}
	}
	cancel()
	<-done
	o.mu.Lock()
	attempted, acked := len(o.attempted), len(o.sequences)
	for _, twice := range o.twice {
		t.Error(twice)
	}
	o.mu.Unlock()
	if n := stored(); int(n) < acked || int(n) > attempted {
		t.Errorf("%d ids attempted, %d acknowledged, %d stored: each is stored once", attempted, acked, n)
	}
}

// An attempt that the server stores after nobody waits for its answer any more is told as
// one, and so is that the next one stored nothing.
func TestPublisherTellsAttemptsThatStoreNothing(t *testing.T) {
	s := newStage(t)
	o := &ledger{attempted: map[string]int{}, sequences: map[uint64]string{}}
	p := NewPublisher(s.env.JS, o, "s.x", "w", 1000)
	published := make(chan bool, 1)
	s.run(t.Context(), func(f Firing) {
		if f.Phase == PhaseFired {
			go func() { published <- p.Publish(t.Context()) }()
		}
	}, "freeze-server@0s+3s")
	if !<-published {
		t.Fatal("nothing was published")
	}
	if tries := o.attempted["w-1"]; tries < 2 || !slices.Equal(o.again, []string{"w-1"}) {
		t.Errorf("w-1 was attempted %d times; stored before: %v", tries, o.again)
	}
}

// A bug in what is told of a fault ends the run, undoes the faults, and is no crash.
func TestRunnerOutlivesAPanic(t *testing.T) {
	s := newStage(t)
	r, _ := s.run(t.Context(), func(f Firing) {
		if f.Phase == PhaseFired {
			panic("a bug")
		}
	}, "fill-consumers@0s+1h", "freeze-server@1h+1s")
	p := r.Panic()
	if p == nil || p.Fault != "fill-consumers" || p.Value != "a bug" || !strings.Contains(string(p.Stack), "TestRunnerOutlivesAPanic") {
		t.Fatalf("the panic: %v", p)
	}
	if failed := r.Failed(); len(failed) != 1 || failed[0].Error() != "a panic in fault fill-consumers: a bug" {
		t.Errorf("failed: %v", failed)
	}
	if left := s.consumers(); !slices.Equal(left, []string{s.consumer}) {
		t.Errorf("consumers that are left: %v", left)
	}
	if periods := r.Periods(); len(periods) != 1 || periods[0].To.IsZero() {
		t.Errorf("the faults acted as %v", periods)
	}
}
