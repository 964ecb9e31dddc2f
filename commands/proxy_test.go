package commands

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

// runProxy runs the command until the test is over, and gives where it listens. end
// interrupts it and gives its exit code and what it said.
func runProxy(t *testing.T, args ...string) (listen string, end func() (int, string)) {
	t.Helper()
	listen, _, end = runProxyNotes(t, args...)
	return listen, end
}

// notes are the lines that a command has written on stderr.
type notes struct {
	mu    sync.Mutex
	text  strings.Builder
	grown chan struct{}
}

func (n *notes) Write(b []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.grown)
	n.grown = make(chan struct{})
	return n.text.Write(b)
}

// String is all that was written.
func (n *notes) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.String()
}

// await returns when a line matches.
func (n *notes) await(t *testing.T, pattern string) {
	t.Helper()
	limit := time.NewTimer(30 * time.Second)
	defer limit.Stop()
	line := regexp.MustCompile("(?m)^" + pattern + "$")
	for {
		n.mu.Lock()
		text, grown := n.text.String(), n.grown
		n.mu.Unlock()
		if line.MatchString(text) {
			return
		}
		select {
		case <-grown:
		case <-limit.C:
			t.Fatalf("no line like %s in:\n%s", pattern, text)
		}
	}
}

// runProxyNotes is runProxy with what it writes on stderr.
func runProxyNotes(t *testing.T, args ...string) (listen string, stderr *notes, end func() (int, string)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	stderr = &notes{grown: make(chan struct{})}
	code := make(chan int, 1)
	go func() {
		c := Main(ctx, append([]string{"proxy", "--listen", "127.0.0.1:0"}, args...), nil, in, stderr, "")
		in.Close() //nolint:errcheck // it gives none
		code <- c
	}()
	lines := bufio.NewReader(out)
	first, err := lines.ReadString('\n')
	found := regexp.MustCompile(`proxy is ready  listen=(\S+)`).FindStringSubmatch(first)
	if found == nil {
		cancel()
		t.Fatalf("the first line is %q, %v; %s", first, err, stderr.String())
	}
	rest := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(lines) // of a pipe that ends with the command
		rest <- string(text)
	}()
	return found[1], stderr, func() (int, string) {
		cancel()
		return <-code, <-rest
	}
}

// certificate makes a self-signed one for 127.0.0.1.
func certificate(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: cert}, keyFile: {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}

