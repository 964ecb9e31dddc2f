package run

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/target"
	"github.com/an-open-reader/nats-reader/chaos/target/bad"
)

// A run that is interrupted, in whichever phase, undoes its faults and judges.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for _, phase := range []Phase{Prepare, Steady, Inject, Recover, Drain} {
		t.Run(string(phase), func(t *testing.T) {
			t.Parallel()
			p := planOf(t, quick+`
load: {prefill: 200, size: 400}
steps:
  - {when: {at: 0s}, fault: freeze-server, for: 10s}
  - {when: {at: 100ms}, fault: api-timeout, for: 10s}
phases: {steady: 300ms}
`)
			if phase != Inject {
				p.Steps = nil
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			o := optionsOf(t, p, "reader")
			if phase == Recover || phase == Drain {
				o.Plan.Phases.Inject = 100 * time.Millisecond
			}
			o.Progress = at(phase, cancel)
			got := played(ctx, t, o)
			want(t, got, oracle.Unknown, ExitInterrupted, "interrupted")
			if _, went := phaseOf(got, Drain); went && phase != Drain {
				t.Errorf("it went on to drain: %v", got.Phases)
			}
		})
	}
}

// What was broken before an interrupt stays broken.
func TestInterruptedWhenBroken(t *testing.T) {
	t.Parallel()
	p := planOf(t, `
load: {rate: 10}
target: {name: "exec:a program"}
steps: [{when: {sequence: 60}, fault: freeze-reader, for: 30s}]
phases: {steady: 100ms}
`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := optionsOf(t, p, "exec:"+bad.Command(bad.Twice))
	o.Progress = at(Inject, cancel)
	got := played(ctx, t, o)
	want(t, got, oracle.Broken, ExitInterrupted, "delivered twice")
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	p := planOf(t, quick+`
steps: [{when: {at: 0s}, fault: kill-server, for: 1h}]
phases: {steady: 300ms}
`)
	o := optionsOf(t, p, "reader")
	o.Timeout = 5 * time.Second
	got := played(within(t, 2*time.Minute), t, o)
	want(t, got, oracle.Unknown, ExitUnknown, ErrTimeout.Error())
}

// A target that does not read well with no fault: nothing is injected, nothing judged.
func TestSteadyStateFails(t *testing.T) {
	t.Parallel()
	for kind, why := range map[bad.Kind]string{
		bad.Nothing: "has read nothing within", bad.Exit: "the target ended", bad.Twice: "delivered twice", bad.Garbage: "never published", bad.Stop: "and then nothing",
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			p := planOf(t, quick+`
load: {rate: 200}
steps: [{when: {at: 0s}, fault: cut}]
phases: {steady: 2s}
`)
			got := played(t.Context(), t, optionsOf(t, p, "exec:"+bad.Command(kind)))
			want(t, got, oracle.Unknown, ExitUnknown, why)
			if len(got.Faults) > 0 || !strings.Contains(got.Error, "nothing was injected") {
				t.Errorf("faults %v, error %q", got.Faults, got.Error)
			}
		})
	}
}

func TestNoSuchProgram(t *testing.T) {
	t.Parallel()
	p := planOf(t, quick+"steps: [{when: {at: 0s}, fault: cut}]\n")
	got := played(t.Context(), t, optionsOf(t, p, "exec:/nowhere/reader"))
	want(t, got, oracle.Unknown, ExitUnknown, "exit code 127")
}

// A server that ends before the faults: nothing is injected.
func TestServerEndsInSteadyState(t *testing.T) {
	t.Parallel()
	p := planOf(t, quick+`
steps: [{when: {at: 0s}, fault: cut}]
phases: {steady: 20s}
`)
	o := optionsOf(t, p, "reader")
	r := newRun(o)
	r.record.tell = at(Steady, func() {
		go func() { _ = r.stage.lab.Kill(context.Background()) }() // as somebody outside would
	})
	got := r.play(t.Context())
	wantWhole(t, got)
	want(t, got, oracle.Unknown, ExitUnknown, "the server of the lab has ended")
	if len(got.Faults) > 0 {
		t.Errorf("faults %v", got.Faults)
	}
}

// shaky is a target that panics, or does what a test wants.
type shaky struct {
	target.Target
	read func(ctx context.Context, in target.Input) error
}

func (s shaky) Read(ctx context.Context, in target.Input) error { return s.read(ctx, in) }

