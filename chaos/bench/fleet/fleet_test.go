package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/reader"
)

// dial connects as a user of the program does.
func dial(_ context.Context, url, name string, more ...nats.Option) (jetstream.JetStream, error) {
	options := append([]nats.Option{nats.Name(name), nats.MaxReconnects(-1), nats.ReconnectWait(50 * time.Millisecond),
		nats.Timeout(10 * time.Second), nats.FlusherTimeout(2 * time.Second)}, more...)
	nc, err := nats.Connect(url, options...)
	if err != nil {
		return nil, err
	}
	return jetstream.New(nc)
}

// patient are readers that make no second attempt on a machine that stands still for a while.
var patient = reader.Config{Retry: reader.RetryPolicy{AttemptTimeout: 30 * time.Second}}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// foreign is a server that the fleet did not start, and a plan of readers on it.
func foreign(t *testing.T, config string) (*lab.Server, Plan) {
	t.Helper()
	server, err := lab.Start(within(t), lab.Options{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	journal := chaos.NewJournal(t.TempDir(), chaos.Place{Servers: server.URL()})
	t.Cleanup(func() {
		if left, err := journal.Close(); left > 0 || err != nil {
			t.Errorf("%d streams are in the journal: %v", left, err)
		}
	})
	there := func(ctx context.Context, _, name string, more ...nats.Option) (jetstream.JetStream, error) {
		return dial(ctx, server.URL(), name, more...)
	}
	return server, Plan{Readers: 12, Streams: 3, Idle: LeastIdle, Config: patient, Given: true, Journal: journal, Dial: there}
}

// streamsOf counts the streams of a server.
func streamsOf(t *testing.T, server *lab.Server) int {
	t.Helper()
	js, err := dial(t.Context(), server.URL(), "test")
	if err != nil {
		t.Fatal(err)
	}
	defer js.Conn().Close()
	info, err := js.AccountInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return info.Streams
}

// report is what a user sees of a result.
func report(t *testing.T, f Format, r Result) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, f, r); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestCostOfReaders(t *testing.T) {
	r, err := Run(within(t), Plan{Readers: 50, Streams: 4, Idle: LeastIdle, Config: patient, Dial: dial})
	if err != nil {
		t.Fatal(err)
	}
	text := report(t, Text, r)
	if r.Verdict != Held || len(r.Recoveries) != 2 {
		t.Fatal(text)
	}
	for _, v := range r.Recoveries {
		if v.Replaced+v.Healed < 50 || v.Consumers != 50 || v.Read <= 0 || v.ReadReady <= 0 || v.Deaf <= 0 || sum(v.API) < 50 {
			t.Errorf("%+v", v)
		}
	}
	// A reader keeps the goroutine of its subscription and one timer; of both, a few of the connection and of what
	// is under way may be seen as well.
	if r.Cost.Goroutines < 0.8 || r.Cost.Goroutines > 2 || r.Cost.Timers < 0.9 || r.Cost.Timers > 1.5 || r.Cost.Memory <= 0 {
		t.Errorf("%+v", r.Cost)
	}
	if r.Open.API["consumer_create"] != 50 || r.Room.PerStream != 13 || r.Idle.OnServer != 0 {
		t.Error(text)
	}
	for _, words := range []string{"50 idle readers on 4 streams", "kill", "stop", "held: "} {
		if !strings.Contains(text, words) {
			t.Errorf("%q is not told: %s", words, text)
		}
	}
	for line := range strings.Lines(text) {
		if len(strings.TrimSuffix(line, "\n")) > 80 {
			t.Errorf("wider than 80 columns: %s", line)
		}
	}
	if md := report(t, Markdown, r); !strings.Contains(md, "| kill |") || !strings.Contains(md, "**held") {
		t.Error(md)
	}
	var doc struct {
		Schema     string
		Recoveries []struct {
			Read   string `json:"read"`
			ReadNS int64  `json:"read_ns"`
		}
	}
	if err := json.Unmarshal([]byte(report(t, JSON, r)), &doc); err != nil || doc.Schema != Schema {
		t.Fatal(err, doc)
	}
	if d, err := time.ParseDuration(doc.Recoveries[0].Read); err != nil || int64(d) != doc.Recoveries[0].ReadNS || d != r.Recoveries[0].Read {
		t.Error(doc.Recoveries, err)
	}
}

func TestSteadyReadersOnSeveralConnections(t *testing.T) {
	t.Parallel()
	server, p := foreign(t, "")
	p.For, p.Connections = LeastFor, 3
	r, err := Run(within(t), p)
	if err != nil {
		t.Fatal(err)
	}
	// The memory of so few readers in so short a time is not what is tested.
	if len(r.Samples) < LeastSamples || len(r.Trends) < len(series)-1 {
		t.Fatal(report(t, Text, r))
	}
	for _, s := range r.Samples {
		if s.Consumers != 12 || s.Subscriptions != 12 || s.OnServer != 12 || s.Goroutines < 12 || s.Memory == 0 {
			t.Errorf("%+v", s)
		}
	}
	if sum(r.Idle.API) != 0 || r.Closed.Consumers != 0 || r.Made.Place != "given" || len(r.Recoveries) != 0 {
		t.Error(report(t, Text, r))
	}
	if n := streamsOf(t, server); n != 0 {
		t.Errorf("%d streams are left", n)
	}
}

func TestFullSpeed(t *testing.T) {
	t.Parallel()
	const rate = 2000
	r, err := Run(within(t), Plan{For: LeastFor, Rate: rate, Size: 64, Config: patient, Dial: dial})
	if err != nil {
		t.Fatal(err)
	}
	v := r.Speed
	if v.Read == 0 || v.Lost+v.Missed+v.Unread > 0 || v.Sessions != 1 || v.Rate > rate+rate/10 || v.MB <= 0 || v.Store == 0 {
		t.Error(report(t, Text, r))
	}
	if last := r.Samples[len(r.Samples)-1]; last.Consumers != 1 || last.Read == 0 {
		t.Errorf("%+v", last)
	}
}

// A publisher that is faster than the reader waits for it, and the limits of the stream take nothing that was not read.
func TestFullSpeedStaysWithinTheStore(t *testing.T) {
	t.Parallel()
	const size = 256 << 10
	r, err := Run(within(t), Plan{For: LeastFor, Size: size, Memory: true, Config: patient, Dial: dial})
	if err != nil {
		t.Fatal(err)
	}
	most := uint64(keptTimes * ahead(size) * (size + framing))
	if v := r.Speed; v.Read == 0 || v.Lost+v.Missed+v.Unread > 0 || v.Store > most {
		t.Errorf("at most %d may be stored: %s", most, report(t, Text, r))
	}
}

func TestReadersThatDoNotFit(t *testing.T) {
	t.Parallel()
	server, p := foreign(t, "accounts { A { jetstream: {max_consumers: 3}, users: [{user: a, password: a}] } }\nno_auth_user: a\n")
	_, err := Run(within(t), p)
	var plan *PlanError
	if !errors.As(err, &plan) || plan.Flag != "streams" || !strings.Contains(plan.Problem, "the account allows 3") || !strings.Contains(plan.Hint, "--streams 4 at least") {
		t.Errorf("%v, %+v", err, plan)
	}
	if n := streamsOf(t, server); n != 0 {
		t.Errorf("%d streams are left", n)
	}
}

// atPhase calls once when a phase is told.
func atPhase(p *Plan, text string, do func()) {
	done := false
	p.Told = func(t Progress) {
		if t.Text == text && !done {
			done = true
			do()
		}
	}
}

func TestInterruptLeavesNothing(t *testing.T) {
	t.Parallel()
	server, p := foreign(t, "")
	for _, phase := range []string{"making streams", "opening readers", "reading", "waiting until all are idle", "counting what idle readers do", "closing"} {
		ctx, interrupt := context.WithCancel(within(t))
		reached := false
		atPhase(&p, phase, func() { reached = true; interrupt() })
		if _, err := Run(ctx, p); !errors.Is(err, context.Canceled) || !reached {
			t.Errorf("%s: %v, reached %v", phase, err, reached)
		}
		interrupt()
		if n := streamsOf(t, server); n != 0 {
			t.Errorf("%s: %d streams are left", phase, n)
		}
	}
}

// What a server denies is told at once, with the subject.
func TestServerThatDenies(t *testing.T) {
	for denied, subject := range map[string]string{"$JS.API.STREAM.CREATE.>": "$JS.API.STREAM.CREATE.BENCH-", "*.m": `"BENCH-`} {
		server, p := foreign(t, fmt.Sprintf(`
accounts { A { jetstream: enabled, users: [{user: all, password: all}, {user: few, password: few, permissions: {publish: {deny: %q}}}] } }
no_auth_user: all
`, denied))
		there := p.Dial
		p.Dial = func(ctx context.Context, url, name string, more ...nats.Option) (jetstream.JetStream, error) {
			return there(ctx, url, name, append(more, nats.UserInfo("few", "few"))...)
		}
		if _, err := Run(within(t), p); !errors.Is(err, reader.ErrPermission) || !strings.Contains(err.Error(), subject) {
			t.Errorf("%s is denied: %v", denied, err)
		}
		if n := streamsOf(t, server); n != 0 {
			t.Errorf("%s is denied: %d streams are left", denied, n)
		}
	}
}

// A server of the lab that ends by itself ends the measurement, and leaves no process and no folder.
func TestServerThatDies(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	p := Plan{Readers: 6, Streams: 2, Idle: time.Hour, Config: patient, Dial: dial}
	if err := p.settle(); err != nil {
		t.Fatal(err)
	}
	f := newFleet(&p)
	killed := make(chan error, 1)
	atPhase(&p, "counting what idle readers do", func() { killed <- f.hosts[0].server.Kill(context.Background()) })
	_, err := f.run(within(t))
	if err == nil || !strings.Contains(err.Error(), "ended by itself") {
		t.Errorf("%v", err)
	}
	if err := <-killed; err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("left are %v: %v", left, err)
	}
}
