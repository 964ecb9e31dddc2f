package proxy_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

func TestMain(m *testing.M) {
	lab.Main()
	goleak.VerifyTestMain(m)
}

// limit bounds every wait for an event that must come.
const limit = 30 * time.Second

// bed is one real server with a proxy in front of it, and what the proxy told.
type bed struct {
	t      testing.TB
	ctx    context.Context
	server *lab.Server
	proxy  *proxy.Proxy
	log    *wire
}

// wire collects what a proxy tells and lets a test wait for it.
type wire struct {
	mu      sync.Mutex
	frames  []proxy.Frame
	firings []proxy.Firing
	notices []proxy.Notice
	changed chan struct{}
}

func newWire() *wire { return &wire{changed: make(chan struct{})} }

func (w *wire) note(f func()) {
	w.mu.Lock()
	f()
	close(w.changed)
	w.changed = make(chan struct{})
	w.mu.Unlock()
}

// wait returns when done, which is called under the lock, says so.
func (w *wire) wait(t testing.TB, what string, done func() bool) {
	t.Helper()
	end := time.NewTimer(limit)
	defer end.Stop()
	for {
		w.mu.Lock()
		ok, changed := done(), w.changed
		w.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-end.C:
			w.mu.Lock()
			defer w.mu.Unlock()
			t.Fatalf("%s did not come within %v; notices: %+v", what, limit, w.notices)
		}
	}
}

func (w *wire) waitFrame(t testing.TB, what string, wanted func(proxy.Frame) bool) (found proxy.Frame) {
	t.Helper()
	w.wait(t, what, func() bool {
		for _, f := range w.frames {
			if wanted(f) {
				found = f
				return true
			}
		}
		return false
	})
	return found
}

func (w *wire) waitFirings(t testing.TB, n int) []proxy.Firing {
	t.Helper()
	var out []proxy.Firing
	w.wait(t, "the firings", func() bool {
		out = append([]proxy.Firing(nil), w.firings...)
		return len(out) >= n
	})
	return out
}

func (w *wire) options() proxy.Options {
	return proxy.Options{
		Tap:      func(f proxy.Frame) { w.note(func() { w.frames = append(w.frames, f) }) },
		OnFiring: func(f proxy.Firing) { w.note(func() { w.firings = append(w.firings, f) }) },
		OnNotice: func(n proxy.Notice) { w.note(func() { w.notices = append(w.notices, n) }) },
	}
}

func newBed(t testing.TB) *bed {
	t.Helper()
	return newBedWith(t, lab.Options{})
}

func newBedWith(t testing.TB, o lab.Options) *bed {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	server, err := lab.Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	b := &bed{t: t, ctx: ctx, server: server, log: newWire()}
	b.proxy = newProxy(t, server.URL(), b.log.options())
	return b
}

func newProxy(t testing.TB, upstream string, o proxy.Options) *proxy.Proxy {
	t.Helper()
	p, err := proxy.New(upstream, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := p.Listen("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	return p
}

// apply applies a fault in its notation.
func (b *bed) apply(fault string) (undo func()) {
	b.t.Helper()
	f, err := proxy.ParseFault(fault)
	if err != nil {
		b.t.Fatal(err)
	}
	undo, err = b.proxy.Apply(f)
	if err != nil {
		b.t.Fatal(err)
	}
	return undo
}

// dial connects a client: in memory or by TCP, as asked for.
func (b *bed) dial(memory bool, options ...nats.Option) *nats.Conn {
	b.t.Helper()
	options = append([]nats.Option{nats.Timeout(limit), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})}, options...)
	if memory {
		options = append(options, nats.SetCustomDialer(b.proxy.Dialer()))
	}
	nc, err := nats.Connect(b.proxy.URL(), options...)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(nc.Close)
	return nc
}

// direct connects a client past the proxy.
func (b *bed) direct() *nats.Conn {
	b.t.Helper()
	nc, err := nats.Connect(b.server.URL(), nats.Timeout(limit))
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(nc.Close)
	return nc
}

// stream makes a stream with n messages and returns its JetStream.
func (b *bed) stream(nc *nats.Conn, n int) jetstream.JetStream {
	b.t.Helper()
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(limit))
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := js.CreateOrUpdateStream(b.ctx, jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"ORDERS.>"}}); err != nil {
		b.t.Fatal(err)
	}
	b.publish(js, n)
	return js
}

func (b *bed) publish(js jetstream.JetStream, n int) {
	b.t.Helper()
	for range n {
		if _, err := js.Publish(b.ctx, "ORDERS.new", []byte("an order")); err != nil {
			b.t.Fatal(err)
		}
	}
}

// consumer makes an ephemeral consumer without acks and returns its name.
func (b *bed) consumer(js jetstream.JetStream) string {
	b.t.Helper()
	c, err := js.CreateConsumer(b.ctx, "ORDERS", jetstream.ConsumerConfig{AckPolicy: jetstream.AckNonePolicy})
	if err != nil {
		b.t.Fatal(err)
	}
	return c.CachedInfo().Name
}

// puller is a subscription to the wildcard inbox of raw pulls, as a reader holds one.
type puller struct {
	b       *bed
	nc      *nats.Conn
	sub     *nats.Subscription
	inbox   string
	subject string
	pulls   int
}

func (b *bed) puller(nc *nats.Conn, consumer string) *puller {
	b.t.Helper()
	p := &puller{b: b, nc: nc, inbox: nats.NewInbox(), subject: "$JS.API.CONSUMER.MSG.NEXT.ORDERS." + consumer}
	var err error
	if p.sub, err = nc.SubscribeSync(p.inbox + ".*"); err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (p *puller) pull(request string) {
	p.b.t.Helper()
	p.pulls++
	if err := p.nc.PublishRequest(p.subject, p.inbox+"."+string(rune('0'+p.pulls)), []byte(request)); err != nil {
		p.b.t.Fatal(err)
	}
	if err := p.nc.FlushTimeout(limit); err != nil {
		p.b.t.Fatal(err)
	}
}

// next returns the next thing that arrives on the inbox.
func (p *puller) next() *nats.Msg {
	p.b.t.Helper()
	m, err := p.sub.NextMsg(limit)
	if err != nil {
		p.b.t.Fatal(err)
	}
	return m
}

func sequences(t testing.TB, m *nats.Msg) (stream, consumer uint64) {
	t.Helper()
	meta, err := m.Metadata()
	if err != nil {
		t.Fatalf("%s: %v", m.Subject, err)
	}
	return meta.Sequence.Stream, meta.Sequence.Consumer
}

// idle returns when the proxy carries no connection any more.
func (b *bed) idle() {
	b.t.Helper()
	end := time.NewTimer(limit)
	defer end.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for b.proxy.Traffic().Connections > 0 {
		select {
		case <-tick.C:
		case <-end.C:
			b.t.Fatalf("%+v", b.proxy.Traffic())
		}
	}
}

// usable checks that a connection carries requests both ways.
func (b *bed) usable(nc *nats.Conn) {
	b.t.Helper()
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(limit))
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := js.AccountInfo(b.ctx); err != nil {
		b.t.Fatal(err)
	}
}

func mustFail(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; want one with %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q has more than one line", err)
	}
}