func startLab(t *testing.T, o lab.Options) *lab.Server {
	t.Helper()
	server, err := lab.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// roundTrip sends a message to the client itself.
func roundTrip(t *testing.T, url string, options ...nats.Option) {
	t.Helper()
	nc, err := nats.Connect(url, options...)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	sub, err := nc.SubscribeSync("here")
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Publish("here", []byte("hello")); err != nil {
		t.Fatal(err)
	}
	m, err := sub.NextMsg(30 * time.Second)
	if err != nil || string(m.Data) != "hello" {
		t.Fatalf("got %v, %v", m, err)
	}
}

func TestProxySpeaksTLSWithTheServer(t *testing.T) {
	for name, first := range map[string]bool{"after the greeting": false, "first": true} {
		t.Run(name, func(t *testing.T) {
			cert, key := certificate(t)
			config := fmt.Sprintf("tls { cert_file: %q, key_file: %q, handshake_first: %v }\n", cert, key, first)
			ready := []nats.Option{nats.RootCAs(cert)}
			args := []string{"--tlsca", cert}
			if first {
				ready = append(ready, nats.TLSHandshakeFirst())
				args = append(args, "--tlsfirst")
			}
			server := startLab(t, lab.Options{Config: config, ReadyOptions: ready})
			ignore := goleak.IgnoreCurrent()
			listen, end := runProxy(t, append(args, "--upstream", server.URL())...)
			roundTrip(t, listen)
			if code, said := end(); code != exitInterrupted || !strings.Contains(said, "proxy ended  connections=1 ") {
				t.Errorf("code %d, said %s", code, said)
			}
			goleak.VerifyNone(t, ignore)
		})
	}
}

func TestProxyTellsHowItSpeaksWithTheServer(t *testing.T) {
	for _, c := range []struct {
		upstream string
		config   *tls.Config
		want     string
	}{
		{"nats://127.0.0.1:4222", nil, "nats://"},
		{"127.0.0.1:4222", nil, "nats://"},
		{"tls://127.0.0.1:4222", nil, "tls://"},
		{"nats://10.0.0.1:4222, TLS://127.0.0.1", nil, "tls://"},
		{"tls://10.0.0.1:4222,nats://127.0.0.1:4222", nil, "nats://"},
		{"nats://127.0.0.1:4222", &tls.Config{MinVersion: tls.VersionTLS12}, "tls://"},
	} {
		plan := proxyPlan{upstream: c.upstream}
		plan.options.UpstreamTLS = c.config
		if got := plan.schemeOf("127.0.0.1:4222"); got != c.want {
			t.Errorf("%s: %s, want %s", c.upstream, got, c.want)
		}
	}
}

func TestProxySpeaksTLSWithClients(t *testing.T) {
	cert, key := certificate(t)
	server := startLab(t, lab.Options{})
	listen, end := runProxy(t, "--upstream", server.URL(), "--listen-cert", cert, "--listen-key", key)
	if !strings.HasPrefix(listen, "tls://") {
		t.Errorf("told that it listens on %s", listen)
	}
	roundTrip(t, listen, nats.RootCAs(cert))
	if code, said := end(); code != exitInterrupted {
		t.Errorf("code %d, said %s", code, said)
	}
	listen, stderr, end := runProxyNotes(t, "--upstream", server.URL(), "--listen-cert", cert, "--listen-key", key, "--listen-tlsfirst")
	roundTrip(t, listen, nats.RootCAs(cert), nats.TLSHandshakeFirst())
	if nc, err := nats.Connect(listen, nats.TLSHandshakeFirst(), nats.Secure()); err == nil {
		nc.Close()
		t.Error("a client that knows no CA is let in")
	}
	stderr.await(t, `nats-reader: proxy: TLS with a client: the client refuses the certificate of this proxy \(bad certificate\): .*--listen-cert and --listen-key.*`)
	if code, said := end(); code != exitInterrupted {
		t.Errorf("code %d, said %s", code, said)
	}
	for _, args := range [][]string{{"--listen-cert", cert}, {"--listen-key", key}, {"--listen-cert", key, "--listen-key", cert}} {
		var stdout, stderr strings.Builder
		code := Main(t.Context(), append([]string{"proxy", "--upstream", server.URL()}, args...), nil, &stdout, &stderr, "")
		if code != exitCannotJudge || !strings.HasPrefix(stderr.String(), "nats-reader: error: flag") {
			t.Errorf("%q: code %d, %s", args, code, stderr.String())
		}
	}
}

// Faults on frames work within the TLS of the server that watch reads from.
func TestWatchInjectsIntoTLS(t *testing.T) {
	cert, key := certificate(t)
	server := startLab(t, lab.Options{
		Config: fmt.Sprintf("tls { cert_file: %q, key_file: %q }\n", cert, key), ReadyOptions: []nats.Option{nats.RootCAs(cert)},
	})
	nc, err := nats.Connect(server.URL(), nats.RootCAs(cert), nats.Timeout(30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}}); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if _, err := js.Publish(t.Context(), "s", nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, scheme := range []string{"nats://", "tls://"} {
		var stdout, stderr strings.Builder
		args := []string{
			"watch", "S", "--no-context", "--server", strings.Replace(server.URL(), "nats://", scheme, 1), "--tlsca", cert,
			"--duration", "1s", "--heartbeat", "300ms", "--inject", "drop-subscription@100ms", "--inject", "cut@900ms",
		}
		if code := Main(t.Context(), args, nil, &stdout, &stderr, ""); code != exitGood || !strings.Contains(stdout.String(), "drop-subscription acted  verb=UNSUB") {
			t.Errorf("%s: code %d\n%s%s", scheme, code, stdout.String(), stderr.String())
		}
	}
}

// The lines of faults do not hold up the frames they tell of.
func TestFeedNeverWaits(t *testing.T) {
	out, in := io.Pipe()
	lines := &printer{out: in, gone: func() {}}
	f := newFeed(lines)
	for range feedRoom + 100 {
		f.offer(func() { lines.note("a fault acted") }) // nobody reads the pipe
	}
	said := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(out)
		said <- string(text)
	}()
	f.close()
	in.Close() //nolint:errcheck // it gives none
	text := <-said
	if n := strings.Count(text, "a fault acted"); n < feedRoom || n > feedRoom+2 {
		t.Errorf("%d lines", n)
	}
	if !regexp.MustCompile(`lines left out: .*  count=(9[0-9]|100)\n`).MatchString(text) {
		t.Errorf("what was left out is not told: %.300s", text[max(0, len(text)-300):])
	}
}
