package readertest

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

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
	Nodes  int           // 2 to 9: a cluster of so many servers; 0: one server by itself
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
	server  *lab.Server  // in a cluster the first node
	cluster *lab.Cluster // nil: a server by itself
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
	url, err := b.start(ctx)
	if err != nil {
		t.Fatalf("readertest: %v", err)
	}
	if b.proxy, err = proxy.New(url, o.Proxy); err == nil {
		t.Cleanup(func() { b.proxy.Close() }) //nolint:errcheck // it gives none
		_, err = b.proxy.Listen("127.0.0.1:0")
	}
	if err != nil {
		t.Fatalf("readertest: %v", err)
	}
	b.direct = b.connect(url, o.Direct)
	if b.js, err = jetstream.New(b.direct); err != nil {
		t.Fatalf("readertest: %v", err)
	}
	return b
}

// start runs the server or the cluster until the end of the test.
func (b *Bed) start(ctx context.Context) (url string, err error) {
	var end func() error
	if b.options.Nodes == 0 {
		if b.server, err = lab.Start(ctx, b.options.Server); err != nil {
			return "", err
		}
		url, end = b.server.URL(), b.server.Close
	} else {
		if b.cluster, err = lab.StartCluster(ctx, lab.ClusterOptions{Nodes: b.options.Nodes, Server: b.options.Server}); err != nil {
			return "", err
		}
		b.server = b.cluster.Nodes()[0].Server
		url, end = b.cluster.URL(), b.cluster.Close
	}
	b.t.Cleanup(func() {
		if err := end(); err != nil {
			b.t.Errorf("readertest: %v", err)
		}
	})
	return url, nil
}

// Server is the nats-server, with all that the lab can do to it; in a cluster its first node.
func (b *Bed) Server() *lab.Server { return b.server }

// Cluster is the cluster of Options.Nodes; nil without it.
func (b *Bed) Cluster() *lab.Cluster { return b.cluster }

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
	s, err := b.createStream(ctx, cfg)
	for err != nil && b.cluster != nil && b.cluster.AwaitReady(ctx) == nil {
		s, err = b.createStream(ctx, cfg) // a node of a young cluster may count as away for a moment
	}
	if err != nil {
		b.t.Fatalf("readertest: stream %s: %v", cfg.Name, err)
	}
	b.told.publishTo(cfg.Name, s.CachedInfo().Config.Subjects)
	return s
}

// createStream asks once. A cluster without a leader yet answers nothing, so that a
// request there has a time of its own; the same one again changes nothing.
func (b *Bed) createStream(ctx context.Context, cfg jetstream.StreamConfig) (jetstream.Stream, error) {
	if b.cluster != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit/6)
		defer cancel()
	}
	return b.js.CreateStream(ctx, cfg)
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
