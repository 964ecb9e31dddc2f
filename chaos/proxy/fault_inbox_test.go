package proxy_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

func TestForgeStatusCounts(t *testing.T) {
	b := newBed(t)
	nc := b.dial(true, nats.Name("reader"))
	p := b.puller(nc, b.consumer(b.stream(nc, 0)))
	status := func(reply int, code, text string) {
		t.Helper()
		m := p.next()
		for isHeartbeat(m) && code != "100" {
			m = p.next()
		}
		if m.Header.Get("Status") != code || m.Header.Get("Description") != text || !strings.HasSuffix(m.Subject, fmt.Sprintf(".%d", reply)) {
			t.Fatalf("got %s %v, want %s %s for pull %d", m.Subject, m.Header, code, text, reply)
		}
	}
	// Nothing waits: the next pull, once.
	b.apply("forge-status(code=503)")
	p.pull(`{"batch":1,"no_wait":true}`)
	if _, err := p.sub.NextMsg(limit); !errors.Is(err, nats.ErrNoResponders) {
		t.Fatalf("503 gives %v", err)
	}
	p.pull(`{"batch":1,"no_wait":true}`)
	status(2, "404", "No Messages")
	// Two wait, one is meant.
	b.proxy.Reset()
	p.pull(`{"batch":3,"expires":60000000000}`)
	p.pull(`{"batch":4,"expires":60000000000}`)
	b.apply("forge-status(text=Leadership Change,nth=2)")
	status(4, "409", "Leadership Change")
	b.apply("forge-status(code=408)")
	m := p.next()
	if m.Header.Get("Nats-Pending-Messages") != "3" || !strings.HasSuffix(m.Subject, ".3") {
		t.Errorf("got %s %v", m.Subject, m.Header)
	}
	// A heartbeat needs a pull that waits, so the pull reaches the server.
	b.proxy.Reset()
	b.apply("forge-status(code=100,on=pulls,headers=\"Nats-Last-Consumer: 7\\nNats-Last-Stream: 9\")")
	p.pull(`{"batch":1,"no_wait":true}`)
	m = p.next()
	if m.Header.Get("Nats-Last-Consumer") != "7" || m.Header.Get("Nats-Last-Stream") != "9" {
		t.Errorf("got %v", m.Header)
	}
	status(5, "404", "No Messages")
	b.proxy.Reset()
	b.apply("forge-status(code=423,text=none,headers=none,on=pulls,subject=CONSUMER.MSG.NEXT.ORDERS.*,every=2)")
	b.apply("forge-status(on=pulls,conn=other)")
	p.pull(`{"batch":1,"no_wait":true}`)
	status(6, "404", "No Messages")
	p.pull(`{"batch":1,"no_wait":true}`)
	status(7, "423", "")
	for i, f := range b.log.waitFirings(t, 5) {
		if f.Frame.Verb != proxy.HMSG || f.Frame.Fate != proxy.Injected || f.Frame.Status == 0 || f.Frame.Client != "reader" || f.Frame.Request != p.subject {
			t.Errorf("firing %d: %+v", i, f)
		}
	}
	if n := len(b.proxy.Firings()); n != 5 {
		t.Errorf("%d firings", n)
	}
	b.usable(nc)
}

func TestSwallowSub(t *testing.T) {
	b := newBed(t)
	nc := b.dial(true)
	undo := b.apply("swallow-sub")
	js := b.stream(nc, 1) // the inbox of requests comes through
	consumer := b.consumer(js)
	p := b.puller(nc, consumer)
	p.pull(waitingPull)
	f := b.log.waitFirings(t, 1)[0].Frame
	if f.Verb != proxy.SUB || f.Subject != p.inbox+".*" || f.Fate != proxy.Dropped {
		t.Errorf("fired on %+v", f)
	}
	old, err := nc.SubscribeSync(nats.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	if err := old.AutoUnsubscribe(1); err != nil {
		t.Fatal(err)
	}
	if err := nc.PublishRequest("$JS.API.INFO", old.Subject, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := old.NextMsg(limit); err != nil {
		t.Fatalf("the inbox of a request of its own: %v", err)
	}
	unused, err := nc.SubscribeSync("_INBOX.unused")
	if err != nil {
		t.Fatal(err)
	}
	b.usable(nc)
	info, err := b.stream(b.direct(), 0).Consumer(b.ctx, "ORDERS", consumer)
	if err != nil || info.CachedInfo().NumWaiting != 0 {
		t.Errorf("%+v, %v", info, err)
	}
	undo()
	b.usablePing(nc)
	if err := b.direct().Publish("_INBOX.unused", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := unused.NextMsg(limit); err != nil {
		t.Fatalf("what was kept back unused: %v", err)
	}
	if n, _, _ := p.sub.Pending(); n != 0 || !p.sub.IsValid() {
		t.Errorf("%d messages on the swallowed inbox", n)
	}
	again := b.puller(nc, consumer)
	again.pull(waitingPull)
	if s, _ := sequences(t, again.next()); s != 1 {
		t.Errorf("a new inbox gets sequence %d", s)
	}
	if n := len(b.proxy.Firings()); n != 1 {
		t.Errorf("%d firings", n)
	}
}

func TestSwallowSubBySubject(t *testing.T) {
	b := newBed(t)
	c := b.raw()
	c.step()
	b.apply("swallow-sub(subject=alarms.*,nth=2)")
	c.send("SUB alarms.a 1\r\nSUB orders 2\r\nSUB alarms.b 3\r\nSUB alarms.c 4\r\nPUB alarms.a 0\r\n\r\nPUB alarms.b 0\r\n\r\nPUB alarms.c 0\r\n\r\n")
	got := strings.Join(c.step(), "")
	if got != "MSG alarms.a 1 0\r\n\r\nMSG alarms.c 4 0\r\n\r\n" {
		t.Errorf("arrived %q", got)
	}
	for _, s := range b.proxy.Connections()[0].Subscriptions {
		if s.Forgotten != (s.SID == "3") {
			t.Errorf("%+v", s)
		}
	}
}
