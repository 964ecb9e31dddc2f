package proxy_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

func (b *bed) dialTCP() *net.TCPConn {
	b.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(b.proxy.URL(), "nats://"))
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(2 * limit))
	return conn.(*net.TCPConn)
}

// A server that is killed within a payload ends the connections of both clients, also of a publisher that goes on
// sending and looks at nothing, and leaves nothing.
func TestServerKilledWithinPayload(t *testing.T) {
	b := newBedWith(t, lab.Options{NoJetStream: true, Config: fmt.Sprintf(`max_payload: %d, max_pending: %d`, largest, 4*largest)})
	b.proxy = newProxy(t, b.server.URL(), proxy.Options{})
	subscriber := rawVia(t, plainConnect)(b.dialTCP(), nil)
	subscriber.send("SUB large 1\r\n")
	subscriber.step()
	whole := rawVia(t, plainConnect)(net.Dial("tcp", b.proxy.Upstream()))
	part := make([]byte, 64<<10)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		fmt.Fprintf(whole.conn, "PUB large %d\r\n", largest) //nolint:errcheck // the subscriber tells
		for n := 0; n < largest; n += len(part) {
			if _, err := whole.conn.Write(part); err != nil {
				return
			}
		}
		io.WriteString(whole.conn, "\r\n") //nolint:errcheck // the subscriber tells
	}()
	line, err := subscriber.r.ReadString('\n')
	if line == "PING\r\n" {
		line, err = subscriber.r.ReadString('\n')
	}
	if err != nil || !strings.HasPrefix(line, "MSG large 1 ") {
		t.Fatalf("%q, %v", line, err)
	}
	<-sent // the server has it; the subscriber has a part
	publisher := rawVia(t, plainConnect)(b.dialTCP(), nil)
	publisher.send(fmt.Sprintf("PUB other %d\r\n", largest))
	for range 16 {
		if _, err := publisher.conn.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.server.Kill(b.ctx); err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, subscriber.r); n >= largest+2 || os.IsTimeout(err) {
		t.Errorf("the subscriber reads %d bytes more, %v", n, err)
	}
	subscriber.conn.Close()
	for err := error(nil); err == nil; { // it does not look at what it is told
		if _, err = publisher.conn.Write(part); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal("the publisher can send for ever")
		}
	}
	b.idle()
}

// Clients that come and say nothing, or a part of something, and go leave nothing, in order or not.
func TestClientsThatSayNothing(t *testing.T) {
	b := newBed(t)
	for i, says := range []string{"", "C", "CONNECT {", "CONNECT {}\r\nPUB a 10\r\nxx", "GET /", "PING\r\nSUB a", "\x16\x03\x01"} {
		for _, reset := range []bool{false, true} {
			conn := b.dialTCP()
			if _, err := io.WriteString(conn, says); err != nil {
				t.Fatal(err)
			}
			if i%2 == 0 { // the others leave while the proxy is still at it
				if _, err := io.ReadFull(conn, make([]byte, len("INFO {"))); err != nil {
					t.Fatal(err)
				}
			}
			if reset {
				conn.SetLinger(0) //nolint:errcheck // the close tells
			}
			conn.Close()
		}
	}
	b.usable(b.dial(false))
	for _, c := range []*net.TCPConn{b.dialTCP(), b.dialTCP()} { // they stay, silent, and do not hold up Close
		if _, err := io.ReadFull(c, make([]byte, len("INFO {"))); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.proxy.Close(); err != nil {
		t.Fatal(err)
	}
}

// A client that ends its own direction gets what the server has to say to what it sent.
func TestClientHalfCloses(t *testing.T) {
	b := newBed(t)
	conn := b.dialTCP()
	if _, err := io.WriteString(conn, "CONNECT {}\r\nSUB a 1\r\nPUB a 2\r\nhi\r\nPING\r\n"); err != nil {
		t.Fatal(err)
	}
	seen := make([]byte, 0, 4096)
	for !strings.HasSuffix(string(seen), "PONG\r\n") { // a server drops what it has not read when a client ends
		n, err := conn.Read(seen[len(seen):cap(seen)])
		if err != nil {
			t.Fatalf("%q, %v", seen, err)
		}
		seen = seen[:len(seen)+n]
	}
	if !strings.Contains(string(seen), "MSG a 1 2\r\nhi\r\n") {
		t.Errorf("the client reads %q", seen)
	}
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(conn); err != nil {
		t.Errorf("the rest is %q, %v", rest, err)
	}
	b.idle()
}

// A TLS handshake that stops anywhere ends after DialTimeout, or with the client, and leaves nothing.
func TestTruncatedHandshakes(t *testing.T) {
	b := newTLSBed(t, "none")
	b.front("nats", func(o *proxy.Options) {
		o.ServerTLS, o.ServerTLSFirst = &tls.Config{Certificates: []tls.Certificate{b.pair}}, true
		o.DialTimeout = soon
	})
	hello := clientHello(t)
	for _, n := range []int{0, 1, 5, 6, len(hello) / 2, len(hello) - 1, len(hello)} {
		stays, goes := b.dialTCP(), b.dialTCP()
		for _, conn := range []*net.TCPConn{stays, goes} {
			if _, err := conn.Write(hello[:n]); err != nil {
				t.Fatal(err)
			}
		}
		goes.Close()
		defer func() {
			if _, err := io.Copy(io.Discard, stays); os.IsTimeout(err) {
				t.Errorf("after %d bytes of its hello a client is kept for ever", n)
			}
		}()
	}
	// Who does it right is let in meanwhile.
	conn := tls.Client(b.dialTCP(), &tls.Config{RootCAs: b.roots, ServerName: "127.0.0.1"})
	rawVia(t, plainConnect)(conn, nil).step()
}

// clientHello is the first flight of a TLS client.
func clientHello(t *testing.T) []byte {
	t.Helper()
	near, far := net.Pipe()
	defer near.Close()
	go func() {
		tls.Client(far, &tls.Config{ServerName: "127.0.0.1"}).Handshake() //nolint:errcheck // it never comes about
		far.Close()
	}()
	b := make([]byte, 16<<10)
	n, err := near.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	return b[:n]
}

// A proxy does not listen where its own upstream is: each client would be one more.
func TestProxyIsNotItsOwnUpstream(t *testing.T) {
	for _, c := range []struct{ upstream, listen string }{
		{"127.0.0.1", "127.0.0.1"}, {"localhost", "127.0.0.1"}, {"127.0.0.1", "0.0.0.0"}, {"[::1]", "[::1]"}, {"localhost", "[::]"},
	} {
		probe, err := net.Listen("tcp", c.listen+":0")
		if err != nil {
			t.Logf("cannot listen on %s: %v", c.listen, err)
			continue
		}
		_, port, _ := net.SplitHostPort(probe.Addr().String())
		probe.Close()
		p, err := proxy.New("127.0.0.1:1,"+c.upstream+":"+port, proxy.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		_, err = p.Listen(c.listen + ":" + port)
		mustFail(t, err, "is the upstream", "itself: choose another port")
	}
}
