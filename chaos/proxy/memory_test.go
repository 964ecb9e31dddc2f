package proxy_test

import (
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

const largest = 64 << 20 // the largest payload a server can be made to take

// largeBed is a server that takes the largest payloads and a subscriber behind a proxy that nothing listens to.
func largeBed(t testing.TB) (publisher, subscriber *raw) {
	t.Helper()
	b := newBedWith(t, lab.Options{NoJetStream: true, Config: fmt.Sprintf(`max_payload: %d, max_pending: %d, write_deadline: "60s"`, largest, 8*largest)})
	b.proxy = newProxy(t, b.server.URL(), proxy.Options{})
	publisher = rawVia(t, plainConnect)(net.Dial("tcp", b.proxy.Upstream()))
	subscriber = rawVia(t, plainConnect)(net.Dial("tcp", strings.TrimPrefix(b.proxy.URL(), "nats://")))
	subscriber.send("SUB large 1\r\n")
	subscriber.step()
	return publisher, subscriber
}

// passLarge sends one message of the largest size and reads it, neither of them whole in memory.
func passLarge(t testing.TB, publisher, subscriber *raw) {
	t.Helper()
	part := make([]byte, 64<<10)
	sent := make(chan error, 1)
	go func() {
		_, err := fmt.Fprintf(publisher.conn, "PUB large %d\r\n", largest)
		for n := 0; n < largest && err == nil; n += len(part) {
			_, err = publisher.conn.Write(part)
		}
		if err == nil {
			_, err = io.WriteString(publisher.conn, "\r\n")
		}
		sent <- err
	}()
	line, err := subscriber.r.ReadString('\n')
	for line == "PING\r\n" && err == nil {
		subscriber.send("PONG\r\n")
		line, err = subscriber.r.ReadString('\n')
	}
	if err != nil || line != fmt.Sprintf("MSG large 1 %d\r\n", largest) {
		t.Fatalf("%q, %v", line, err)
	}
	if _, err := io.CopyN(io.Discard, subscriber.r, largest+2); err != nil {
		t.Fatal(err)
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
}

// The largest payload goes through in bounded memory: what is allocated on its way is a small part of it.
func TestLargestPayloadInBoundedMemory(t *testing.T) {
	publisher, subscriber := largeBed(t)
	passLarge(t, publisher, subscriber)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	passLarge(t, publisher, subscriber)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
		t.Errorf("%d bytes were allocated for a payload of %d", n, largest)
	}
}

// BenchmarkLargestPayload prints what is allocated while payloads of 64 MiB pass.
func BenchmarkLargestPayload(b *testing.B) {
	publisher, subscriber := largeBed(b)
	passLarge(b, publisher, subscriber)
	b.SetBytes(largest)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for b.Loop() {
		passLarge(b, publisher, subscriber)
	}
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(b.N)/1024, "KiB-allocated/op")
	b.ReportMetric(float64(after.HeapSys)/(1<<20), "MiB-heap-of-process")
}

// crowd opens n idle connections that know one subscription each, and returns what one costs this process.
func crowd(t testing.TB, b *bed, n int, dial func() (net.Conn, error)) (goroutines, bytes float64, end func()) {
	t.Helper()
	measure := func() (int, uint64) {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return runtime.NumGoroutine(), m.HeapAlloc + m.StackInuse
	}
	conns := make([]net.Conn, 0, n)
	line := make([]byte, 4096)
	g0, m0 := measure()
	for i := range n {
		conn, err := dial()
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
		conn.SetDeadline(time.Now().Add(limit))
		if _, err := fmt.Fprintf(conn, "CONNECT {\"verbose\":false,\"name\":\"one of many\"}\r\nSUB news.%d 1\r\nPING\r\n", i); err != nil {
			t.Fatal(err)
		}
		for got := ""; !strings.HasSuffix(got, "PONG\r\n"); {
			n, err := conn.Read(line)
			if err != nil {
				t.Fatal(err)
			}
			got += string(line[:n])
		}
	}
	g1, m1 := measure()
	return float64(g1-g0) / float64(n), (float64(m1) - float64(m0)) / float64(n), func() {
		for _, c := range conns {
			c.Close()
		}
	}
}

const many = 1000

// A thousand connections cost two goroutines and some ten KiB each, and leave nothing.
func TestThousandConnections(t *testing.T) {
	b := newBed(t)
	b.proxy = newProxy(t, b.server.URL(), proxy.Options{})
	goroutines, bytes, end := crowd(t, b, many, func() (net.Conn, error) {
		return net.Dial("tcp", strings.TrimPrefix(b.proxy.URL(), "nats://"))
	})
	if got := b.proxy.Traffic().Connections; got != many {
		t.Errorf("%d connections, want %d", got, many)
	}
	if goroutines > 2.01 || bytes > 64<<10 {
		t.Errorf("%.2f goroutines and %.0f bytes a connection", goroutines, bytes)
	}
	b.apply("cut")
	if n := len(b.proxy.Firings()); n != many {
		t.Errorf("%d firings, want %d", n, many)
	}
	end()
	b.proxy.Close()
	if got := b.proxy.Traffic().Connections; got != 0 {
		t.Errorf("%d connections are left", got)
	}
}

// BenchmarkThousandConnections prints what one of a thousand idle connections costs.
func BenchmarkThousandConnections(b *testing.B) {
	x := newBed(b)
	x.proxy = newProxy(b, x.server.URL(), proxy.Options{})
	for b.Loop() {
		_, own, end := crowd(b, x, many, func() (net.Conn, error) { return net.Dial("tcp", x.proxy.Upstream()) })
		end()
		goroutines, bytes, end := crowd(b, x, many, func() (net.Conn, error) {
			return net.Dial("tcp", strings.TrimPrefix(x.proxy.URL(), "nats://"))
		})
		end()
		for x.proxy.Traffic().Connections > 0 {
			runtime.Gosched()
		}
		b.ReportMetric(goroutines, "goroutines/conn")
		b.ReportMetric((bytes-own)/1024, "KiB/conn")
	}
}
