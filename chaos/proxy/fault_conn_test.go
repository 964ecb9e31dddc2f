package proxy_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// Faults that end a connection: the client comes back, others are not touched.
func TestConnectionsEnd(t *testing.T) {
	for _, fault := range []string{"reset", "stale-connection"} {
		for _, memory := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s memory=%v", fault, memory), func(t *testing.T) {
				b := newBed(t)
				nc, lost, found := b.reconnecting(memory)
				other := b.dial(memory, nats.Name("other"), nats.NoReconnect())
				b.usablePing(nc)
				b.apply(fault + "(conn=reader)")
				<-lost
				<-found
				b.usable(nc)
				b.usable(other)
				if f := b.log.waitFirings(t, 1); len(f) != 1 || f[0].Frame.Conn != 1 || f[0].Frame.Client != "reader" {
					t.Errorf("firings %+v", f)
				}
			})
		}
	}
}

// A reset is one for the client: its read fails, and does not find the end.
func TestResetIsNoOrderlyEnd(t *testing.T) {
	for _, memory := range []bool{true, false} {
		t.Run(fmt.Sprintf("memory=%v", memory), func(t *testing.T) {
			b := newBed(t)
			var c *raw
			if memory {
				c = b.raw()
			} else {
				c = rawVia(t, plainConnect)(net.Dial("tcp", strings.TrimPrefix(b.proxy.URL(), "nats://")))
			}
			c.step()
			b.apply("reset")
			if _, err := c.read(); !isReset(err) {
				t.Errorf("the client reads %v, want a reset", err)
			}
		})
	}
}

func TestLameDuckUnderAClient(t *testing.T) {
	b := newBed(t)
	warned := make(chan []string, 1)
	nc := b.dial(true, nats.Name("reader"), nats.LameDuckModeHandler(func(nc *nats.Conn) { warned <- nc.DiscoveredServers() }))
	other := b.dial(true)
	b.usablePing(nc)
	b.usablePing(other)
	b.apply("lame-duck(conn=read*)")
	if servers := <-warned; len(servers) != 0 {
		t.Errorf("it is told to go to %v", servers)
	}
	b.usable(nc)
	if f := b.proxy.Firings(); len(f) != 1 || f[0].Frame.Verb != proxy.INFO || f[0].Frame.Client != "reader" || f[0].Frame.Fate != proxy.Injected {
		t.Errorf("fired %+v", f)
	}
}

func TestRefuse(t *testing.T) {
	b := newBed(t)
	nc, lost, found := b.reconnecting(false)
	undo := b.apply("refuse")
	b.usable(nc) // open connections go on
	if _, err := b.proxy.Dialer().Dial("tcp", "x"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("Dial: %v", err)
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(b.proxy.URL(), "nats://"))
	if err == nil {
		_, err = io.ReadAll(conn)
		conn.Close()
	}
	if !isReset(err) {
		t.Errorf("a client at the port gets %v, want a reset", err)
	}
	b.apply("cut")
	<-lost
	b.log.waitFirings(t, 6) // its attempts are among them
	undo()
	<-found
	b.usable(nc)
	if f := b.proxy.Firings()[0]; f.Frame.Conn != 0 || f.Frame.Fate != proxy.Dropped || f.Fault != "refuse" {
		t.Errorf("fired %+v", f)
	}
}

// A dead link that a new connection does not share.
func TestBlackHoleOfOpenConnections(t *testing.T) {
	b := newBed(t)
	nc, lost, found := b.reconnecting(false)
	b.apply("black-hole(new=false)")
	b.usable(b.dial(true))
	b.usable(b.dial(false))
	if err := nc.ForceReconnect(); err != nil {
		t.Fatal(err)
	}
	<-lost
	<-found
	b.usable(nc)
	if f := b.proxy.Firings(); len(f) != 1 || f[0].Frame.Conn != 1 {
		t.Errorf("fired %+v", f)
	}
}

func TestRefuseByName(t *testing.T) {
	b := newBed(t)
	open := b.dial(true, nats.Name("reader-1"))
	undo := b.apply("refuse(conn=reader*,limit=2)")
	for _, memory := range []bool{true, false} {
		options := []nats.Option{nats.Name("reader-2"), nats.Timeout(limit)}
		if memory {
			options = append(options, nats.SetCustomDialer(b.proxy.Dialer()))
		}
		if nc, err := nats.Connect(b.proxy.URL(), options...); err == nil {
			nc.Close()
			t.Errorf("memory=%v: it is let in", memory)
		}
	}
	b.usable(open)
	b.usable(b.dial(true, nats.Name("writer")))
	b.usable(b.dial(true, nats.Name("reader-3"))) // the limit is reached
	undo()
	if f := b.proxy.Firings(); len(f) != 2 || f[0].Frame.Client != "reader-2" || f[1].Frame.Client != "reader-2" {
		t.Errorf("fired %+v", f)
	}
}

func TestSlowConnectionsUnderAClient(t *testing.T) {
	for _, fault := range []string{"latency(delay=5ms,jitter=5ms)", "bandwidth(rate=200000)"} {
		t.Run(fault, func(t *testing.T) {
			b := newBed(t)
			nc := b.dial(false)
			undo := b.apply(fault)
			late := b.dial(true)
			js := b.stream(late, 20)
			p := b.puller(nc, b.consumer(js))
			p.pull(waitingPull)
			for want := uint64(1); want <= 20; want++ {
				if s, _ := sequences(t, p.next()); s != want {
					t.Fatalf("got sequence %d, want %d", s, want)
				}
			}
			undo()
			b.usable(nc)
			b.usable(late)
			if f := b.proxy.Firings(); len(f) != 2 || f[0].Frame.Conn != 1 || f[1].Frame.Conn != 2 {
				t.Errorf("fired %+v", f)
			}
		})
	}
}
