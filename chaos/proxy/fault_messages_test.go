package proxy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// Faults on what is delivered: what arrives of six messages, and of a seventh after the end.
func TestDeliveriesDoubledAndReordered(t *testing.T) {
	for _, c := range []struct {
		fault   string
		arrives []uint64
		fired   []uint64
	}{
		{"duplicate-message", []uint64{1, 1, 2, 3, 4, 5, 6}, []uint64{1}},
		{"duplicate-message(nth=3)", []uint64{1, 2, 3, 3, 4, 5, 6}, []uint64{3}},
		{"duplicate-message(every=1)", []uint64{1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6}, []uint64{1, 2, 3, 4, 5, 6}},
		{"duplicate-message(seq=6)", []uint64{1, 2, 3, 4, 5, 6, 6}, []uint64{6}},
		{"duplicate-message(conn=other)", []uint64{1, 2, 3, 4, 5, 6}, nil},
		{"reorder-messages", []uint64{2, 1, 3, 4, 5, 6}, []uint64{1}},
		{"reorder-messages(seq=3,behind=2)", []uint64{1, 2, 4, 5, 3, 6}, []uint64{3}},
		{"reorder-messages(every=1)", []uint64{2, 1, 4, 3, 6, 5}, []uint64{1, 3, 5}},
		{"reorder-messages(seq=5,behind=9,wait=50ms)", []uint64{1, 2, 3, 4, 6, 5}, []uint64{5}},
		{"reorder-messages(seq=6,wait=20ms)", []uint64{1, 2, 3, 4, 5, 6}, nil},
		{"reorder-messages(subject=other.>)", []uint64{1, 2, 3, 4, 5, 6}, nil},
	} {
		t.Run(c.fault, func(t *testing.T) {
			b := newBed(t)
			nc := b.dial(true, nats.Name("reader"))
			p := b.puller(nc, b.consumer(b.stream(nc, 6)))
			undo := b.apply(c.fault)
			p.pull(waitingPull)
			var got []uint64
			for len(got) < len(c.arrives) {
				if m := p.next(); !isHeartbeat(m) {
					s, _ := sequences(t, m)
					got = append(got, s)
				}
			}
			if !slices.Equal(got, c.arrives) {
				t.Errorf("arrived %v, want %v", got, c.arrives)
			}
			var fired []uint64
			for _, f := range b.log.waitFirings(t, len(c.fired)) {
				fired = append(fired, f.Frame.StreamSequence)
			}
			if !slices.Equal(fired, c.fired) {
				t.Errorf("fired on %v, want %v", fired, c.fired)
			}
			undo()
			b.publish(b.stream(nc, 0), 2)
			for want := uint64(7); want <= 8; {
				if m := p.next(); !isHeartbeat(m) {
					if s, cs := sequences(t, m); s != want || cs != want {
						t.Fatalf("after the end: stream sequence %d, consumer sequence %d, want %d", s, cs, want)
					}
					want++
				}
			}
		})
	}
}

// Messages are chosen by a header.
func TestDeliveriesByHeader(t *testing.T) {
	b := newBed(t)
	nc := b.dial(true)
	js := b.stream(nc, 0)
	for _, color := range []string{"", "red", "green", "light green"} {
		m := nats.NewMsg("ORDERS.new")
		if color != "" {
			m.Header.Set("Color", color)
		}
		if _, err := js.PublishMsg(b.ctx, m); err != nil {
			t.Fatal(err)
		}
	}
	for fault, want := range map[string][]uint64{
		`drop-message(header=Color,every=1)`:                 {1},
		`drop-message(header="Color: *green",every=1)`:       {1, 2},
		`drop-message(header="Color: green",every=1)`:        {1, 2, 4},
		`drop-message(header="Colour: green",every=1)`:       {1, 2, 3, 4},
		`drop-message(header=Color,seq=2)`:                   {1, 3, 4},
		`drop-message(header="Color: red",seq=3)`:            {1, 2, 3, 4},
		`drop-message(header="Color: light green",limit=10)`: {1, 2, 3},
	} {
		undo := b.apply(fault)
		p := b.puller(nc, b.consumer(js))
		p.pull(`{"batch":9,"expires":60000000000,"idle_heartbeat":50000000}`)
		var got []uint64
		for m := p.next(); !isHeartbeat(m); m = p.next() {
			s, _ := sequences(t, m)
			got = append(got, s)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: arrived %v, want %v", fault, got, want)
		}
		undo()
	}
}

