package proxy_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// freePort returns a port that nothing listens on.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestUpstreamDown(t *testing.T) {
	log := newWire()
	p := newProxy(t, freePort(t), log.options())
	if _, err := p.Dialer().Dial("tcp", "127.0.0.1:4222"); err == nil {
		t.Error("Dial without an upstream succeeds")
	} else {
		mustFail(t, err, "proxy: connect to the upstream", p.Upstream(), "refused", "check the address, and that the server runs")
	}
	client, err := net.Dial("tcp", strings.TrimPrefix(p.URL(), "nats://"))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	client.SetReadDeadline(time.Now().Add(limit))
	if b, err := io.ReadAll(client); len(b) != 0 || os.IsTimeout(err) {
		t.Errorf("the client reads %q, %v; want the end", b, err)
	}
	log.wait(t, "the notice", func() bool {
		return len(log.notices) > 0 && strings.Contains(log.notices[len(log.notices)-1].Text, "connect to the upstream")
	})
	if traffic := p.Traffic(); traffic.Refused != 2 || traffic.Accepted != 0 {
		t.Errorf("traffic %+v", traffic)
	}
}

func TestPortTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p := newProxy(t, "127.0.0.1:4222", proxy.Options{Name: "front"})
	_, err = p.Listen(l.Addr().String())
	mustFail(t, err, "front: listen on "+l.Addr().String())
}

// A client of a server that is killed sees the end at once, and comes back when the server does.
func TestServerKilled(t *testing.T) {
	bothWaysReconnecting(t, func(t *testing.T, b *bed, nc *nats.Conn, lost, found chan struct{}) {
		if err := b.server.Kill(b.ctx); err != nil {
			t.Fatal(err)
		}
		<-lost
		if err := b.server.Restart(b.ctx); err != nil {
			t.Fatal(err)
		}
		<-found
		b.usable(nc)
	})
}

func bothWaysReconnecting(t *testing.T, test func(t *testing.T, b *bed, nc *nats.Conn, lost, found chan struct{})) {
	for _, memory := range []bool{true, false} {
		t.Run(fmt.Sprintf("memory=%v", memory), func(t *testing.T) {
			b := newBed(t)
			nc, lost, found := b.reconnecting(memory)
			test(t, b, nc, lost, found)
		})
	}
}

// A frozen server does not hold up Close.
func TestCloseWhileTheServerIsFrozen(t *testing.T) {
	b := newBed(t)
	nc := b.dial(false, nats.NoReconnect(), nats.FlusherTimeout(time.Second))
	if err := b.server.Freeze(); err != nil {
		t.Skipf("this system cannot freeze a process: %v", err)
	}
	payload := make([]byte, 1<<20)
	go func() {
		for nc.Publish("x", payload) == nil {
		}
	}()
	b.log.waitFrame(t, "the publisher's traffic", func(f proxy.Frame) bool { return f.Verb == proxy.PUB && f.Size == len(payload) })
	if err := b.proxy.Close(); err != nil {
		t.Fatal(err)
	}
	if err := b.server.Thaw(); err != nil {
		t.Fatal(err)
	}
}

