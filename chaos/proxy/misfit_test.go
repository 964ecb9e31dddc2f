package proxy_test

import (
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// misfit is a proxy set up in a way that does not fit, and what is told when a client comes.
type misfit struct {
	bed     *tlsBed
	scheme  string
	change  func(o *proxy.Options)
	options []nats.Option
	says    []string // parts of the one line
	client  string   // a part of what the client is told; "": it is closed
}

func (m misfit) check(t *testing.T) {
	t.Helper()
	b := m.bed
	b.t, b.log = t, newWire()
	b.front(m.scheme, m.change)
	for _, memory := range []bool{true, false} {
		options := append([]nats.Option{nats.Timeout(limit)}, m.options...)
		if memory {
			options = append(options, nats.SetCustomDialer(b.proxy.Dialer()))
		}
		nc, err := nats.Connect(b.proxy.URL(), options...)
		if err == nil {
			nc.Close()
			t.Fatal("a client is let in")
		}
		if !strings.Contains(err.Error(), m.client) {
			t.Errorf("the client is told %q, want %q", err, m.client)
		}
		if conn, err := b.proxy.Dialer().Dial("", ""); err != nil {
			mustFail(t, err, m.says...) // a dial tells it itself
		} else {
			conn.Close()
		}
	}
	b.log.waitNotice(t, m.says...)
	b.proxy.Close() //nolint:errcheck // it gives none
	if n := b.proxy.Traffic().Connections; n != 0 {
		t.Errorf("%d connections are left", n)
	}
}

// TLS with the server that does not fit.
func TestUpstreamMisfits(t *testing.T) {
	plain := newTLSBed(t, "none")
	secure := newTLSBed(t, "verify: true")
	first := newTLSBed(t, "handshake_first: true, verify: true", nats.TLSHandshakeFirst())
	other := newTLSBed(t, "none") // for a certificate that nobody knows
	frozen := newTLSBed(t, "none")
	frozen.freeze(frozen.server)
	trusting := func(b *tlsBed, version uint16, certificates ...tls.Certificate) func(o *proxy.Options) {
		return func(o *proxy.Options) {
			o.UpstreamTLS = &tls.Config{RootCAs: b.roots, MaxVersion: version, Certificates: certificates}
			o.UpstreamTLSFirst = b == first
			o.DialTimeout = limit
		}
	}
	const wants, signed = "the server wants a client certificate", "is one that the server's CA has signed"
	for name, m := range map[string]misfit{
		"no TLS":         {bed: plain, scheme: "tls", change: func(*proxy.Options) {}, says: []string{plain.server.URL()[len("nats://"):], "does not speak TLS: use nats://"}},
		"unknown CA":     {bed: secure, scheme: "tls", change: func(*proxy.Options) {}, says: []string{"TLS with the upstream", "check the CA: give the server's as Options.UpstreamTLS.RootCAs"}},
		"not first":      {bed: plain, scheme: "nats", change: func(o *proxy.Options) { o.UpstreamTLSFirst, o.DialTimeout = true, limit }, says: []string{"does not do TLS first: leave Options.UpstreamTLSFirst out"}},
		"first":          {bed: first, scheme: "nats", change: func(*proxy.Options) {}, says: []string{"needs Options.UpstreamTLSFirst"}},
		"first by tls":   {bed: first, scheme: "tls", change: func(o *proxy.Options) { o.UpstreamTLS = &tls.Config{RootCAs: first.roots} }, says: []string{"needs Options.UpstreamTLSFirst"}},
		"missing 1.3":    {bed: secure, scheme: "tls", change: trusting(secure, tls.VersionTLS13), says: []string{"certificate required: " + wants}, client: "TLS with the server behind this proxy failed: certificate required"},
		"missing 1.2":    {bed: secure, scheme: "tls", change: trusting(secure, tls.VersionTLS12), says: []string{"TLS with the upstream", wants}},
		"missing first":  {bed: first, scheme: "tls", change: trusting(first, tls.VersionTLS13), says: []string{"certificate required: " + wants}},
		"unknown 1.3":    {bed: secure, scheme: "tls", change: trusting(secure, tls.VersionTLS13, other.pair), says: []string{"certificate", signed}, client: "TLS with the server behind this proxy failed"},
		"unknown 1.2":    {bed: secure, scheme: "tls", change: trusting(secure, tls.VersionTLS12, other.pair), says: []string{"certificate", signed}},
		"frozen first":   {bed: frozen, scheme: "tls", change: func(o *proxy.Options) { o.UpstreamTLSFirst = true }, says: []string{"TLS with the upstream", "no answer within 2s: it is frozen"}},
		"not told of it": {bed: secure, scheme: "nats", change: func(*proxy.Options) {}, says: []string{"requires TLS", "give it as tls://host:port"}, client: "give it as tls://host:port"},
	} {
		t.Run(name, m.check)
	}
}

// TLS with a client that does not fit.
func TestClientMisfits(t *testing.T) {
	b, other := newTLSBed(t, "none"), newTLSBed(t, "none")
	own := func(first bool, ask tls.ClientAuthType) func(o *proxy.Options) {
		return func(o *proxy.Options) {
			o.ServerTLS = &tls.Config{Certificates: []tls.Certificate{b.pair}, ClientCAs: b.roots, ClientAuth: ask}
			o.ServerTLSFirst = first
			o.DialTimeout = limit
		}
	}
	knows, first := nats.RootCAs(b.cert), nats.TLSHandshakeFirst()
	for name, m := range map[string]misfit{
		"unknown CA":       {change: own(false, 0), options: []nats.Option{nats.RootCAs(other.cert)}, says: []string{"the client refuses the certificate of this proxy (bad certificate)", "Options.ServerTLS.Certificates"}},
		"no CA":            {change: own(true, 0), options: []nats.Option{first, nats.Secure()}, says: []string{"the client refuses the certificate of this proxy (bad certificate)"}},
		"no certificate":   {change: own(false, tls.RequireAndVerifyClientCert), options: []nats.Option{knows}, says: []string{"the client's certificate is refused", "Options.ServerTLS.ClientCAs"}},
		"unknown":          {change: own(false, tls.RequireAndVerifyClientCert), options: []nats.Option{knows, nats.ClientCert(other.cert, other.key)}, says: []string{"the client's certificate is refused", "Options.ServerTLS.ClientCAs"}},
		"first":            {change: own(false, 0), options: []nats.Option{knows, first}, says: []string{"TLS with a client", "Options.ServerTLSFirst"}},
		"first and no TLS": {change: func(*proxy.Options) {}, options: []nats.Option{knows, first}, says: []string{"the client speaks TLS and this proxy none", "Options.ServerTLS.Certificates"}},
		"not first":        {change: func(o *proxy.Options) { own(true, 0)(o); o.DialTimeout = soon }, options: []nats.Option{knows}, says: []string{"the client is silent: clients of this proxy have to speak TLS first"}},
	} {
		m.bed, m.scheme = b, "nats"
		t.Run(name, m.check)
	}
}

// A client that goes on without TLS is told apart from one that does TLS wrong.
func TestClientWithoutTLS(t *testing.T) {
	b := newTLSBed(t, "none")
	for _, first := range []bool{true, false} {
		b.log = newWire()
		b.front("nats", func(o *proxy.Options) {
			o.ServerTLS, o.ServerTLSFirst = &tls.Config{Certificates: []tls.Certificate{b.pair}}, first
			o.DialTimeout = limit
		})
		conn, err := b.proxy.Dialer().Dial("", "")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		(&raw{t: t, conn: conn}).send("CONNECT {}\r\n")
		b.log.waitNotice(t, "the client speaks no TLS: clients of this proxy have to speak TLS: connect with tls://")
	}
	if _, err := proxy.New("127.0.0.1", proxy.Options{ServerTLSFirst: true}); err == nil || !strings.Contains(err.Error(), "ServerTLSFirst") {
		t.Errorf("ServerTLSFirst alone: %v", err)
	}
}

const upgrade = "GET /nats HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Key: eA==\r\nSec-WebSocket-Version: 13\r\n\r\n"

// A WebSocket client is refused by name, however its request is cut.
func TestWebSocketClient(t *testing.T) {
	b := newBed(t)
	for i, size := range []int{1, 7, len(upgrade)} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(b.proxy.URL(), "nats://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		c := &raw{t: t, conn: conn}
		for rest := upgrade; rest != ""; rest = rest[min(size, len(rest)):] {
			c.send(rest[:min(size, len(rest))])
		}
		got, err := io.ReadAll(conn)
		if err != nil || !strings.HasSuffix(string(got), "-ERR 'WebSocket is not spoken by this proxy: connect with nats:// or tls://'\r\n") {
			t.Errorf("the client reads %q, %v", got, err)
		}
		b.log.wait(t, "the notice", func() bool { return len(b.log.notices) == i+1 })
		if text := b.log.notices[i].Text; !strings.Contains(text, "WebSocket is not spoken by this proxy") {
			t.Errorf("notice %q", text)
		}
	}
	if nc, err := nats.Connect(strings.Replace(b.proxy.URL(), "nats://", "ws://", 1), nats.Timeout(limit)); err == nil {
		nc.Close()
		t.Error("a WebSocket client is let in")
	}
	b.log.wait(t, "the notice", func() bool { return len(b.log.notices) == 4 })
	b.idle()
	if up := b.proxy.Traffic().Up; up.Opaque != 0 {
		t.Errorf("%+v", up)
	}
	b.usable(b.dial(false))
}
