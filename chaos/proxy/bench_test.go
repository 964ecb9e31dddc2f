package proxy_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// benchBed is a server with a stream of n messages of one size, and a proxy that nothing listens to.
func benchBed(b *testing.B, n, size int) *bed {
	b.Helper()
	x := newBed(b)
	x.proxy = newProxy(b, x.server.URL(), proxy.Options{})
	js := x.stream(x.direct(), 0)
	payload := make([]byte, size)
	for i := range n {
		if _, err := js.PublishAsync("ORDERS.new", payload); err != nil {
			b.Fatal(err)
		}
		if i%1000 == 999 {
			<-js.PublishAsyncComplete()
		}
	}
	select {
	case <-js.PublishAsyncComplete():
	case <-time.After(limit):
		b.Fatal("the stream was not filled")
	}
	return x
}

// read takes n messages with a pull reader of its own and returns how long that took.
func read(b *testing.B, x *bed, nc *nats.Conn, n int) time.Duration {
	b.Helper()
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(limit))
	if err != nil {
		b.Fatal(err)
	}
	c, err := js.CreateConsumer(x.ctx, "ORDERS", jetstream.ConsumerConfig{AckPolicy: jetstream.AckNonePolicy})
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	got := 0
	start := time.Now()
	consuming, err := c.Consume(func(jetstream.Msg) {
		if got++; got == n {
			close(done)
		}
	}, jetstream.PullMaxMessages(4096))
	if err != nil {
		b.Fatal(err)
	}
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		b.Fatal("the messages did not come")
	}
	took := time.Since(start)
	consuming.Stop()
	<-consuming.Closed()
	return took
}

func median[T int | float64 | time.Duration](v []T) T {
	slices.Sort(v)
	return v[len(v)/2]
}

// rounds is how often the ways are compared, in turn and each time another one first: one comparison says little
// on a machine that has other work. The figures are the medians of the rounds.
const rounds = 7

// inTurn runs a round of each way, beginning with another one each time.
func inTurn(ways int, run func(round, way int)) {
	for round := range rounds {
		for i := range ways {
			run(round, (round+i)%ways)
		}
	}
}

// ways are a connection past the proxy, one through its Dialer and one through its port.
func (x *bed) ways() []*nats.Conn { return []*nats.Conn{x.direct(), x.dial(true), x.dial(false)} }

// BenchmarkPullReader reads a filled stream directly, through the Dialer and through a port, and prints the rates
// through the proxy as parts of the direct one.
func BenchmarkPullReader(b *testing.B) {
	for _, c := range []struct{ size, messages int }{{128, 300_000}, {4096, 60_000}} {
		b.Run(fmt.Sprintf("%dB", c.size), func(b *testing.B) {
			x := benchBed(b, c.messages, c.size)
			conns := x.ways()
			for _, nc := range conns {
				read(b, x, nc, c.messages)
			}
			var rate, memoryRatio, portRatio []float64
			for b.Loop() {
				took := make([][3]time.Duration, rounds)
				inTurn(len(conns), func(round, way int) { took[round][way] = read(b, x, conns[way], c.messages) })
				for _, t := range took {
					rate = append(rate, float64(c.messages)/t[0].Seconds())
					memoryRatio = append(memoryRatio, float64(t[0])/float64(t[1]))
					portRatio = append(portRatio, float64(t[0])/float64(t[2]))
				}
			}
			b.ReportMetric(median(rate), "direct-msg/s")
			b.ReportMetric(median(memoryRatio), "dialer/direct")
			b.ReportMetric(median(portRatio), "port/direct")
		})
	}
}

// echo sends messages to itself at 1,000 a second, each when the one before is back, and returns how long each
// took, sorted.
func echo(b *testing.B, nc *nats.Conn, n int) []time.Duration {
	b.Helper()
	back := make(chan struct{}, 1)
	subject := nats.NewInbox()
	sub, err := nc.Subscribe(subject, func(*nats.Msg) { back <- struct{}{} })
	if err != nil {
		b.Fatal(err)
	}
	defer sub.Unsubscribe()
	payload := make([]byte, 128)
	pace := time.NewTicker(time.Millisecond)
	defer pace.Stop()
	times := make([]time.Duration, 0, n)
	for range n {
		<-pace.C
		start := time.Now()
		if err := nc.Publish(subject, payload); err != nil {
			b.Fatal(err)
		}
		select {
		case <-back:
			times = append(times, time.Since(start))
		case <-time.After(limit):
			b.Fatal("a message did not come back")
		}
	}
	slices.Sort(times)
	return times
}

// BenchmarkRoundTrip prints what the proxy adds to the time of a message to the server and back, at 1,000 a second.
func BenchmarkRoundTrip(b *testing.B) {
	const messages = 1000
	x := benchBed(b, 1, 128)
	conns := x.ways()
	for _, nc := range conns {
		echo(b, nc, messages/10)
	}
	names := []string{"direct", "dialer", "port"}
	added := make(map[string][]float64)
	for b.Loop() {
		took := make([][3][]time.Duration, rounds)
		inTurn(len(conns), func(round, way int) { took[round][way] = echo(b, conns[way], messages) })
		for _, t := range took {
			for _, p := range []int{50, 99} {
				at := messages*p/100 - 1
				for way, name := range names {
					figure, us := fmt.Sprintf("%s-added-p%d-us", name, p), t[way][at]-t[0][at]
					if way == 0 {
						figure, us = fmt.Sprintf("%s-p%d-us", name, p), t[0][at]
					}
					added[figure] = append(added[figure], float64(us.Nanoseconds())/1000)
				}
			}
		}
	}
	for figure, v := range added {
		b.ReportMetric(median(v), figure)
	}
}
