package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// A pull that waits a minute, with a heartbeat each 200 ms.
const waitingPull = `{"batch":100,"expires":60000000000,"idle_heartbeat":200000000}`

func isHeartbeat(m *nats.Msg) bool { return m.Header.Get("Status") == "100" }

func TestDropSubscription(t *testing.T) {
	b := newBed(t)
	nc := b.dial(true, nats.Name("reader"))
	js := b.stream(b.direct(), 1)
	p := b.puller(nc, b.consumer(b.stream(nc, 0)))
	p.pull(waitingPull)
	if s, _ := sequences(t, p.next()); s != 1 {
		t.Fatalf("got sequence %d, want 1", s)
	}
	p.next() // a heartbeat: the pull waits
	b.apply("drop-subscription")
	firing := b.log.waitFirings(t, 1)[0]
	if firing.Frame.Verb != proxy.UNSUB || firing.Frame.Subject != p.inbox+".*" || firing.Frame.Client != "reader" {
		t.Errorf("fired on %+v, want the pull inbox", firing.Frame)
	}
	b.usablePing(nc) // the server has read the UNSUB that went before
	b.publish(js, 3)
	b.usable(nc) // the request inbox is still there
	p.pull(`{"batch":1,"no_wait":true}`)
	b.usable(nc)
	for n, _, _ := p.sub.Pending(); n > 0; n-- {
		if m := p.next(); !isHeartbeat(m) {
			t.Errorf("%s arrived on the forgotten inbox: %v", m.Subject, m.Header)
		}
	}
	if !p.sub.IsValid() {
		t.Error("the client knows of it")
	}
	if n := len(b.proxy.Firings()); n != 1 {
		t.Errorf("%d firings, want one", n)
	}
	again := b.puller(nc, b.consumer(b.stream(nc, 0)))
	again.pull(waitingPull)
	if s, _ := sequences(t, again.next()); s != 1 {
		t.Errorf("a new inbox gets sequence %d, want 1", s)
	}
}