// A message that waits for others to overtake it is passed on at the end of the fault.
func TestHeldForReorderIsPassedOn(t *testing.T) {
	b := newBed(t)
	nc := b.dial(false)
	p := b.puller(nc, b.consumer(b.stream(nc, 1)))
	undo := b.apply("reorder-messages(wait=1h)")
	p.pull(waitingPull)
	if m := p.next(); !isHeartbeat(m) || m.Header.Get("Nats-Last-Consumer") != "1" {
		t.Fatalf("%s %v came, want the heartbeat behind the message", m.Subject, m.Header)
	}
	undo()
	m := p.next()
	for isHeartbeat(m) {
		m = p.next()
	}
	if s, _ := sequences(t, m); s != 1 || len(b.proxy.Firings()) != 0 {
		t.Errorf("got sequence %d, fired %+v", s, b.proxy.Firings())
	}
}

// A copy completes the subscription that a client ends after so many messages.
func TestCopyCountsForItsSubscription(t *testing.T) {
	b := newBed(t)
	consumer := b.consumer(b.stream(b.direct(), 3))
	c := b.raw()
	b.apply("duplicate-message")
	c.send("SUB X 1\r\nUNSUB 1 2\r\n")
	c.publish("$JS.API.CONSUMER.MSG.NEXT.ORDERS."+consumer, "X", `{"batch":1}`)
	first := c.await("MSG ORDERS.new 1 ")
	if second := c.await("MSG ORDERS.new 1 "); second != first {
		t.Errorf("%q is no copy of %q", second, first)
	}
	b.log.waitFrame(t, "the UNSUB", func(f proxy.Frame) bool { return f.Verb == proxy.UNSUB && f.Fate == proxy.Injected })
	if s := b.proxy.Connections()[0].Subscriptions; len(s) != 0 {
		t.Errorf("the proxy still knows %+v", s)
	}
}

func TestMuteHeartbeats(t *testing.T) {
	b := newBed(t)
	nc := b.dial(true)
	js := b.stream(nc, 1)
	p := b.puller(nc, b.consumer(js))
	undo := b.apply("mute-heartbeats")
	p.pull(`{"batch":3,"expires":500000000,"idle_heartbeat":50000000}`)
	if s, _ := sequences(t, p.next()); s != 1 {
		t.Fatalf("got sequence %d", s)
	}
	if m := p.next(); m.Header.Get("Status") != "408" {
		t.Errorf("got %v, want the end of the pull", m.Header)
	}
	for i, f := range b.log.waitFirings(t, 3) {
		if f.Frame.Status != 100 || f.Frame.Text != "Idle Heartbeat" || f.Frame.Subject != p.inbox+".1" || f.Frame.Fate != proxy.Dropped {
			t.Errorf("firing %d: %+v", i, f.Frame)
		}
	}
	undo()
	p.pull(waitingPull)
	if m := p.next(); !isHeartbeat(m) {
		t.Errorf("got %v, want a heartbeat", m.Header)
	}
}

func TestDropStatus(t *testing.T) {
	for _, c := range []struct {
		fault string
		lost  bool
	}{
		{"drop-status", true}, {"drop-status(code=404)", true}, {"drop-status(text=No Mess*)", true}, {"drop-status(code=404,text=No Messages)", true},
		{"drop-status(code=409)", false}, {"drop-status(text=Consumer*)", false}, {"drop-status(code=404,nth=2)", false},
		{"drop-status(subject=elsewhere)", false},
	} {
		t.Run(c.fault, func(t *testing.T) {
			b := newBed(t)
			nc := b.dial(true)
			p := b.puller(nc, b.consumer(b.stream(nc, 0)))
			undo := b.apply(c.fault)
			p.pull(`{"batch":1,"no_wait":true}`)
			if c.lost {
				f := b.log.waitFirings(t, 1)[0].Frame
				if f.Status != 404 || f.Text != "No Messages" || f.Fate != proxy.Dropped {
					t.Errorf("fired on %+v", f)
				}
				undo()
				p.pull(`{"batch":1,"no_wait":true}`)
			}
			if m := p.next(); m.Header.Get("Status") != "404" || !strings.HasSuffix(m.Subject, fmt.Sprintf(".%d", p.pulls)) {
				t.Errorf("got %s %v, want the status of pull %d", m.Subject, m.Header, p.pulls)
			}
		})
	}
}
