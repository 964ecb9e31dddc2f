package proxy_test

import (
	"context"
	"net"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// An upstream that only Options.Dial leads to.
func TestDialOption(t *testing.T) {
	b := newBedWith(t, lab.Options{})
	server := strings.TrimPrefix(b.server.URL(), "nats://")
	var asked string
	direct := func(ctx context.Context, network, address string) (net.Conn, error) {
		asked = network + " " + address
		return (&net.Dialer{}).DialContext(ctx, network, server)
	}
	connect := func(dial func(context.Context, string, string) (net.Conn, error)) error {
		p, err := proxy.New("nats://192.0.2.1:4222", proxy.Options{Dial: dial})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		nc, err := nats.Connect("nats://in.memory", nats.SetCustomDialer(p.Dialer()), nats.Timeout(limit))
		if err == nil {
			defer nc.Close()
			err = nc.FlushTimeout(limit)
		}
		return err
	}
	if err := connect(direct); err != nil || asked != "tcp 192.0.2.1:4222" {
		t.Errorf("asked for %q: %v", asked, err)
	}
	half := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := direct(ctx, network, address)
		return struct{ net.Conn }{conn}, err
	}
	if err := connect(half); err == nil || !strings.Contains(err.Error(), "Options.Dial") || !strings.Contains(err.Error(), "CloseWrite") {
		t.Errorf("without CloseWrite: %v", err)
	}
}
