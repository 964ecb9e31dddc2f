package proxy_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// bothWays runs a test with a client in memory and one that came to the port.
func bothWays(t *testing.T, config string, test func(t *testing.T, b *bed, nc *nats.Conn)) {
	for _, memory := range []bool{true, false} {
		t.Run(fmt.Sprintf("memory=%v", memory), func(t *testing.T) {
			b := newBedWith(t, lab.Options{Config: config})
			test(t, b, b.dial(memory, nats.Name("client")))
		})
	}
}

func TestBurstAndRequest(t *testing.T) {
	bothWays(t, "", func(t *testing.T, b *bed, nc *nats.Conn) {
		const n = 1000
		sub, err := nc.SubscribeSync("burst")
		if err != nil {
			t.Fatal(err)
		}
		b.usablePing(nc)
		other := b.direct()
		for i := range n {
			m := nats.NewMsg("burst")
			m.Data = fmt.Append(nil, i)
			if i%2 == 0 {
				m.Header.Set("Odd", "no")
			}
			if err := other.PublishMsg(m); err != nil {
				t.Fatal(err)
			}
		}
		for i := range n {
			m, err := sub.NextMsg(limit)
			if err != nil || string(m.Data) != fmt.Sprint(i) || (m.Header.Get("Odd") == "no") != (i%2 == 0) {
				t.Fatalf("message %d is %v, %v", i, m, err)
			}
		}
		if _, err := nc.Subscribe("echo", func(m *nats.Msg) { m.Respond(m.Data) }); err != nil {
			t.Fatal(err)
		}
		b.usablePing(nc)
		for i := range 100 {
			m, err := nc.Request("echo", fmt.Append(nil, i), limit)
			if err != nil || string(m.Data) != fmt.Sprint(i) {
				t.Fatalf("request %d: %v, %v", i, m, err)
			}
		}
		if _, err := nc.Request("nobody", nil, limit); err != nats.ErrNoResponders {
			t.Errorf("no responders: %v", err)
		}
		traffic := b.proxy.Traffic()
		down := traffic.Down
		if got := down.Verbs[proxy.MSG].Frames + down.Verbs[proxy.HMSG].Frames; got < n+200 || down.Dropped.Frames != 0 {
			t.Errorf("traffic %+v", down)
		}
		if down.Verbs[proxy.HMSG].Frames < n/2 || traffic.Up.Verbs[proxy.PUB].Frames < 200 || traffic.Up.Verbs[proxy.CONNECT].Frames != 1 {
			t.Errorf("traffic %+v", traffic)
		}
	})
}

func TestLargePayload(t *testing.T) {
	bothWays(t, "max_payload: 8388608", func(t *testing.T, b *bed, nc *nats.Conn) {
		payload := make([]byte, 8<<20)
		r := rand.New(rand.NewPCG(1, 1))
		for i := range payload {
			payload[i] = byte(r.Uint32())
		}
		sub, err := nc.SubscribeSync("large")
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if err := nc.Publish("large", payload); err != nil {
				t.Fatal(err)
			}
			m, err := sub.NextMsg(limit)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(m.Data, payload) {
				t.Fatal("the payload has changed on the way")
			}
		}
	})
}

func TestConsume(t *testing.T) {
	bothWays(t, "", func(t *testing.T, b *bed, nc *nats.Conn) {
		const n = 500
		js := b.stream(nc, n)
		c, err := js.CreateConsumer(b.ctx, "ORDERS", jetstream.ConsumerConfig{AckPolicy: jetstream.AckExplicitPolicy})
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan uint64, n)
		consuming, err := c.Consume(func(m jetstream.Msg) {
			meta, err := m.Metadata()
			if err == nil {
				err = m.DoubleAck(b.ctx)
			}
			if err != nil {
				t.Error(err)
			}
			got <- meta.Sequence.Stream
		}, jetstream.PullMaxMessages(50))
		if err != nil {
			t.Fatal(err)
		}
		for want := uint64(1); want <= n; want++ {
			select {
			case s := <-got:
				if s != want {
					t.Fatalf("got %d, want %d", s, want)
				}
			case <-time.After(limit):
				t.Fatalf("message %d did not come", want)
			}
		}
		consuming.Stop()
		<-consuming.Closed()
		info, err := c.Info(b.ctx)
		if err != nil || info.NumAckPending != 0 || info.AckFloor.Stream != n {
			t.Errorf("%+v, %v", info, err)
		}
	})
}

func TestOrderedConsumer(t *testing.T) {
	bothWays(t, "", func(t *testing.T, b *bed, nc *nats.Conn) {
		const n = 500
		js := b.stream(nc, n)
		c, err := js.OrderedConsumer(b.ctx, "ORDERS", jetstream.OrderedConsumerConfig{})
		if err != nil {
			t.Fatal(err)
		}
		messages, err := c.Messages()
		if err != nil {
			t.Fatal(err)
		}
		for want := uint64(1); want <= n; want++ {
			m, err := messages.Next(jetstream.NextMaxWait(limit))
			if err != nil {
				t.Fatal(err)
			}
			if meta, err := m.Metadata(); err != nil || meta.Sequence.Stream != want {
				t.Fatalf("got %+v, want %d", meta, want)
			}
		}
		messages.Stop()
	})
}

func TestConnectionsAreKnown(t *testing.T) {
	bothWays(t, "", func(t *testing.T, b *bed, nc *nats.Conn) {
		js := b.stream(nc, 1)
		sub, err := nc.SubscribeSync("five")
		if err != nil {
			t.Fatal(err)
		}
		if err := sub.AutoUnsubscribe(5); err != nil {
			t.Fatal(err)
		}
		p := b.puller(nc, b.consumer(js))
		p.pull(`{"batch":1,"no_wait":true}`)
		p.next()
		p.pull(`{"batch":1,"no_wait":true}`)
		status := p.next().Header.Get("Status")
		find := func(subject string) *proxy.Subscription {
			for _, s := range b.proxy.Connections()[0].Subscriptions {
				if s.Subject == subject {
					return &s
				}
			}
			return nil
		}
		for i := range 5 {
			if s := find("five"); s == nil || s.Delivered != uint64(i) || s.Max != 5 || s.Pulls {
				t.Fatalf("after %d messages: %+v", i, s)
			}
			if err := nc.Publish("five", nil); err != nil {
				t.Fatal(err)
			}
			b.usablePing(nc)
		}
		if s := find("five"); s != nil {
			t.Errorf("it has ended and is still known: %+v", s)
		}
		if s := find(p.inbox + ".*"); s == nil || !s.Pulls || s.Delivered != 2 {
			t.Errorf("the inbox of pulls: %+v", s)
		}
		c := b.proxy.Connections()[0]
		if c.Name != "client" || c.Lang != "go" || c.Version != nats.Version || c.Pulls != 2 || c.APIRequests < 4 || fmt.Sprint(c.Statuses) != "map["+status+":1]" {
			t.Errorf("%+v", c)
		}
		f := b.log.waitFrame(t, "the create's answer", func(f proxy.Frame) bool { return f.Request != "" && f.Size > 0 })
		if f.Direction != proxy.Down || f.Verb != proxy.MSG || f.Fate != proxy.Passed {
			t.Errorf("%+v", f)
		}
	})
}
