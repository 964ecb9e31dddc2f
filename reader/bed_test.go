package reader_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/reader"
)

// patience bounds every wait of a test; what is waited for comes far earlier.
const patience = 60 * time.Second

// bed is one server with one stream, a connection of the test's own, and the
// reader's connection, through the fault proxy.
type bed struct {
	testing.TB
	ctx    context.Context
	server *lab.Server
	proxy  *proxy.Proxy
	direct *nats.Conn
	admin  jetstream.JetStream
	nc     *nats.Conn
	js     jetstream.JetStream
	stream string

	mu     sync.Mutex
	events []reader.Event
	news   chan struct{}
	frames []proxy.Frame // what was on the reader's wire since record
	taping bool
}

// record forgets what was on the wire and begins to keep it.
func (b *bed) record() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taping, b.frames = true, nil
}

func (b *bed) tap(f proxy.Frame) {
	b.mu.Lock()
	keep := b.taping
	if keep {
		b.frames = append(b.frames, f)
	}
	b.mu.Unlock()
	if keep {
		b.nudge()
	}
}

// wire gives what was on the reader's wire since record.
func (b *bed) wire() []proxy.Frame {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]proxy.Frame(nil), b.frames...)
}

// nudge wakes whoever waits for news.
func (b *bed) nudge() {
	select {
	case b.news <- struct{}{}:
	default:
	}
}

// eventually waits until ok, looking again at every event and frame, and at
// short intervals for what the server alone knows.
func (b *bed) eventually(what string, ok func() bool) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for !ok() {
		select {
		case <-b.news:
		case <-look.C:
		case <-ctx.Done():
			b.Fatalf("never: %s; told were:\n%s", what, b.story())
		}
	}
}

// withStream begins a bed with an empty stream ORDERS on orders.>.
func withStream(t testing.TB, options ...func(*jetstream.StreamConfig)) *bed {
	return withServer(t, lab.Options{}, options...)
}

func withServer(t testing.TB, o lab.Options, options ...func(*jetstream.StreamConfig)) *bed {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	server, err := lab.Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	return attachBed(t, ctx, server, nats.Name("admin"), nats.Name("reader"), options...)
}

// attachBed makes a bed of a server that runs already.
func attachBed(t testing.TB, ctx context.Context, server *lab.Server, admin, user nats.Option, options ...func(*jetstream.StreamConfig)) *bed {
	t.Helper()
	b := &bed{TB: t, ctx: ctx, stream: "ORDERS", news: make(chan struct{}, 1)}
	var err error
	t.Cleanup(func() { b.must(server.Close()) })
	b.server = server
	b.direct = b.connect(server.URL(), admin)
	b.admin, err = jetstream.New(b.direct)
	b.must(err)
	cfg := jetstream.StreamConfig{Name: b.stream, Subjects: []string{"orders.>"}}
	for _, f := range options {
		f(&cfg)
	}
	_, err = b.admin.CreateStream(ctx, cfg)
	b.must(err)
	b.proxy, err = proxy.New(server.URL(), proxy.Options{Tap: b.tap})
	b.must(err)
	t.Cleanup(func() { b.must(b.proxy.Close()) })
	b.nc = b.connect(server.URL(), nats.SetCustomDialer(b.proxy.Dialer()), user)
	b.js, err = jetstream.New(b.nc)
	b.must(err)
	return b
}

func (b *bed) connect(url string, options ...nats.Option) *nats.Conn {
	b.Helper()
	var nc *nats.Conn
	var err error
	for began := time.Now(); nc == nil && time.Since(began) < patience; {
		nc, err = nats.Connect(url, append([]nats.Option{
			nats.MaxReconnects(-1), nats.ReconnectWait(50 * time.Millisecond), nats.FlusherTimeout(2 * time.Second),
			nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}),
		}, options...)...)
		var late net.Error
		if !errors.As(err, &late) || !late.Timeout() {
			break // only a machine that was too busy is asked again
		}
	}
	b.must(err)
	b.Cleanup(nc.Close)
	return nc
}

func (b *bed) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// publish stores messages with the payloads from to to and gives the last sequence.
func (b *bed) publish(from, to int) uint64 {
	b.Helper()
	var last uint64
	for i := from; i <= to; i++ {
		ack, err := b.admin.Publish(b.ctx, "orders.new", []byte(strconv.Itoa(i)))
		b.must(err)
		last = ack.Sequence
	}
	return last
}

func (b *bed) publishTo(subject string, from, to int) {
	b.Helper()
	for i := from; i <= to; i++ {
		_, err := b.admin.Publish(b.ctx, subject, []byte(strconv.Itoa(i)))
		b.must(err)
	}
}

func (b *bed) open(cfg reader.Config) *reader.Reader {
	b.Helper()
	if cfg.Observer == nil {
		cfg.Observer = b.observe
	}
	r, err := reader.Open(b.ctx, b.js, cfg)
	b.must(err)
	b.Cleanup(func() {
		b.figures(r)
		b.proxy.Reset()
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if err := r.Close(ctx); err != nil {
			b.Logf("close: %v", err)
		}
	})
	return r
}

