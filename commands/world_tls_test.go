package commands

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

// Servers with a certificate of their own authority, which want one of the client, or TLS
// before anything is said.
func TestWorldOfTLS(t *testing.T) {
	serverCert, serverKey := certificate(t)
	cert, key := certificate(t)
	_, otherKey := certificate(t)
	tls := func(more string) string {
		return fmt.Sprintf("tls { cert_file: %q, key_file: %q, %s }\n", serverCert, serverKey, more)
	}
	t.Run("authority", func(t *testing.T) {
		url := withOrders(t, tls(""), nats.RootCAs(serverCert)).URL()
		demand{"", url, map[string]string{"tlsca": serverCert}, map[string]string{"tlsca": cert}, `hint: --tlsca names the authority`}.prove(t)
		inContexts(t, "", nil)
		demand{}.reads(t, []string{"-s", strings.Replace(url, "nats://", "tls://", 1)}, []string{"--tlsca", "file://" + serverCert})
	})
	t.Run("client certificate", func(t *testing.T) {
		url := withOrders(t, tls(fmt.Sprintf("ca_file: %q, verify: true", cert)), nats.RootCAs(serverCert), nats.ClientCert(cert, key)).URL()
		needs := map[string]string{"tlsca": serverCert, "tlscert": cert, "tlskey": key}
		wrong := map[string]string{"tlsca": serverCert, "tlscert": serverCert, "tlskey": serverKey}
		demand{"", url, needs, wrong, `hint: --tlsca names the authority`}.prove(t)
		inContexts(t, "", nil)
		d := demand{}
		for line, want := range map[string]string{
			"":                   "hint: the server wants a client certificate: --tlscert and --tlskey",
			" --tlscert " + cert: "hint: the server wants a client certificate: --tlscert and --tlskey go together, and one is missing",
			" --tlscert " + cert + " --tlskey " + otherKey: "error: flag --tlscert: error loading client certificate: tls: private key does not match public key",
		} {
			code, _, stderr := d.run(t, []string{"-s", url, "--tlsca", serverCert}, strings.Fields(line))
			if code != exitCannotJudge || !strings.Contains(stderr, want) {
				t.Errorf("%q: code %d, want %q\n%s", line, code, want, stderr)
			}
		}
	})
	t.Run("handshake first", func(t *testing.T) {
		url := withOrders(t, tls("handshake_first: true"), nats.RootCAs(serverCert), nats.TLSHandshakeFirst()).URL()
		needs := map[string]string{"tlsca": serverCert, "tlsfirst": "true"}
		demand{"", url, needs, map[string]string{"tlsca": cert}, `hint: .*--tlsfirst`}.prove(t)
		inContexts(t, "", map[string]string{"first": contextFor(t, url, needs)})
		d := demand{}
		d.reads(t, []string{"--tls-first", "-s", url}, []string{"--tlsca", serverCert})
		// natscli cannot take it back; here a flag stands over a context, always.
		if code, _, _ := d.run(t, []string{"--no-tlsfirst", "--context", "first", "--timeout", "1s"}, nil); code != exitCannotJudge {
			t.Errorf("--no-tlsfirst over a context: code %d", code)
		}
	})
}

// The connection says who it is, and what --connection-name calls it.
func TestWorldOfNames(t *testing.T) {
	server := startLab(t, lab.Options{})
	inContexts(t, "", nil)
	for args, want := range map[string]string{"": "nats-reader 1.2.3-test", "--connection-name orders-tail": "orders-tail"} {
		d := demand{}
		d.run(t, append([]string{"-s", server.URL()}, strings.Fields(args)...), nil) // there is no stream, which it learns from the server
		var seen []string
		for limit := time.Now().Add(30 * time.Second); !slices.Contains(seen, want); seen = closedConnections(t, server) {
			if time.Now().After(limit) {
				t.Fatalf("%q: no connection was called %q: %q", args, want, seen)
			}
		}
	}
}

// closedConnections are the names of the connections that a server has seen the end of.
func closedConnections(t *testing.T, server *lab.Server) (names []string) {
	t.Helper()
	answer, err := http.Get(server.MonitorURL() + "/connz?state=closed")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was read
	var connz struct {
		Connections []struct{ Name string }
	}
	if err := json.NewDecoder(answer.Body).Decode(&connz); err != nil {
		t.Fatal(err)
	}
	for _, c := range connz.Connections {
		names = append(names, c.Name)
	}
	return names
}

// A lost connection is tried for ever, soon at first, and not by all at one time.
func TestReconnectDelay(t *testing.T) {
	var o nats.Options
	for _, set := range testProgram().connectionOptions(settings{}) {
		if err := set(&o); err != nil {
			t.Fatal(err)
		}
	}
	if o.MaxReconnect != -1 || !o.AllowReconnect && o.MaxReconnect == 0 || !o.IgnoreAuthErrorAbort {
		t.Errorf("reconnects end: %d", o.MaxReconnect)
	}
	for _, attempt := range []int{0, 1, 2, 7, 100, math.MaxInt} {
		most := min(firstReconnect<<min(max(attempt-1, 0), 10), slowReconnect)
		seen := map[time.Duration]bool{}
		for range 100 {
			d := o.CustomReconnectDelayCB(attempt)
			if d <= most/2 || d > most {
				t.Fatalf("attempt %d: %s is not between %s and %s", attempt, d, most/2, most)
			}
			seen[d] = true
		}
		if len(seen) < 50 {
			t.Errorf("attempt %d: %d delays of 100 differ", attempt, len(seen))
		}
	}
}
