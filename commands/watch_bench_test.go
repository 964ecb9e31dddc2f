package commands

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
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

// What is published a second while a reader is watched, and for how long.
const (
	pacedRate = 50_000
	pacedTime = 3 * time.Second
)

// What the screen costs a reader of 50,000 messages a second: runs of watch beside a publisher, with lines and with the
// screen by turns. A rate is what the reader had handed out when the publisher ended; of the ratios it is the median.
func BenchmarkWatchAndItsScreenAt50k(b *testing.B) {
	server, err := lab.Start(b.Context(), lab.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() { // the rounds are below
	}
	b.Cleanup(func() { server.Close() }) //nolint:errcheck // a benchmark's server
	var published, lines, screens, ratios []float64
	for round := range 3 {
		var rates [2]float64
		for i := range 2 {
			way := (round + i) % 2 // who goes first changes
			var of float64
			rates[way], of = paced(b, server.URL(), fmt.Sprintf("R%d-%d", round, way), way == 1)
			published = append(published, of)
		}
		lines, screens, ratios = append(lines, rates[0]), append(screens, rates[1]), append(ratios, rates[1]/rates[0])
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(published), "published-msg/s")
	b.ReportMetric(median(lines), "lines-msg/s")
	b.ReportMetric(median(screens), "screen-msg/s")
	b.ReportMetric(median(ratios), "ratio")
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// deliveredOf finds the figure in the last line of a run.
var deliveredOf = regexp.MustCompile(`delivered=(\d+)`)

// paced is how many messages a second a run of watch reads while they are published, and how many were.
func paced(b *testing.B, url, stream string, screen bool) (read, published float64) {
	nc, err := nats.Connect(url)
	if err != nil {
		b.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		b.Fatal(err)
	}
	s, err := js.CreateStream(b.Context(), jetstream.StreamConfig{Name: stream, Subjects: []string{stream}, Storage: jetstream.MemoryStorage})
	if err != nil {
		b.Fatal(err)
	}
	defer js.DeleteStream(b.Context(), stream) //nolint:errcheck // it goes with the server
	var out bytes.Buffer
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- watchOf(ctx, stop, ctx, url, &out, reader.Config{Stream: stream}, screen) }()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for open := time.Now(); ; <-tick.C { // until the reader's consumer is there
		info, err := s.Info(b.Context())
		if err != nil || time.Since(open) > time.Minute {
			b.Fatalf("no reader on %s: %v", stream, err)
		}
		if info.State.Consumers > 0 {
			break
		}
	}
	payload := bytes.Repeat([]byte("x"), 128)
	sent, began := 0, time.Now()
	for took := time.Duration(0); took < pacedTime; took = time.Since(began) {
		for ; sent < int(took.Seconds()*pacedRate); sent++ {
			if err := nc.Publish(stream, payload); err != nil {
				b.Fatal(err)
			}
		}
		<-tick.C // the pace
	}
	if err := nc.FlushTimeout(time.Minute); err != nil {
		b.Fatal(err)
	}
	took := time.Since(began)
	stop()
	if err := <-ended; err != nil && !strings.HasPrefix(err.Error(), "exit code ") {
		b.Fatalf("screen %t: %v", screen, err)
	}
	m := deliveredOf.FindSubmatch(out.Bytes())
	if m == nil {
		b.Fatalf("screen %t: nothing tells what was delivered:\n%s", screen, out.Bytes())
	}
	n, err := strconv.Atoi(string(m[1]))
	if err != nil {
		b.Fatal(err)
	}
	return float64(n) / took.Seconds(), float64(sent) / took.Seconds()
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
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	began := time.Now()
	err := watchOf(ctx, stop, b.Context(), url, io.Discard, reader.Config{Stream: stream, StopAtEnd: true}, screen)
	if fmt.Sprint(err) != "exit code 0" {
		b.Fatalf("screen %t: %v", screen, err)
	}
	return time.Since(began)
}

// watchOf is a run of watch; outer is what an interrupt would end.
func watchOf(ctx context.Context, stop func(), outer context.Context, url string, out io.Writer, config reader.Config, screen bool) error {
	where, err := natscontext.New("", false, natscontext.WithServerURL(url))
	if err != nil {
		return err
	}
	keys, _ := io.Pipe() // nobody presses any
	defer keys.Close()   //nolint:errcheck // it only ends the screen
	p := &program{stdin: keys, stdout: out, stderr: io.Discard}
	plan := watchPlan{screen: screen, perStream: 1, streams: []string{config.Stream}, look: lookPlan{theme: "safe", colors: 2}, crashes: &crashes{stop: stop}}
	plan.config = config
	return p.watchRun(ctx, stop, outer, settings{context: where, timeout: closeTimeout}, plan)
}