// on is the same bed for a subtest, with a story of its own.
func (b *bed) on(t testing.TB) *bed {
	return &bed{TB: t, ctx: b.ctx, server: b.server, proxy: b.proxy, direct: b.direct, admin: b.admin, nc: b.nc, js: b.js,
		stream: b.stream, news: make(chan struct{}, 1)}
}

func (b *bed) observe(e reader.Event) {
	b.mu.Lock()
	b.events = append(b.events, e)
	b.mu.Unlock()
	b.nudge()
}

func (b *bed) seen() []reader.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]reader.Event(nil), b.events...)
}

// await waits until n events of kind were told and gives the n-th.
func (b *bed) await(kind reader.Kind, n int) reader.Event {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	for {
		left := n
		for _, e := range b.seen() {
			if e.Kind == kind {
				if left--; left == 0 {
					return e
				}
			}
		}
		select {
		case <-b.news:
		case <-ctx.Done():
			b.Fatalf("no %d. event %s; told were:\n%s", n, kind, b.story())
		}
	}
}

func (b *bed) count(kind reader.Kind) (n int) {
	for _, e := range b.seen() {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// story prints what happened, for failures.
func (b *bed) story() string {
	s := ""
	for _, e := range b.seen() {
		s += fmt.Sprintf("%s %s session=%d cause=%s seq=%d from=%d to=%d attempt=%d wait=%s took=%s deaf=%s request=%s code=%d err=%v %s\n",
			e.Time.Format("05.000"), e.Kind, e.Session, e.Cause, e.Sequence, e.From, e.To, e.Attempt, e.Wait, e.Took, e.Deaf, e.Request, e.Code, e.Err, e.Text)
	}
	return s
}

// expect reads the payloads from to to, in order, none twice.
func (b *bed) expect(r *reader.Reader, from, to int) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	for i := from; i <= to; i++ {
		m, err := r.Next(ctx)
		if err != nil {
			b.Fatalf("message %d: %v\nstatus %+v\n%s", i, err, r.Status(), b.story())
		}
		if got := string(m.Data); got != strconv.Itoa(i) {
			b.Fatalf("message %d: got %s (sequence %d)\n%s", i, got, m.Sequence, b.story())
		}
	}
}

// end expects io.EOF.
func (b *bed) end(r *reader.Reader) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if m, err := r.Next(ctx); !errors.Is(err, io.EOF) {
		b.Fatalf("got sequence %d and %v, want io.EOF\n%s", m.Sequence, err, b.story())
	}
}

// fault applies a fault to the reader's connection.
func (b *bed) fault(spec string) (undo func()) {
	b.Helper()
	f, err := proxy.ParseFault(spec)
	b.must(err)
	undo, err = b.proxy.Apply(f)
	b.must(err)
	if f.Name == "drop-subscription" {
		b.passed()
	}
	return undo
}

// passed waits until the server has read what the reader's connection has sent, so that
// a publish behind it comes later; a connection that answers nothing has had the time.
func (b *bed) passed() {
	ctx, cancel := context.WithTimeout(b.ctx, 2*time.Second)
	defer cancel()
	if err := b.nc.FlushWithContext(ctx); err != nil {
		b.Logf("the server was not asked whether it has read all: %v", err)
	}
}

// deafen drops the reader's subscription and waits until the server has done so.
func (b *bed) deafen(r *reader.Reader) {
	b.Helper()
	b.fault("drop-subscription")
	c, err := b.admin.Consumer(b.ctx, b.stream, r.Status().Session.Consumer)
	b.must(err)
	b.eventually("no pull waits on the server", func() bool {
		info, err := c.Info(b.ctx)
		b.must(err)
		return info.NumWaiting == 0
	})
}

// consumers gives the names of all consumers of the stream.
func (b *bed) consumers() []string {
	b.Helper()
	s, err := b.admin.Stream(b.ctx, b.stream)
	b.must(err)
	names := s.ConsumerNames(b.ctx)
	var all []string
	for n := range names.Name() {
		all = append(all, n)
	}
	b.must(names.Err())
	return all
}

// opening opens a reader that is not expected to be open soon; nil comes where it failed.
func (b *bed) opening(cfg reader.Config) <-chan *reader.Reader {
	opened := make(chan *reader.Reader, 1)
	go func() {
		r, err := reader.Open(b.ctx, b.js, cfg)
		if err != nil {
			b.Error(err)
		}
		opened <- r
	}()
	return opened
}

// refused opens a reader that is told why it cannot be, and tries on: when an attempt
// has failed by those words its time is over. It gives Open's error.
func (b *bed) refused(cfg reader.Config, words string) error {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	told := cfg.Observer
	cfg.Observer = func(e reader.Event) {
		if told != nil {
			told(e)
		}
		if e.Kind == "replace_failed" && contains(e.Err, words) {
			cancel()
		}
	}
	r, err := reader.Open(ctx, b.js, cfg)
	if err == nil {
		b.must(r.Close(b.ctx))
		b.Fatalf("opened, want %q", words)
	}
	return err
}

func contains(err error, part string) bool { return err != nil && strings.Contains(err.Error(), part) }

func num(i int) string { return strconv.Itoa(i) }