// A push consumer's inbox is known by what JetStream delivers to it; a subscription of another kind is left alone.
func TestDropSubscriptionOfAPush(t *testing.T) {
	b := newBed(t)
	nc := b.dial(true)
	js := b.stream(b.direct(), 1)
	inbox, err := nc.SubscribeSync("deliver.here")
	if err != nil {
		t.Fatal(err)
	}
	other, err := nc.SubscribeSync("news")
	if err != nil {
		t.Fatal(err)
	}
	_, err = js.CreatePushConsumer(b.ctx, "ORDERS", jetstream.ConsumerConfig{DeliverSubject: "deliver.here", AckPolicy: jetstream.AckNonePolicy})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := inbox.NextMsg(limit); err != nil {
		t.Fatal(err)
	}
	b.apply("drop-subscription")
	if f := b.log.waitFirings(t, 1)[0]; f.Frame.Subject != "deliver.here" {
		t.Errorf("fired on %+v", f.Frame)
	}
	b.usablePing(nc)
	b.publish(js, 1)
	if err := js.Conn().Publish("news", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := other.NextMsg(limit); err != nil {
		t.Errorf("another subscription: %v", err)
	}
	if n, _, _ := inbox.Pending(); n != 0 || len(b.proxy.Firings()) != 1 {
		t.Errorf("%d arrived on the forgotten inbox, %d firings", n, len(b.proxy.Firings()))
	}
}

func TestDropSubscriptionBySubject(t *testing.T) {
	b := newBed(t)
	nc := b.dial(false)
	var got []*nats.Subscription
	for _, subject := range []string{"alarms.eu", "alarms.us", "orders"} {
		sub, err := nc.SubscribeSync(subject)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, sub)
	}
	b.usable(nc)
	b.apply("drop-subscription(subject=alarms.*)")
	b.log.waitFirings(t, 2)
	b.usable(nc)
	other := b.direct()
	for _, subject := range []string{"alarms.eu", "alarms.us", "orders"} {
		if err := other.Publish(subject, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := got[2].NextMsg(limit); err != nil {
		t.Fatal(err)
	}
	for _, sub := range got[:2] {
		if n, _, _ := sub.Pending(); n != 0 {
			t.Errorf("%s got a message", sub.Subject)
		}
	}
}

// request sends an API request that is to stay unanswered, and gives it up once the fault has fired n times.
func (b *bed) unanswered(nc *nats.Conn, subject, body string, n int) {
	b.t.Helper()
	ctx, giveUp := context.WithCancel(b.ctx)
	defer giveUp()
	result := make(chan error, 1)
	go func() {
		_, err := nc.RequestWithContext(ctx, subject, []byte(body))
		result <- err
	}()
	b.log.waitFirings(b.t, n)
	b.usablePing(nc) // whatever follows an answer has arrived
	giveUp()
	if err := <-result; !errors.Is(err, context.Canceled) {
		b.t.Fatalf("%s: %v, want no answer", subject, err)
	}
}

func (b *bed) usablePing(nc *nats.Conn) {
	b.t.Helper()
	if err := nc.FlushTimeout(limit); err != nil {
		b.t.Fatal(err)
	}
}

func TestAPITimeout(t *testing.T) {
	b := newBed(t)
	nc := b.dial(true)
	js := b.stream(nc, 2)
	p := b.puller(nc, b.consumer(js))
	undo := b.apply("api-timeout(subject=CONSUMER.>)")
	p.pull(`{"batch":2,"no_wait":true}`)
	for want := uint64(1); want <= 2; want++ {
		if s, _ := sequences(t, p.next()); s != want {
			t.Fatalf("pulls are not meant: got sequence %d, want %d", s, want)
		}
	}
	b.usable(nc) // INFO is not meant
	const create = "$JS.API.CONSUMER.CREATE.ORDERS.late"
	b.unanswered(nc, create, `{"stream_name":"ORDERS","config":{"name":"late","ack_policy":"none"}}`, 1)
	if f := b.proxy.Firings()[0].Frame; f.Subject != create || f.Verb != proxy.PUB || f.Direction != proxy.Up || f.Fate != proxy.Dropped {
		t.Errorf("fired on %+v", f)
	}
	undo()
	if _, err := js.Consumer(b.ctx, "ORDERS", "late"); !errors.Is(err, jetstream.ErrConsumerNotFound) {
		t.Errorf("the swallowed request was done: %v", err)
	}
	undo = b.apply("api-timeout(pulls=true,subject=CONSUMER.MSG.NEXT.>)")
	p.pull(`{"batch":1,"no_wait":true}`)
	b.log.waitFirings(t, 2)
	undo()
	p.pull(`{"batch":1,"no_wait":true}`)
	if m := p.next(); m.Header.Get("Status") == "" || !strings.HasSuffix(m.Subject, ".3") {
		t.Errorf("got %s %v, want the status of the third pull", m.Subject, m.Header)
	}
}

func TestLoseReply(t *testing.T) {
	b := newBed(t)
	nc := b.dial(true)
	js := b.stream(nc, 1)
	p := b.puller(nc, b.consumer(js))
	undo := b.apply("lose-reply(subject=CONSUMER.CREATE.>)")
	b.usable(nc)
	p.pull(`{"batch":1}`)
	if s, _ := sequences(t, p.next()); s != 1 {
		t.Fatalf("pulls are not meant: got sequence %d", s)
	}
	const create = "$JS.API.CONSUMER.CREATE.ORDERS.done"
	b.unanswered(nc, create, `{"stream_name":"ORDERS","config":{"name":"done","ack_policy":"none"}}`, 1)
	f := b.proxy.Firings()[0].Frame
	if f.Request != create || f.Verb != proxy.MSG || f.Direction != proxy.Down || !strings.HasPrefix(f.Subject, "_INBOX.") {
		t.Errorf("fired on %+v", f)
	}
	if _, err := js.Consumer(b.ctx, "ORDERS", "done"); err != nil {
		t.Errorf("the request was not done: %v", err)
	}
	undo()
	b.consumer(js)
	if n := len(b.proxy.Firings()); n != 1 {
		t.Errorf("%d firings, want 1", n)
	}
}

func TestDropMessage(t *testing.T) {
	for _, c := range []struct {
		fault   string
		arrives []uint64
	}{
		{"drop-message", []uint64{2, 3, 4, 5, 6}},
		{"drop-message(nth=3)", []uint64{1, 2, 4, 5, 6}},
		{"drop-message(every=2,limit=2)", []uint64{1, 3, 5, 6}},
		{"drop-message(seq=5)", []uint64{1, 2, 3, 4, 6}},
		{"drop-message(last=2s)", []uint64{1, 2, 3, 4, 5}},
		{"drop-message(subject=other)", []uint64{1, 2, 3, 4, 5, 6}},
		{"drop-message(conn=some*)", []uint64{1, 2, 3, 4, 5, 6}},
	} {
		t.Run(c.fault, func(t *testing.T) {
			b := newBed(t)
			nc := b.dial(true, nats.Name("reader"))
			p := b.puller(nc, b.consumer(b.stream(nc, 6)))
			undo := b.apply(c.fault)
			p.pull(waitingPull)
			var got []uint64
			m := p.next()
			for ; !isHeartbeat(m); m = p.next() {
				s, _ := sequences(t, m)
				got = append(got, s)
			}
			if !slices.Equal(got, c.arrives) {
				t.Errorf("arrived %v, want %v", got, c.arrives)
			}
			if last := m.Header.Get("Nats-Last-Consumer"); last != "6" {
				t.Errorf("the heartbeat says Last-Consumer %s, want 6", last)
			}
			firings := b.log.waitFirings(t, 6-len(c.arrives))
			for _, f := range firings {
				if f.Frame.StreamSequence == 0 || slices.Contains(got, f.Frame.StreamSequence) || f.Frame.Stream != "ORDERS" {
					t.Errorf("fired on %+v", f.Frame)
				}
			}
			undo()
			b.publish(b.stream(nc, 0), 1)
			for m = p.next(); isHeartbeat(m); m = p.next() {
			}
			if s, cs := sequences(t, m); s != 7 || cs != 7 {
				t.Errorf("after the end: stream sequence %d, consumer sequence %d", s, cs)
			}
		})
	}
}

// reconnecting connects a client that tells when it has lost and found its connection.
func (b *bed) reconnecting(memory bool) (nc *nats.Conn, lost, found chan struct{}) {
	lost, found = make(chan struct{}, 8), make(chan struct{}, 8)
	nc = b.dial(memory, nats.Name("reader"), nats.MaxReconnects(-1), nats.ReconnectWait(0), nats.ReconnectJitter(0, 0),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { lost <- struct{}{} }),
		nats.ReconnectHandler(func(*nats.Conn) { found <- struct{}{} }))
	return nc, lost, found
}

func TestCut(t *testing.T) {
	for _, memory := range []bool{true, false} {
		t.Run(fmt.Sprintf("memory=%v", memory), func(t *testing.T) {
			b := newBed(t)
			nc, lost, found := b.reconnecting(memory)
			other := b.dial(memory, nats.Name("other"), nats.NoReconnect())
			b.apply("cut(conn=reader)")
			<-lost
			<-found
			b.usable(nc)
			b.usable(other)
			if f := b.proxy.Firings(); len(f) != 1 || f[0].Frame.Conn != 1 || f[0].Frame.Client != "reader" {
				t.Errorf("firings %+v", f)
			}
			if c := b.proxy.Connections(); len(c) != 2 || c[0].Name != "other" || c[1].Name != "reader" || c[1].ID != 3 {
				t.Errorf("connections %+v", c)
			}
		})
	}
}

// The server is not told: it goes on sending to the connection the client has lost.
func TestHalfOpenServerSendsIntoTheVoid(t *testing.T) {
	b := newBed(t)
	nc, lost, found := b.reconnecting(false)
	js := b.stream(b.direct(), 0)
	p := b.puller(nc, b.consumer(b.stream(nc, 0)))
	p.pull(waitingPull)
	p.next() // a heartbeat: the pull waits
	undo := b.apply("half-open")
	<-lost
	<-found
	b.usable(nc)
	b.publish(js, 1)
	f := b.log.waitFrame(t, "the message to the lost connection", func(f proxy.Frame) bool {
		return f.Conn == 1 && f.StreamSequence == 1
	})
	if f.Fate != proxy.Dropped {
		t.Errorf("the message was %s", f.Fate)
	}
	undo()
	b.usable(nc)
	if f := b.proxy.Firings(); len(f) != 1 || f[0].Frame.Client != "reader" {
		t.Errorf("firings %+v", f)
	}
}

func TestBlackHoleUnderAClient(t *testing.T) {
	for _, c := range []struct {
		fault             string
		arrives, answered bool // the request at the server, what the server sends at the client
	}{{"black-hole", false, false}, {"black-hole(direction=up)", false, true}, {"black-hole(direction=down)", true, false}} {
		for _, memory := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s memory=%v", c.fault, memory), func(t *testing.T) {
				b := newBed(t)
				other := b.direct()
				server, err := other.SubscribeSync("question")
				if err != nil {
					t.Fatal(err)
				}
				b.usablePing(other)
				nc := b.dial(memory)
				inbox, err := nc.SubscribeSync("answer")
				if err != nil {
					t.Fatal(err)
				}
				b.usablePing(nc)
				undo := b.apply(c.fault)
				if err := nc.PublishRequest("question", "answer", nil); err != nil {
					t.Fatal(err)
				}
				if c.arrives {
					if _, err := server.NextMsg(limit); err != nil {
						t.Fatal(err)
					}
				}
				if err := other.Publish("answer", []byte("late")); err != nil {
					t.Fatal(err)
				}
				b.usablePing(other)
				if c.answered {
					if _, err := inbox.NextMsg(limit); err != nil {
						t.Fatal(err)
					}
				}
				if n, _, _ := server.Pending(); n != 0 {
					t.Error("a request came through the hole")
				}
				if n, _, _ := inbox.Pending(); n != 0 {
					t.Error("an answer came through the hole")
				}
				undo()
				if !c.arrives {
					if _, err := server.NextMsg(limit); err != nil {
						t.Fatal(err)
					}
				}
				if !c.answered {
					if m, err := inbox.NextMsg(limit); err != nil || string(m.Data) != "late" {
						t.Fatalf("after the end: %v, %v", m, err)
					}
				}
				b.usable(nc)
			})
		}
	}
}

// A Tap may apply and undo faults: how a plan acts at the nth heartbeat.
func TestApplyFromATap(t *testing.T) {
	b := newBed(t)
	applied := make(chan error, 1)
	var p *proxy.Proxy
	beats := 0
	log := newWire()
	options := log.options()
	options.Tap = func(f proxy.Frame) {
		if f.Status == 100 {
			if beats++; beats == 2 {
				_, err := p.Apply(proxy.Fault{Name: "drop-subscription"})
				applied <- err
			}
		}
	}
	p = newProxy(t, b.server.URL(), options)
	b.proxy = p
	nc := b.dial(true)
	reader := b.puller(nc, b.consumer(b.stream(nc, 0)))
	reader.pull(waitingPull)
	if err := <-applied; err != nil {
		t.Fatal(err)
	}
	if f := log.waitFirings(t, 1)[0]; f.Frame.Subject != reader.inbox+".*" {
		t.Errorf("fired on %+v", f.Frame)
	}
	b.usable(nc)
}
