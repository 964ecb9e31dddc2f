package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// ErrClosed is returned by what cannot be done after Close.
var ErrClosed = errors.New("proxy is closed")

// Options configure a Proxy. The zero value works.
type Options struct {
	Name        string        // in errors and notices; default "proxy"
	DialTimeout time.Duration // for a connection to the upstream, and for TLS on either side; default 2s, as nats.go's own

	// Dial connects to an upstream where that is not reached directly: through a SOCKS proxy. What it gives needs
	// CloseWrite, as *net.TCPConn has it. The context ends after DialTimeout. Nil: TCP.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	// InfoTimeout is how long an upstream that accepts may take to its INFO, the first thing a server says. A server
	// that is frozen accepts and is silent: it is passed over then, as one that is down. Default 2s, and 1s
	// while another upstream is left to try, so that a client with nats.go's own 2s gets in there.
	InfoTimeout time.Duration

	// UpstreamTLS is for TLS with the server: CAs and client certificates. It is spoken where the server requires
	// or offers it; with tls:// and without UpstreamTLS by the system's CAs. The server's name is that of the
	// upstream unless ServerName says otherwise. Faults act within it: clients get an INFO without TLS.
	UpstreamTLS      *tls.Config
	UpstreamTLSFirst bool // the server is one with handshake_first: TLS begins before its INFO

	// ServerTLS, when set, is what the proxy speaks TLS with to its clients, which then have to.
	ServerTLS      *tls.Config
	ServerTLSFirst bool // as handshake_first of a server

	// OwnURLs replaces the servers that an INFO names for clients to go to by the first address that Listen
	// took. Without it, or a listener, they are taken out.
	OwnURLs bool

	// CloseMalformed ends a connection (FIN to both sides) whose stream is not the NATS client protocol, instead of
	// passing it on unread.
	CloseMalformed bool

	// RandSeed fixes what faults draw (the jitter of latency), by connection and direction.
	RandSeed uint64

	// APIPrefix is a further prefix of JetStream API subjects, beside $JS.API and $JS.<domain>.API: what
	// an account imports the API as, such as "ACME.JS.API".
	APIPrefix string

	// Tap is told of every frame, in order per direction of a connection, before the frame is passed on.
	// It is called on the goroutine that carries the frame: it must be quick and must not call Close.
	Tap func(Frame)

	// OnFiring is told of each firing as it is recorded, under the same terms as Tap.
	OnFiring func(Firing)

	// OnNotice is told once of what a user should know about a connection: a stream that is not NATS, TLS that does
	// not fit, an upstream that cannot be reached or is silent, another that is taken instead. The same terms as Tap.
	OnNotice func(Notice)
}

// Notice is one remark about a connection.
type Notice struct {
	Time time.Time `json:"time"`
	Conn uint64    `json:"conn"` // 0 when the connection never came about
	Text string    `json:"text"` // one line, with what to do; options are named as Options.InfoTimeout
}

// Proxy carries NATS client connections to one server and lets faults act on them. All methods are safe
// for concurrent use.
type Proxy struct {
	options   Options
	upstreams []upstream
	current   atomic.Int32 // the upstream that answered last
	meters    [2]meter
	record    record
	filters   [2]atomic.Pointer[[]*applied]
	accepted  atomic.Uint64
	refused   atomic.Uint64
	faults    atomic.Uint64          // ids given
	told      atomic.Pointer[string] // why no upstream was reached, as told; nil: one was since

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	owned  sync.WaitGroup // every goroutine

	mu        sync.Mutex
	closed    bool
	listeners []net.Listener
	conns     map[*conn]struct{}
	applied   []*applied
}

// New returns a proxy in front of the server at upstream, "nats://127.0.0.1:4222", "tls://host:port" or
// "host:port" (the port is 4222 when missing). Of several, with commas between them, the first that answers is
// taken, and another when that is down or silent. User names and passwords in upstream are ignored: each client's own
// CONNECT reaches the server, and what it proves with a nonce it proves to the server. Nothing is dialled before
// a client comes.
func New(upstream string, o Options) (*Proxy, error) {
	upstreams, err := parseUpstreams(upstream)
	if err != nil {
		return nil, err
	}
	if o.DialTimeout < 0 {
		return nil, fmt.Errorf("proxy option DialTimeout is %v: want 0 for the default or more", o.DialTimeout)
	}
	if o.InfoTimeout < 0 {
		return nil, fmt.Errorf("proxy option InfoTimeout is %v: want 0 for the default or more", o.InfoTimeout)
	}
	if o.ServerTLS == nil && o.ServerTLSFirst {
		return nil, errors.New("proxy option ServerTLSFirst is set without ServerTLS: give the certificate for clients there")
	}
	if o.Name == "" {
		o.Name = "proxy"
	}
	if o.DialTimeout == 0 {
		o.DialTimeout = 2 * time.Second
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{}).DialContext
	}
	if o.APIPrefix != "" && o.APIPrefix[len(o.APIPrefix)-1] != '.' {
		o.APIPrefix += "."
	}
	p := &Proxy{
		options: o, upstreams: upstreams,
		conns: make(map[*conn]struct{}),
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p, nil
}

