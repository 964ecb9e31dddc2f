package reader_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
)

// benchMessages is the size of the stream the readers are measured on.
const benchMessages = 300_000

// BenchmarkRead reads a filled stream with this reader and with nats.go's own, on
// the same server: msg/s, CPU and allocations per message, of the client alone.
// Compare ratios within one run: absolute figures are the machine's.
func BenchmarkRead(b *testing.B) {
	for _, size := range []struct {
		name  string
		bytes int
		count int
	}{{"128B", 128, benchMessages}, {"4KB", 4096, benchMessages / 8}} {
		b.Run(size.name, func(b *testing.B) {
			t := withStream(b)
			t.fill(size.count, size.bytes)
			js := t.admin
			for _, p := range peers(t, js, size.count) {
				b.Run(p.name, func(b *testing.B) {
					for range b.N {
						measure(b, size.count, size.bytes, p.read)
					}
				})
			}
		})
	}
}

func (b *bed) fill(count, size int) {
	b.Helper()
	body := make([]byte, size)
	for i := range count {
		if _, err := b.admin.PublishAsync("orders.new", body); err != nil {
			b.Fatal(err)
		}
		if i%2000 == 1999 {
			<-b.admin.PublishAsyncComplete()
		}
	}
	<-b.admin.PublishAsyncComplete()
}

type peer struct {
	name string
	read func(*testing.B)
}

func peers(t *bed, js jetstream.JetStream, count int) []peer {
	own := func(cfg reader.Config, read func(*testing.B, *reader.Reader)) func(*testing.B) {
		return func(b *testing.B) {
			cfg.Stream = t.stream
			r, err := reader.Open(t.ctx, js, cfg)
			t.must(err)
			read(b, r)
			t.must(r.Close(t.ctx))
		}
	}
	next := func(b *testing.B, r *reader.Reader) {
		for range count {
			if _, err := r.Next(t.ctx); err != nil {
				b.Fatal(err)
			}
		}
	}
	batch := func(b *testing.B, r *reader.Reader) {
		dst := make([]reader.Message, 256)
		for n := 0; n < count; {
			k, err := r.NextBatch(t.ctx, dst)
			if err != nil {
				b.Fatal(err)
			}
			n += k
		}
	}
	return []peer{
		{"Next", own(reader.Config{}, next)},
		{"NextBatch", own(reader.Config{}, batch)},
		{"Consume", consume(t, js, count)},
		{"Consume-4096", consume(t, js, count, jetstream.PullMaxMessages(4096))},
		{"OrderedMessages", orderedMessages(t, js, count)},
	}
}

func consume(t *bed, js jetstream.JetStream, count int, opts ...jetstream.PullConsumeOpt) func(*testing.B) {
	return func(b *testing.B) {
		c, err := js.CreateConsumer(t.ctx, t.stream, jetstream.ConsumerConfig{AckPolicy: jetstream.AckNonePolicy})
		t.must(err)
		done, n := make(chan struct{}), 0
		cc, err := c.Consume(func(jetstream.Msg) {
			if n++; n == count {
				close(done)
			}
		}, opts...)
		t.must(err)
		<-done
		cc.Stop()
		<-cc.Closed()
	}
}

func orderedMessages(t *bed, js jetstream.JetStream, count int) func(*testing.B) {
	return func(b *testing.B) {
		c, err := js.OrderedConsumer(t.ctx, t.stream, jetstream.OrderedConsumerConfig{})
		t.must(err)
		it, err := c.Messages()
		t.must(err)
		for range count {
			if _, err := it.Next(); err != nil {
				b.Fatal(err)
			}
		}
		it.Stop()
	}
}

// measure reports what one whole read cost the client.
func measure(b *testing.B, count, size int, read func(*testing.B)) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	cpu, began := cpuTime(), time.Now()
	read(b)
	took, used := time.Since(began), cpuTime()-cpu
	runtime.ReadMemStats(&after)
	per := func(v float64) float64 { return v / float64(count) }
	b.ReportMetric(float64(count)/took.Seconds(), "msg/s")
	b.ReportMetric(float64(count*size)/took.Seconds()/1e6, "MB/s")
	b.ReportMetric(per(float64(took.Nanoseconds())), "ns/msg")
	b.ReportMetric(per(float64(used.Nanoseconds())), "cpu-ns/msg")
	b.ReportMetric(per(float64(after.Mallocs-before.Mallocs)), "allocs/msg")
	b.ReportMetric(per(float64(after.TotalAlloc-before.TotalAlloc)), "B/msg")
}
