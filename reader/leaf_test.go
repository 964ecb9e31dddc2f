package reader_test

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// withLeaf is a bed whose stream lives on a hub with a domain, and whose reader is on
// a leaf node with another.
func withLeaf(t *testing.T) (b *bed, hub, leaf *lab.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	b = &bed{TB: t, ctx: ctx, stream: "ORDERS", news: make(chan struct{}, 1)}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	b.must(err)
	leaves := l.Addr().String()
	b.must(l.Close())
	start := func(name, leafnodes string) *lab.Server {
		s, err := lab.Start(ctx, lab.Options{Config: fmt.Sprintf("server_name: %[1]s\njetstream: { domain: %[1]s }\nleafnodes: { %s }\n", name, leafnodes)})
		b.must(err)
		t.Cleanup(func() { b.must(s.Close()) })
		return s
	}
	hub = start("hub", fmt.Sprintf("listen: %q", leaves))
	leaf = start("leaf", fmt.Sprintf("reconnect: 1, remotes: [{ url: %q }]", "nats-leaf://"+leaves))
	b.direct = b.connect(hub.URL(), nats.Name("admin"))
	b.admin, err = jetstream.New(b.direct)
	b.must(err)
	_, err = b.admin.CreateStream(ctx, jetstream.StreamConfig{Name: b.stream, Subjects: []string{"orders.>"}})
	b.must(err)
	b.proxy, err = proxy.New(leaf.URL(), proxy.Options{})
	b.must(err)
	t.Cleanup(func() { b.must(b.proxy.Close()) })
	b.nc = b.connect(leaf.URL(), nats.SetCustomDialer(b.proxy.Dialer()))
	b.js, err = jetstream.NewWithDomain(b.nc, "hub")
	b.must(err)
	return b, hub, leaf
}

// The API and the messages cross a leaf node's connection: reading goes on when either
// side of it was away.
func TestReadsOverALeafNode(t *testing.T) {
	t.Parallel()
	b, hub, leaf := withLeaf(t)
	b.publish(1, 10)
	r := b.open(hasty(quick()))
	b.expect(r, 1, 10)
	b.must(leaf.Restart(b.ctx))
	b.publish(11, 20)
	b.expect(r, 11, 20)
	b.must(hub.Kill(b.ctx))
	b.must(hub.Start(b.ctx))
	b.eventually("the hub stores again", func() bool { return b.direct.IsConnected() })
	b.publish(21, 30)
	b.expect(r, 21, 30)
	b.eventually("one consumer is left", func() bool { return len(b.consumers()) == 1 })
}

// Nobody answers for a domain that is not there, and Open says where it asked.
func TestOpenInADomainThatIsNotThere(t *testing.T) {
	t.Parallel()
	b, _, _ := withLeaf(t)
	var err error
	b.js, err = jetstream.NewWithDomain(b.nc, "nowhere")
	b.must(err)
	err = b.refused(calm(), "no responders")
	if !contains(err, "$JS.nowhere.API.") || !contains(err, "no responders") {
		t.Fatalf("got %v", err)
	}
}