// Listen accepts clients on a TCP address, "127.0.0.1:0" for any free port, and returns the address taken.
// It may be called more than once.
func (p *Proxy) Listen(addr string) (net.Addr, error) {
	l, err := (&net.ListenConfig{}).Listen(p.ctx, "tcp", addr)
	if err != nil {
		if p.ctx.Err() != nil {
			err = ErrClosed
		}
		return nil, fmt.Errorf("%s: listen on %s: %w", p.options.Name, addr, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	err = p.listensForItself(l.Addr())
	if p.closed {
		err = ErrClosed
	}
	if err != nil {
		l.Close() //nolint:errcheck // nobody uses it
		return nil, fmt.Errorf("%s: listen on %s: %w", p.options.Name, addr, err)
	}
	p.listeners = append(p.listeners, l)
	p.owned.Go(func() { p.accept(l) })
	return l.Addr(), nil
}

// URL returns the nats:// URL of the first listener, or "" when Listen was not called.
func (p *Proxy) URL() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.listeners) == 0 {
		return ""
	}
	return "nats://" + p.listeners[0].Addr().String()
}

// register makes a connection of two sides and has it served. A greeted client has had the server's INFO already. After Close both sides are closed instead.
func (p *Proxy) register(client, server link, greeted bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		client.Close() //nolint:errcheck // this is how the client is told
		server.Close() //nolint:errcheck // nothing was sent
		return ErrClosed
	}
	c := newConn(p, p.accepted.Add(1), client, server)
	c.down.greeted = greeted
	p.conns[c] = struct{}{}
	inForce := slices.Clone(p.applied)
	p.owned.Go(func() {
		for _, a := range inForce {
			a.join(c)
		}
		c.serve()
		p.mu.Lock()
		delete(p.conns, c)
		p.mu.Unlock()
	})
	return nil
}

// named lets the faults that ask for a name act on a connection that has just told its own.
func (p *Proxy) named(c *conn) {
	p.mu.Lock()
	inForce := slices.Clone(p.applied)
	p.mu.Unlock()
	for _, a := range inForce {
		a.join(c)
	}
}

// snapshot returns the open connections in the order they came.
func (p *Proxy) snapshot() []*conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.snapshotLocked()
}

func (p *Proxy) snapshotLocked() []*conn {
	out := make([]*conn, 0, len(p.conns))
	for c := range p.conns {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b *conn) int { return int(a.id) - int(b.id) })
	return out
}

// Connections returns what is known of each open connection, in the order they came.
func (p *Proxy) Connections() []Connection {
	var out []Connection
	for _, c := range p.snapshot() {
		out = append(out, c.know.snapshot(c.id))
	}
	return out
}

// Traffic returns what has gone through so far.
func (p *Proxy) Traffic() Traffic {
	p.mu.Lock()
	connections := len(p.conns)
	p.mu.Unlock()
	return Traffic{
		Connections: connections, Accepted: p.accepted.Load(), Refused: p.refused.Load(),
		Up: p.meters[Up].load(), Down: p.meters[Down].load(),
	}
}

// Firings returns what the faults did, oldest first: the latest 65536 of it.
func (p *Proxy) Firings() []Firing { return p.record.all() }

func (p *Proxy) fired(a *applied, fr Frame) {
	f := Firing{Time: fr.Time, Fault: a.text, ID: a.id, Frame: fr}
	p.record.add(f)
	if p.options.OnFiring != nil {
		p.options.OnFiring(f)
	}
}

func (p *Proxy) notice(c *conn, text string) {
	if p.options.OnNotice == nil {
		return
	}
	n := Notice{Time: time.Now(), Text: text}
	if c != nil {
		n.Conn = c.id
	}
	p.options.OnNotice(n)
}

// Close undoes every fault, closes the listeners and all connections, and returns when nothing of the
// proxy runs any more. Calling it again is harmless.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	listeners := p.listeners
	p.mu.Unlock()
	p.cancel()
	for _, l := range listeners {
		l.Close() //nolint:errcheck // a second Close finds it closed
	}
	for _, c := range p.snapshot() {
		c.close()
	}
	p.Reset()
	p.owned.Wait()
	return nil
}
