package proxy_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// tlsBed is a certificate for everyone and a server that speaks TLS with it.
type tlsBed struct {
	*bed
	cert, key string
	pair      tls.Certificate
	roots     *x509.CertPool
}

// newTLSBed starts a server whose tls block has the lines of config too. The proxy comes later.
func newTLSBed(t *testing.T, config string, ready ...nats.Option) *tlsBed {
	t.Helper()
	b := &tlsBed{bed: &bed{t: t, log: newWire()}, roots: x509.NewCertPool()}
	b.cert, b.key = certificate(t)
	pem, err := os.ReadFile(b.cert)
	if err != nil || !b.roots.AppendCertsFromPEM(pem) {
		t.Fatalf("the certificate cannot be read: %v", err)
	}
	if b.pair, err = tls.LoadX509KeyPair(b.cert, b.key); err != nil {
		t.Fatal(err)
	}
	var cancel context.CancelFunc
	b.ctx, cancel = context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	o := lab.Options{}
	if config != "none" {
		o.Config = fmt.Sprintf("tls { cert_file: %q, key_file: %q, ca_file: %q, %s }", b.cert, b.key, b.cert, config)
		o.ReadyOptions = append([]nats.Option{nats.RootCAs(b.cert), nats.ClientCert(b.cert, b.key)}, ready...)
	}
	if b.server, err = lab.Start(b.ctx, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.server.Close() })
	return b
}

// front puts the proxy in front of the server, named with a scheme.
func (b *tlsBed) front(scheme string, change func(o *proxy.Options)) {
	b.t.Helper()
	o := b.log.options()
	change(&o)
	_, address, _ := strings.Cut(b.server.URL(), "://")
	b.proxy = newProxy(b.t, scheme+"://"+address, o)
}

// faultsAct checks that a client works through the proxy and that a fault on single frames acts.
func (b *tlsBed) faultsAct(t *testing.T, memory bool, options ...nats.Option) {
	t.Helper()
	lost, found := make(chan struct{}, 8), make(chan struct{}, 8)
	// A name of its own: the connection before it may not have ended in the proxy yet.
	name := fmt.Sprintf("memory-%v", memory)
	nc := b.dial(memory, append(options, nats.Name(name), nats.MaxReconnects(-1), nats.ReconnectWait(0), nats.ReconnectJitter(0, 0),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { lost <- struct{}{} }),
		nats.ReconnectHandler(func(*nats.Conn) { found <- struct{}{} }))...)
	js := b.stream(nc, 3)
	before := len(b.proxy.Firings())
	b.apply("drop-message(nth=2)")
	p := b.puller(nc, b.consumer(js))
	p.pull(waitingPull)
	for _, want := range []uint64{1, 3} {
		if s, _ := sequences(t, p.next()); s != want {
			t.Fatalf("got sequence %d, want %d", s, want)
		}
	}
	b.proxy.Reset()
	for i, fault := range []string{"cut", "reset"} {
		for len(lost)+len(found) > 0 { // a new connection may have failed at first
			select {
			case <-lost:
			case <-found:
			}
		}
		// It acts at once, or on nothing: a client may have lost a new connection once more
		// (nats.go counts two reconnects then), and be about to connect.
		for len(b.proxy.Firings()) < before+2+i {
			b.usable(nc)
			b.apply(fault + "(conn=" + name + ")")
		}
		<-lost
		<-found
		b.usable(nc)
	}
	if n := len(b.log.waitFirings(t, before+3)) - before; n != 3 {
		t.Errorf("%d firings, want 3", n)
	}
	if err := js.DeleteStream(b.ctx, "ORDERS"); err != nil {
		t.Fatal(err)
	}
	nc.Close()
}

func TestUpstreamTLS(t *testing.T) {
	for name, c := range map[string]struct {
		config, scheme string
		change         func(b *tlsBed, o *proxy.Options)
	}{
		"required": {"", "tls", func(*tlsBed, *proxy.Options) {}},
		"by nats":  {"", "nats", func(*tlsBed, *proxy.Options) {}},
		"client certificate": {"verify: true", "tls", func(b *tlsBed, o *proxy.Options) {
			o.UpstreamTLS.Certificates = []tls.Certificate{b.pair}
		}},
		"first": {"handshake_first: true", "tls", func(_ *tlsBed, o *proxy.Options) { o.UpstreamTLSFirst = true }},
	} {
		t.Run(name, func(t *testing.T) {
			var ready []nats.Option
			if name == "first" {
				ready = append(ready, nats.TLSHandshakeFirst())
			}
			b := newTLSBed(t, c.config, ready...)
			b.front(c.scheme, func(o *proxy.Options) {
				o.UpstreamTLS = &tls.Config{RootCAs: b.roots}
				c.change(b, o)
			})
			r := b.raw()
			for _, word := range []string{"tls_required", "tls_verify", "tls_available"} {
				if strings.Contains(r.info, word) {
					t.Errorf("the client is told %s", r.info)
				}
			}
			for _, memory := range []bool{true, false} {
				b.faultsAct(t, memory)
			}
		})
	}
}

func TestServerTLS(t *testing.T) {
	for _, upstream := range []string{"none", ""} {
		for _, first := range []bool{false, true} {
			t.Run(fmt.Sprintf("upstream=%q first=%v", upstream, first), func(t *testing.T) {
				b := newTLSBed(t, upstream)
				b.front("nats", func(o *proxy.Options) {
					o.ServerTLS = &tls.Config{Certificates: []tls.Certificate{b.pair}, ClientCAs: b.roots, ClientAuth: tls.RequireAndVerifyClientCert}
					o.ServerTLSFirst = first
					if upstream != "none" {
						o.UpstreamTLS = &tls.Config{RootCAs: b.roots}
					}
				})
				options := []nats.Option{nats.RootCAs(b.cert), nats.ClientCert(b.cert, b.key)}
				if first {
					options = append(options, nats.TLSHandshakeFirst())
				}
				for _, memory := range []bool{true, false} {
					b.faultsAct(t, memory, options...)
				}
				if f := b.log.waitFrame(t, "the INFO", func(f proxy.Frame) bool { return f.Verb == proxy.INFO }); f.Conn != 1 {
					t.Errorf("%+v", f)
				}
			})
		}
	}
}
