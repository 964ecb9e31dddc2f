package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// Of several upstreams one that answers is taken, and another when that is down.
func TestSeveralUpstreams(t *testing.T) {
	b := newBed(t)
	second, err := lab.Start(b.ctx, lab.Options{NoJetStream: true})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	down := freePort(t)
	b.proxy = newProxy(t, strings.Join([]string{down, b.server.URL(), second.URL()}, ","), b.log.options())
	if b.proxy.Upstream() != down {
		t.Errorf("the upstream is %s before a client comes", b.proxy.Upstream())
	}
	nc, lost, found := b.reconnecting(false)
	if nc.ConnectedServerId() == "" || "nats://"+b.proxy.Upstream() != b.server.URL() {
		t.Errorf("the upstream is %s, want %s", b.proxy.Upstream(), b.server.URL())
	}
	if err := b.server.Kill(b.ctx); err != nil {
		t.Fatal(err)
	}
	<-lost
	<-found
	b.usablePing(nc)
	if "nats://"+b.proxy.Upstream() != second.URL() {
		t.Errorf("the upstream is %s, want %s", b.proxy.Upstream(), second.URL())
	}
	if err := second.Kill(b.ctx); err != nil {
		t.Fatal(err)
	}
	nc.Close()
	_, err = b.proxy.Dialer().Dial("", "")
	mustFail(t, err, "proxy: connect to the upstream", down, strings.TrimPrefix(b.server.URL(), "nats://"), strings.TrimPrefix(second.URL(), "nats://"))
	if n := b.proxy.Traffic().Refused; n == 0 {
		t.Error("no connection is counted as refused")
	}
}

// With OwnURLs the servers that clients may go to are the proxy, also when the server goes into lame duck mode.
func TestOwnURLs(t *testing.T) {
	b := newBedWith(t, lab.Options{NoJetStream: true, Config: `cluster { name: c, listen: "127.0.0.1:-1" }`})
	o := b.log.options()
	o.OwnURLs = true
	b.proxy = newProxy(t, b.server.URL(), o)
	c := b.raw()
	c.step()
	own := fmt.Sprintf(`"connect_urls":[%q]`, strings.TrimPrefix(b.proxy.URL(), "nats://"))
	if !strings.Contains(c.info, own) || strings.Contains(c.info, strings.TrimPrefix(b.server.URL(), "nats://")+`"]`) {
		t.Errorf("the INFO is %s, want %s in it", c.info, own)
	}
	b.apply("lame-duck")
	c.await("INFO {", own+`,"ldm":true`)
	nc := b.dial(false)
	for _, s := range nc.DiscoveredServers() {
		if s != b.proxy.URL() {
			t.Errorf("the client discovered %s", s)
		}
	}
}

// With CloseMalformed what is no NATS is not passed on, and the connection ends.
func TestCloseMalformed(t *testing.T) {
	b := newBed(t)
	o := b.log.options()
	o.CloseMalformed = true
	b.proxy = newProxy(t, b.server.URL(), o)
	c := b.raw()
	c.step()
	c.send("PUB a 1\r\nx\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n")
	for {
		f, err := c.read()
		if err != nil {
			if err.Error() != "EOF" {
				t.Errorf("the end is %v", err)
			}
			break
		}
		t.Errorf("the server says %q", f)
	}
	b.log.wait(t, "the notice", func() bool { return len(b.log.notices) == 1 })
	if n := b.log.notices[0]; n.Conn != 1 || !strings.Contains(n.Text, "up stream is not the NATS client protocol and is ended") {
		t.Errorf("notice %+v", n)
	}
	b.log.waitFrame(t, "the frame before", func(f proxy.Frame) bool { return f.Verb == proxy.PUB && f.Subject == "a" && f.Fate == proxy.Passed })
	if up := b.proxy.Traffic().Up; up.Opaque != 0 {
		t.Errorf("traffic %+v", up)
	}
	b.usable(b.dial(true))
}
