package commands

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

func hostPort(server *lab.Server) string {
	_, address, _ := strings.Cut(server.URL(), "://")
	return address
}

// turnedAway expects that a client does not get in, and is not kept waiting.
func turnedAway(t *testing.T, url string) {
	t.Helper()
	nc, err := nats.Connect(url, nats.Timeout(30*time.Second))
	if err == nil {
		nc.Close()
		t.Error("a client is let in")
	} else if err == nats.ErrTimeout {
		t.Error("a client is kept waiting")
	}
}

// A frozen upstream is passed over for the next one, with one line on stderr; where there is none the client is
// closed, with one line that says why.
func TestProxyTellsOfFrozenUpstream(t *testing.T) {
	frozen, second := startLab(t, lab.Options{}), startLab(t, lab.Options{})
	if err := frozen.Freeze(); err != nil {
		t.Skipf("this system cannot freeze a process: %v", err)
	}
	defer frozen.Thaw() //nolint:errcheck // the test is over
	listen, stderr, end := runProxyNotes(t, "--upstream", frozen.URL()+","+second.URL())
	roundTrip(t, listen, nats.Timeout(30*time.Second))
	stderr.await(t, fmt.Sprintf("nats-reader: proxy: clients go to the upstream %s from here on: upstream %s accepts and is silent: no INFO within 1s: .*--tlsfirst", hostPort(second), hostPort(frozen)))
	if code, said := end(); code != exitInterrupted || strings.Count(stderr.String(), "\n") != 1 {
		t.Errorf("code %d, said %s%s", code, said, stderr)
	}
	listen, stderr, end = runProxyNotes(t, "--upstream", frozen.URL(), "--timeout", "300ms")
	turnedAway(t, listen)
	stderr.await(t, fmt.Sprintf("nats-reader: proxy: connect to the upstream: upstream %s accepts and is silent: no INFO within 300ms: .*", hostPort(frozen)))
	if code, said := end(); code != exitInterrupted || !strings.Contains(said, "refused=1") {
		t.Errorf("code %d, said %s", code, said)
	}
}

// TLS that does not fit is told with the flags that mend it.
func TestProxyTellsOfTLSMisfits(t *testing.T) {
	cert, key := certificate(t)
	config := fmt.Sprintf("tls { cert_file: %q, key_file: %q, ca_file: %q, verify: true }\n", cert, key, cert)
	ready := []nats.Option{nats.RootCAs(cert), nats.ClientCert(cert, key)}
	server := startLab(t, lab.Options{Config: config, ReadyOptions: ready})
	first := startLab(t, lab.Options{
		Config: strings.Replace(config, "verify", "handshake_first: true, verify", 1), ReadyOptions: append(ready, nats.TLSHandshakeFirst()),
	})
	plain := startLab(t, lab.Options{})
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no CA":          {[]string{"--upstream", "tls://" + hostPort(server)}, ".*check the CA: give the server's as --tlsca"},
		"no certificate": {[]string{"--upstream", "tls://" + hostPort(server), "--tlsca", cert}, "connection 1: the upstream ended TLS: certificate required: the server wants a client certificate, .*--tlscert and --tlskey"},
		"not told first": {[]string{"--upstream", "tls://" + hostPort(first), "--tlsca", cert}, ".*a server that does TLS first needs --tlsfirst.*"},
		"not first":      {[]string{"--upstream", hostPort(plain), "--tlsfirst"}, ".*the server does not do TLS first: leave --tlsfirst out"},
		"no TLS":         {[]string{"--upstream", "tls://" + hostPort(plain)}, ".*does not speak TLS: use nats:// instead of tls://"},
	} {
		t.Run(name, func(t *testing.T) {
			listen, stderr, end := runProxyNotes(t, c.args...)
			turnedAway(t, listen)
			stderr.await(t, "nats-reader: "+c.want)
			if code, said := end(); code != exitInterrupted || strings.Contains(stderr.String(), "Options.") {
				t.Errorf("code %d, said %s%s", code, said, stderr)
			}
		})
	}
}

// With --close-malformed what is not NATS does not reach the server.
func TestProxyClosesMalformed(t *testing.T) {
	server := startLab(t, lab.Options{})
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "nats-reader: connection 1: the up stream is not the NATS client protocol and passes unread from here on: .*"},
		{[]string{"--close-malformed"}, "nats-reader: connection 1: the up stream is not the NATS client protocol and is ended: .*"},
	} {
		listen, stderr, end := runProxyNotes(t, append(c.args, "--upstream", server.URL())...)
		conn, err := net.Dial("tcp", strings.TrimPrefix(listen, "nats://"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte("EHLO example.org\r\n")); err != nil {
			t.Fatal(err)
		}
		stderr.await(t, c.want)
		conn.Close() //nolint:errcheck // it gives none
		if code, said := end(); code != exitInterrupted {
			t.Errorf("code %d, said %s", code, said)
		}
	}
}
