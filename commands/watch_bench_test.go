package commands

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/jsm.go/natscontext"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/reader"
)

// benchMessages is how many stored messages one run reads, as fast as it can.
const benchMessages = 500_000

// What the screen costs a reader at full speed: runs of watch over the same stored messages, with lines and
// with the screen by turns, and the median of their ratios. Go's own b.N means nothing here.
func BenchmarkWatchBesideItsScreen(b *testing.B) {
	server, err := lab.Start(b.Context(), lab.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() { // the rounds are below
	}
	b.Cleanup(func() { server.Close() }) //nolint:errcheck // a benchmark's server
	fill(b, server.URL(), "ONE", 1)
	fill(b, server.URL(), "FULL", benchMessages)
	var ratios []float64
	var speeds [2]float64
	for range 5 {
		plain, screen := speed(b, server.URL(), false), speed(b, server.URL(), true)
		ratios = append(ratios, screen/plain)
		speeds[0], speeds[1] = max(speeds[0], plain), max(speeds[1], screen)
	}
	slices.Sort(ratios)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(speeds[0], "lines-msg/s")
	b.ReportMetric(speeds[1], "screen-msg/s")
	b.ReportMetric(ratios[len(ratios)/2], "ratio")
}

func fill(b *testing.B, url, stream string, messages int) {
	nc, err := nats.Connect(url)
	if err != nil {
		b.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := js.CreateStream(b.Context(), jetstream.StreamConfig{Name: stream, Subjects: []string{stream}, Storage: jetstream.MemoryStorage}); err != nil {
		b.Fatal(err)
	}
	payload := bytes.Repeat([]byte("x"), 128)
	for range messages {
		if _, err := js.PublishAsync(stream, payload); err != nil {
			b.Fatal(err)
		}
	}
	select {
	case <-js.PublishAsyncComplete():
	case <-time.After(time.Minute):
		b.Fatal("the stream is not filled")
	}
}

// speed is how many messages a second a run of watch reads, its begin and end left out.
func speed(b *testing.B, url string, screen bool) float64 {
	around := runOf(b, url, "ONE", screen)
	return benchMessages / (runOf(b, url, "FULL", screen) - around).Seconds()
}

// runOf is how long a run of watch over a whole stream takes.
func runOf(b *testing.B, url, stream string, screen bool) time.Duration {
	where, err := natscontext.New("", false, natscontext.WithServerURL(url))
	if err != nil {
		b.Fatal(err)
	}
	keys, _ := io.Pipe() // nobody presses any
	defer keys.Close()   //nolint:errcheck // it only ends the screen
	p := &program{stdin: keys, stdout: io.Discard, stderr: io.Discard}
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	plan := watchPlan{screen: screen, perStream: 1, streams: []string{stream}, look: lookPlan{theme: "safe", colors: 2}, crashes: &crashes{stop: stop}}
	plan.config = reader.Config{Stream: stream, StopAtEnd: true}
	began := time.Now()
	if err := p.watchRun(ctx, stop, b.Context(), settings{context: where, timeout: closeTimeout}, plan); fmt.Sprint(err) != "exit code 0" {
		b.Fatalf("screen %t: %v", screen, err)
	}
	return time.Since(began)
}
