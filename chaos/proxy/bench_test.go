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

// BenchmarkPullReader reads a filled stream directly, through the Dialer and through a port, in turn, and
// prints the medians of the rates through the proxy as parts of the direct one.
func BenchmarkPullReader(b *testing.B) {
	for _, c := range []struct{ size, messages int }{{128, 300_000}, {4096, 60_000}} {
		b.Run(fmt.Sprintf("%dB", c.size), func(b *testing.B) {
			x := benchBed(b, c.messages, c.size)
			direct, memory, port := x.direct(), x.dial(true), x.dial(false)
			read(b, x, direct, c.messages)
			var memoryRatio, portRatio []float64
			var rate []float64
			for b.Loop() {
				d := read(b, x, direct, c.messages)
				memoryRatio = append(memoryRatio, float64(d)/float64(read(b, x, memory, c.messages)))
				portRatio = append(portRatio, float64(d)/float64(read(b, x, port, c.messages)))
				rate = append(rate, float64(c.messages)/d.Seconds())
			}
			b.ReportMetric(median(rate), "direct-msg/s")
			b.ReportMetric(median(memoryRatio), "dialer/direct")
			b.ReportMetric(median(portRatio), "port/direct")
		})
	}
}

// BenchmarkRoundTrip prints the median time of a PING through the proxy beside the direct one.
func BenchmarkRoundTrip(b *testing.B) {
	x := benchBed(b, 1, 128)
	conns := []*nats.Conn{x.direct(), x.dial(true), x.dial(false)}
	times := make([][]time.Duration, len(conns))
	for b.Loop() {
		for i, nc := range conns {
			start := time.Now()
			if err := nc.FlushTimeout(limit); err != nil {
				b.Fatal(err)
			}
			times[i] = append(times[i], time.Since(start))
		}
	}
	direct := median(times[0])
	b.ReportMetric(float64(direct.Microseconds()), "direct-us")
	b.ReportMetric(float64((median(times[1]) - direct).Microseconds()), "dialer-added-us")
	b.ReportMetric(float64((median(times[2]) - direct).Microseconds()), "port-added-us")
}