// A panic in a target undoes the faults, and is no verdict on it.
func TestPanic(t *testing.T) {
	t.Parallel()
	p := planOf(t, quick+`
steps: [{when: {at: 0s}, fault: kill-server, for: 1h}]
phases: {steady: 300ms}
`)
	o := optionsOf(t, p, "reader")
	inner := o.Target
	come := make(chan struct{})
	o.Progress = at(Inject, func() { close(come) })
	o.Target = shaky{inner, func(ctx context.Context, in target.Input) error {
		reading, stop := context.WithCancel(ctx)
		defer stop()
		over := make(chan error, 1)
		go func() { over <- inner.Read(reading, in) }()
		<-come
		stop()
		<-over
		panic("the target has a bug")
	}}
	got := played(within(t, 2*time.Minute), t, o)
	want(t, got, oracle.Unknown, ExitUnknown, "the target has a bug")
	if len(got.Faults) != 1 {
		t.Errorf("faults %v", got.Faults)
	}
}

// The target's own end, where the plan wants it, and where it does not come.
func TestEndsAsPlanned(t *testing.T) {
	t.Parallel()
	const text = `
target: {heartbeat: 250ms, attempt_timeout: 500ms, retry_max: 500ms, stream_grace: 1s}
ends: stream not found
steps: [{when: {at: 200ms}, fault: %s}]
phases: {steady: 300ms, inject: 20s, recover: 3s}
`
	p := planOf(t, strings.Replace(text, "%s", "delete-stream", 1))
	got := played(t.Context(), t, optionsOf(t, p, "reader"))
	want(t, got, oracle.Held, ExitHeld, "")

	p = planOf(t, strings.Replace(text, "%s", "cut", 1))
	got = played(t.Context(), t, optionsOf(t, p, "reader"))
	want(t, got, oracle.Broken, ExitBroken, "was to end with")
}

// Two runs on one server of others know nothing of each other, and leave nothing.
func TestForeignServer(t *testing.T) {
	t.Parallel()
	server, err := lab.Start(t.Context(), lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	p := planOf(t, quick+`
server: {connect: true}
steps:
  - {when: {at: 100ms}, fault: delete-consumer}
  - {when: {at: 300ms}, fault: cut}
phases: {steady: 300ms}
`)
	t.Run("runs", func(t *testing.T) {
		for range 2 {
			t.Run("one", func(t *testing.T) {
				t.Parallel()
				o := optionsOf(t, p, "reader")
				o.Server = foreign(server)
				got := played(t.Context(), t, o)
				want(t, got, oracle.Held, ExitHeld, "")
				if !got.Server.Foreign {
					t.Error("the server is not said to be of others")
				}
			})
		}
	})
	nc, err := nats.Connect(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := nc.JetStream()
	if err != nil {
		t.Fatal(err)
	}
	for name := range js.StreamNames() {
		t.Errorf("stream %s is left", name)
	}
}

// A fault on a stream needs to be allowed there, and one that destroys it its name.
func TestForeignServerIsSpared(t *testing.T) {
	t.Parallel()
	server, err := lab.Start(t.Context(), lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	p := planOf(t, quick+`
server: {connect: true}
steps: [{when: {at: 100ms}, fault: purge-stream}]
phases: {steady: 300ms}
`)
	o := optionsOf(t, p, "reader")
	o.Server = foreign(server)
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "--allow-server-faults and --target-name NAME permit it") {
		t.Errorf("not refused: %v", err)
	}
	o.Server.AllowServerFaults, o.Server.TargetName = true, "MINE"
	got := played(t.Context(), t, o)
	want(t, got, oracle.Held, ExitHeld, "")

	makeStream(t, server, "MINE")
	got = played(t.Context(), t, o)
	want(t, got, oracle.Unknown, ExitUnknown, "stream MINE exists")
	if !hasStream(t, server, "MINE") {
		t.Error("a stream of others is gone")
	}
}

// A bug of ours in what is told of a fault undoes the faults as well; where it was is told.
func TestPanicInAFault(t *testing.T) {
	t.Parallel()
	p := planOf(t, quick+`
steps: [{when: {at: 0s}, fault: kill-server, for: 1h}]
phases: {steady: 300ms}
`)
	o := optionsOf(t, p, "reader")
	var trace strings.Builder
	o.Trace = &trace
	o.Progress = at(Inject, func() { panic("the progress has a bug") })
	got := played(within(t, 2*time.Minute), t, o)
	want(t, got, oracle.Unknown, ExitUnknown, "a panic in fault kill-server: the progress has a bug")
	if text := trace.String(); !strings.Contains(text, "TestPanicInAFault") || strings.Contains(got.Error, "goroutine") {
		t.Errorf("the trace: %s; the error: %s", text, got.Error)
	}
}
