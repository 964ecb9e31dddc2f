package proxy_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

func TestAPIErrorUnderAClient(t *testing.T) {
	b := newBed(t)
	nc := b.dial(true)
	js := b.stream(nc, 1)
	p := b.puller(nc, b.consumer(js))
	undo := b.apply("api-error(err_code=10026,subject=CONSUMER.CREATE.>,nth=2,limit=1)")
	b.usable(nc)
	b.consumer(js)
	_, err := js.CreateConsumer(b.ctx, "ORDERS", jetstream.ConsumerConfig{Name: "second", AckPolicy: jetstream.AckNonePolicy})
	var api *jetstream.APIError
	if !errors.As(err, &api) || api.ErrorCode != 10026 || api.Code != 400 || api.Description != "maximum consumers limit reached" {
		t.Fatalf("the second create: %v", err)
	}
	b.consumer(js)
	p.pull(`{"batch":1,"no_wait":true}`)
	if s, _ := sequences(t, p.next()); s != 1 {
		t.Errorf("pulls are not meant: got sequence %d", s)
	}
	undo()
	if _, err := js.Consumer(b.ctx, "ORDERS", "second"); !errors.Is(err, jetstream.ErrConsumerNotFound) {
		t.Errorf("the refused request was done: %v", err)
	}
	firings := b.proxy.Firings()
	if len(firings) != 1 || firings[0].Frame.Subject != "$JS.API.CONSUMER.CREATE.ORDERS.second" || firings[0].Frame.Fate != proxy.Dropped {
		t.Errorf("fired %+v", firings)
	}
	f := b.log.waitFrame(t, "the forged answer", func(f proxy.Frame) bool { return f.Fate == proxy.Injected })
	if f.Verb != proxy.MSG || f.Request != "$JS.API.CONSUMER.CREATE.ORDERS.second" {
		t.Errorf("the answer is %+v", f)
	}
}

// A subscription that a forged answer completes is ended at the server too.
func TestForgedAnswerCountsForItsSubscription(t *testing.T) {
	b := newBed(t)
	c := b.raw()
	b.apply("api-error")
	c.send("SUB once 1\r\nUNSUB 1 1\r\nPUB $JS.API.INFO once 0\r\n\r\n")
	c.await("MSG once 1 ", "10008")
	b.log.waitFrame(t, "the UNSUB", func(f proxy.Frame) bool { return f.Verb == proxy.UNSUB && f.Fate == proxy.Injected && f.SID == "1" })
	b.proxy.Reset()
	c.send("PUB once 1\r\nx\r\n")
	if frames := c.step(); len(frames) != 0 {
		t.Errorf("the server still knows it: %q", frames)
	}
	for _, s := range b.proxy.Connections()[0].Subscriptions {
		t.Errorf("the proxy still knows %+v", s)
	}
}

func TestDelayAPI(t *testing.T) {
	for _, c := range []struct {
		fault string
		way   proxy.Direction
		done  bool // the server does what is asked before the delay is over
	}{{"delay-api(delay=1h,subject=CONSUMER.CREATE.>)", proxy.Down, true}, {"delay-api(delay=1h,what=request,subject=CONSUMER.CREATE.>)", proxy.Up, false}} {
		t.Run(c.fault, func(t *testing.T) {
			b := newBed(t)
			nc := b.dial(true)
			js := b.stream(nc, 0)
			direct := b.stream(b.direct(), 0)
			undo := b.apply(c.fault)
			made := make(chan error, 1)
			go func() {
				_, err := js.CreateConsumer(b.ctx, "ORDERS", jetstream.ConsumerConfig{Name: "late", AckPolicy: jetstream.AckNonePolicy})
				made <- err
			}()
			f := b.log.waitFirings(t, 1)[0].Frame
			if f.Direction != c.way || f.Fate != proxy.Held {
				t.Errorf("fired on %+v", f)
			}
			b.usable(nc) // other requests overtake it
			_, err := direct.Consumer(b.ctx, "ORDERS", "late")
			if c.done != (err == nil) {
				t.Errorf("the consumer while the %s is held: %v", c.way, err)
			}
			select {
			case err := <-made:
				t.Fatalf("it was answered: %v", err)
			default:
			}
			undo()
			if err := <-made; err != nil {
				t.Fatal(err)
			}
			b.consumer(js)
			if n := len(b.proxy.Firings()); n != 1 {
				t.Errorf("%d firings", n)
			}
		})
	}
}

func TestDelayAPIEnds(t *testing.T) {
	b := newBed(t)
	nc := b.dial(true)
	js := b.stream(nc, 1)
	b.apply("delay-api(delay=20ms)")
	b.consumer(js)
	p := b.puller(nc, b.consumer(js))
	b.apply("delay-api(delay=20ms,what=request,pulls=true)")
	p.pull(`{"batch":1,"no_wait":true}`)
	if s, _ := sequences(t, p.next()); s != 1 {
		t.Errorf("got sequence %d", s)
	}
}

func TestPermissionDeniedUnderAClient(t *testing.T) {
	b := newBed(t)
	errs := make(chan error, 8)
	nc := b.dial(true, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { errs <- err }))
	js := b.stream(nc, 1)
	p := b.puller(nc, b.consumer(js))
	undo := b.apply("permission-denied(subject=$JS.API.CONSUMER.MSG.NEXT.>)")
	p.pull(`{"batch":1,"no_wait":true}`)
	if err := <-errs; !errors.Is(err, nats.ErrPermissionViolation) || !strings.Contains(err.Error(), p.subject) {
		t.Errorf("the client is told %v", err)
	}
	b.usable(nc)
	undo()
	p.pull(`{"batch":1,"no_wait":true}`)
	if m := p.next(); m.Reply == "" {
		t.Errorf("got %s %v, want the message", m.Subject, m.Header)
	}
	if f := b.proxy.Firings(); len(f) != 1 || f[0].Frame.Verb != proxy.PUB || f[0].Frame.Subject != p.subject {
		t.Errorf("fired %+v", f)
	}
}
