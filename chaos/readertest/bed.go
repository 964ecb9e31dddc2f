package readertest

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// T is what a Bed needs of a test; *testing.T, *testing.B and testing.TB have it.
type T interface {
	Helper()
	Cleanup(func())
	Context() context.Context
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// limit bounds what the server is asked for.
const limit = 30 * time.Second

// Options say what the Bed is made of. The zero value is the embedded nats-server with JetStream.
type Options struct {
	Server lab.Options   // its version, configuration, store
	Proxy  proxy.Options // what the proxy tells
	Direct []nats.Option // log in where Server.Config demands it, for Direct and what the Bed itself does

	// AtLeastOnce: the client acks, and may see a message more than once or out of order.
	AtLeastOnce bool
}

// Bed is a server with a proxy in front of it. Its methods are safe for concurrent use, but for those that
// end the test: these belong on the test's own goroutine, as t.Fatal does.
type Bed struct {
	t       T
	options Options
	server  *lab.Server
	proxy   *proxy.Proxy
	direct  *nats.Conn
	js      jetstream.JetStream
	told    *told
}

// New starts a server and a proxy. Both are gone at the end of the test, with every connection the Bed made.
func New(t T, o Options) *Bed {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // what is started here is ended by the cleanup
	b := &Bed{t: t, options: o, told: newTold(o)}
	var err error
	if b.server, err = lab.Start(ctx, o.Server); err != nil {
		t.Fatalf("readertest: %v", err)
	}
	t.Cleanup(func() {
		if err := b.server.Close(); err != nil {
			t.Errorf("readertest: %v", err)
		}
	})
	if b.proxy, err = proxy.New(b.server.URL(), o.Proxy); err == nil {
		t.Cleanup(func() { b.proxy.Close() }) //nolint:errcheck // it gives none
		_, err = b.proxy.Listen("127.0.0.1:0")
	}
	if err != nil {
		t.Fatalf("readertest: %v", err)
	}
	b.direct = b.connect(b.server.URL(), o.Direct)
	if b.js, err = jetstream.New(b.direct); err != nil {
		t.Fatalf("readertest: %v", err)
	}
	return b
}

// Server is the nats-server, with all that the lab can do to it.
func (b *Bed) Server() *lab.Server { return b.server }

// Proxy is the proxy in front of it.
func (b *Bed) Proxy() *proxy.Proxy { return b.proxy }

// URL is where clients of any language connect through the proxy, nats://127.0.0.1:PORT.
func (b *Bed) URL() string { return b.proxy.URL() }

// Connect makes a connection through the proxy, as the client under test would. It reconnects for ever and
// soon; options win. It is closed at the end of the test.
func (b *Bed) Connect(options ...nats.Option) *nats.Conn {
	b.t.Helper()
	return b.connect(b.URL(), append([]nats.Option{nats.Name("readertest")}, options...))
}

// Direct is the Bed's own connection to the server, which no fault of the wire reaches.
func (b *Bed) Direct() *nats.Conn { return b.direct }

// JetStream is the API on the direct connection.
func (b *Bed) JetStream() jetstream.JetStream { return b.js }

func (b *Bed) connect(url string, options []nats.Option) *nats.Conn {
	b.t.Helper()
	all := append([]nats.Option{
		nats.MaxReconnects(-1), nats.ReconnectWait(50 * time.Millisecond), nats.ReconnectJitter(20*time.Millisecond, 20*time.Millisecond),
		nats.FlusherTimeout(2 * time.Second), nats.Timeout(limit),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // nats.go prints them otherwise
	}, options...)
	nc, err := nats.Connect(url, all...)
	if err != nil {
		b.t.Fatalf("readertest: connect to %s: %v", url, err)
	}
	b.t.Cleanup(nc.Close)
	return nc
}

// Stream makes a stream on disk, which survives Kill; without subjects it takes NAME.>. Publish writes to
// the newest stream.
func (b *Bed) Stream(name string, subjects ...string) jetstream.Stream {
	b.t.Helper()
	if len(subjects) == 0 {
		subjects = []string{name + ".>"}
	}
	return b.StreamWith(jetstream.StreamConfig{Name: name, Subjects: subjects})
}

// StreamWith makes a stream of any configuration.
func (b *Bed) StreamWith(cfg jetstream.StreamConfig) jetstream.Stream {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), limit)
	defer cancel()
	s, err := b.js.CreateStream(ctx, cfg)
	if err != nil {
		b.t.Fatalf("readertest: stream %s: %v", cfg.Name, err)
	}
	b.told.publishTo(s.CachedInfo().Config.Subjects)
	return s
}

// Inject puts a fault of the wire into force, such as "drop-message(nth=3)" or "api-timeout(for=2s)". The
// end of the test undoes it, if undo or the fault's own time has not. nats-reader chaos list, and
// proxy.Catalogue, tell all faults.
func (b *Bed) Inject(fault string) (undo func()) {
	b.t.Helper()
	if s, err := chaos.ParseSpec(fault); err == nil {
		if f, _ := chaos.FindFault(s.Name); f.Layer != chaos.LayerWire {
			b.t.Fatalf("readertest: fault %s is none of the wire: use %s", s.Name, insteadOf(f))
		}
	}
	f, err := proxy.ParseFault(fault)
	if err == nil {
		undo, err = b.proxy.Apply(f)
	}
	if err != nil {
		b.t.Fatalf("readertest: %v", err)
	}
	b.t.Cleanup(undo)
	return undo
}

// insteadOf says what a test calls for a fault that no proxy makes.
func insteadOf(f chaos.Fault) string {
	if f.Layer == chaos.LayerProcess {
		return "Kill, Stop, Restart, Freeze and Thaw"
	}
	return "JetStream(), which is the server's API"
}

// Fired is how often a fault of Inject acted so far, as it is written there.
func (b *Bed) Fired(fault string) int {
	f, err := proxy.ParseFault(fault)
	if err != nil {
		b.t.Helper()
		b.t.Fatalf("readertest: %v", err)
	}
	n := 0
	for _, firing := range b.proxy.Firings() {
		if firing.Fault == f.String() {
			n++
		}
	}
	return n
}

// Kill ends the server with KILL. Restart brings it back.
func (b *Bed) Kill() { b.t.Helper(); b.act(b.server.Kill) }

// Stop ends the server with TERM, in order. Restart brings it back.
func (b *Bed) Stop() { b.t.Helper(); b.act(b.server.Term) }

// Restart starts the server on the same port and store, after ending it with TERM where it runs. It returns
// when the server is ready.
func (b *Bed) Restart() { b.t.Helper(); b.act(b.server.Restart) }

// Freeze has the server's process stand still: connections stay open, nothing is answered. Thaw lets it go
// on; so does the end of the test.
func (b *Bed) Freeze() {
	b.t.Helper()
	b.act(func(context.Context) error { return b.server.Freeze() })
}

// Thaw lets a frozen server go on.
func (b *Bed) Thaw() { b.t.Helper(); b.act(func(context.Context) error { return b.server.Thaw() }) }

func (b *Bed) act(do func(context.Context) error) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), limit)
	defer cancel()
	if err := do(ctx); err != nil {
		b.t.Fatalf("readertest: %v", err)
	}
}