// What is not NATS passes unread, both ways, and is told once.
func TestMalformedClient(t *testing.T) {
	b := newBed(t)
	client, err := b.proxy.Dialer().Dial("tcp", "")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	client.SetDeadline(time.Now().Add(limit))
	r := bufio.NewReader(client)
	if line, err := r.ReadString('\n'); err != nil || !strings.HasPrefix(line, "INFO {") {
		t.Fatalf("%q, %v", line, err)
	}
	if _, err := io.WriteString(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(r)
	if err != nil || !strings.Contains(string(rest), "-ERR 'Unknown Protocol Operation'") {
		t.Errorf("the server's answer is %q, %v", rest, err)
	}
	b.log.wait(t, "the notice", func() bool { return len(b.log.notices) == 1 })
	if n := b.log.notices[0]; n.Conn != 1 || !strings.Contains(n.Text, "up stream is not the NATS client protocol") {
		t.Errorf("notice %+v", n)
	}
}

// serverInfo reads INFO lines from a connection that has said CONNECT, until one is wanted.
func serverInfo(t *testing.T, conn net.Conn, wanted func(info map[string]json.RawMessage) bool) map[string]json.RawMessage {
	t.Helper()
	conn.SetDeadline(time.Now().Add(limit))
	if _, err := io.WriteString(conn, "CONNECT {\"protocol\":1,\"verbose\":false}\r\nPING\r\n"); err != nil {
		t.Fatal(err)
	}
	for r := bufio.NewReader(conn); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		object, ok := strings.CutPrefix(line, "INFO ")
		if !ok {
			continue
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal([]byte(object), &members); err != nil {
			t.Fatal(err)
		}
		if wanted(members) {
			return members
		}
	}
}

// A server in a cluster tells its clients where else to go, at once and whenever a server joins. Behind the
// proxy they do not hear of it, and all else of its INFO is the same.
func TestClientsCannotEscape(t *testing.T) {
	route := freePort(t)
	b := newBedWith(t, lab.Options{NoJetStream: true, Config: fmt.Sprintf("cluster { name: c, listen: %q }", route)})
	dial := func(conn net.Conn, err error) net.Conn {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	direct, through := dial(net.Dial("tcp", b.proxy.Upstream())), dial(b.proxy.Dialer().Dial("", ""))
	second, err := lab.Start(b.ctx, lab.Options{
		NoJetStream: true, Config: fmt.Sprintf(`cluster { name: c, listen: "127.0.0.1:-1", routes: [%q] }`, "nats://"+route),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	hasURLs := func(info map[string]json.RawMessage) bool { return info["connect_urls"] != nil }
	later := serverInfo(t, direct, hasURLs)
	first := serverInfo(t, dial(net.Dial("tcp", b.proxy.Upstream())), hasURLs)
	for name, c := range map[string]struct {
		conn net.Conn
		want map[string]json.RawMessage
	}{"later": {through, later}, "first": {dial(b.proxy.Dialer().Dial("", "")), first}} {
		delete(c.want, "connect_urls")
		var own = []string{"client_id", "client_ip"} // differ from connection to connection
		for _, member := range own {
			delete(c.want, member)
		}
		serverInfo(t, c.conn, func(info map[string]json.RawMessage) bool {
			if info["connect_urls"] != nil {
				t.Errorf("%s: connect_urls %s came through", name, info["connect_urls"])
			}
			for _, member := range own {
				delete(info, member)
			}
			return fmt.Sprint(info) == fmt.Sprint(c.want)
		})
	}
	nc := b.dial(false)
	b.usablePing(nc)
	if s := nc.DiscoveredServers(); len(s) != 0 {
		t.Errorf("the client discovered %v", s)
	}
}

func TestServerThatRequiresTLS(t *testing.T) {
	cert, key := certificate(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := lab.Start(ctx, lab.Options{
		Config:       fmt.Sprintf("tls { cert_file: %q, key_file: %q }", cert, key),
		ReadyOptions: []nats.Option{nats.RootCAs(cert)},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	log := newWire()
	p := newProxy(t, strings.Replace(server.URL(), "tls://", "nats://", 1), log.options())
	for _, options := range [][]nats.Option{nil, {nats.SetCustomDialer(p.Dialer())}} {
		nc, err := nats.Connect(p.URL(), append(options, nats.Timeout(limit))...)
		if err == nil {
			nc.Close()
		}
		mustFail(t, err, "requires TLS", "give it as tls://host:port")
	}
	log.wait(t, "the notices", func() bool { return len(log.notices) == 2 })
}

// certificate writes a self-signed certificate for the loopback address and its key.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, bytes []byte) string {
		path := filepath.ToSlash(filepath.Join(t.TempDir(), name))
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", pkcs8)
}

// Connections come and go without a trace.
func TestManyConnections(t *testing.T) {
	b := newBed(t)
	const n = 200
	for i := range n {
		nc := b.dial(i%2 == 0)
		nc.Close()
	}
	b.idle()
	if traffic := b.proxy.Traffic(); traffic.Accepted != n || traffic.Up.Verbs[proxy.CONNECT].Frames != n {
		t.Errorf("%+v", traffic)
	}
}
