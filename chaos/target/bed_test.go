package target

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/reader"
)

// bed is a server with a stream, a proxy in front of it, and what a target told.
type bed struct {
	*testing.T
	server *lab.Server
	proxy  *proxy.Proxy
	js     jetstream.JetStream // direct

	in     Input
	pace   Pace
	cancel context.CancelFunc
	ended  chan struct{} // closed when Read has returned
	err    error         // what it returned
	ready  chan struct{}

	mu      sync.Mutex
	over    bool // nothing may be told any more
	read    []oracle.Delivery
	reports []Report
	events  []reader.Event
	status  func() reader.Status
	changed chan struct{}
	conns   []*nats.Conn
	stderr  strings.Builder
}

const stream = "S"

func newBed(t *testing.T) *bed {
	t.Helper()
	b := &bed{T: t, ended: make(chan struct{}), ready: make(chan struct{}), changed: make(chan struct{})}
	var err error
	if b.server, err = lab.Start(context.Background(), lab.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.server.Close(); err != nil {
			t.Error(err)
		}
	})
	if b.proxy, err = proxy.New(b.server.URL(), proxy.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.proxy.Close() }) //nolint:errcheck // it gives none
	if _, err := b.proxy.Listen("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	nc, err := nats.Connect(b.server.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	if b.js, err = jetstream.New(nc); err != nil {
		t.Fatal(err)
	}
	b.makeStream()
	dial := Dial(b.proxy.URL())
	b.in = Input{
		URL: b.proxy.URL(), Stream: stream, Seed: 7, Pace: &b.pace, Stderr: locked{b},
		Connect: func(ctx context.Context, options ...nats.Option) (*nats.Conn, error) {
			nc, err := dial(ctx, options...)
			b.told(func() { b.conns = append(b.conns, nc) })
			return nc, err
		},
		Read:   func(d oracle.Delivery) { b.told(func() { b.read = append(b.read, d) }) },
		Report: func(r Report) { b.told(func() { b.reports = append(b.reports, r) }) },
		Event:  func(e reader.Event) { b.told(func() { b.events = append(b.events, e) }) },
		Opened: func(s func() reader.Status) { b.told(func() { b.status = s }) },
		Ready:  func() { close(b.ready) },
	}
	return b
}

func (b *bed) makeStream() {
	b.Helper()
	if _, err := b.js.CreateStream(b.patient(), jetstream.StreamConfig{Name: stream, Subjects: []string{"s.>"}}); err != nil {
		b.Fatal(err)
	}
}

func (b *bed) patient() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	b.Cleanup(cancel)
	return ctx
}

// told notes what a target told, and that it may.
func (b *bed) told(note func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		b.Error("something was told after Read had returned")
	}
	note()
	close(b.changed)
	b.changed = make(chan struct{})
}

// locked is the bed's stderr.
type locked struct{ b *bed }

func (l locked) Write(p []byte) (int, error) {
	l.b.told(func() { l.b.stderr.Write(p) })
	return len(p), nil
}

// publish writes the messages from to to, "w-1" being the first.
func (b *bed) publish(from, to int) {
	b.Helper()
	for n := from; n <= to; n++ {
		if _, err := b.js.PublishAsync("s.x", fmt.Appendf(nil, "w-%d  filled up", n)); err != nil {
			b.Fatal(err)
		}
	}
	select {
	case <-b.js.PublishAsyncComplete():
	case <-time.After(patience):
		b.Fatal("the stream does not take the messages")
	}
}

// start lets a target read until stop is called or the test is over.
func (b *bed) start(text string) Target {
	b.Helper()
	t, err := Parse(text)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel = cancel
	go func() {
		b.err = t.Read(ctx, b.in)
		b.mu.Lock()
		b.over = true
		b.mu.Unlock()
		close(b.ended)
	}()
	b.Cleanup(func() { cancel(); <-b.ended })
	return t
}

// stop ends the target, which must not have ended by itself.
func (b *bed) stop() {
	b.Helper()
	select {
	case <-b.ended:
		b.Errorf("it ended by itself: %v", b.err)
	default:
	}
	b.cancel()
	if err := b.awaitEnd(); err != nil {
		b.Errorf("Read: %v, want nil once it is stopped", err)
	}
}

// awaitEnd waits for Read, and gives what it returned.
func (b *bed) awaitEnd() error {
	b.Helper()
	select {
	case <-b.ended:
		return b.err
	case <-time.After(patience):
		b.Fatal("Read does not return")
		return nil
	}
}

// await waits until it is so, which is looked at when something is told.
func (b *bed) await(what string, so func() bool) {
	b.Helper()
	limit := time.After(patience)
	for {
		b.mu.Lock()
		done, changed := so(), b.changed
		b.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-b.ended:
			b.mu.Lock()
			done = so()
			b.mu.Unlock()
			if !done {
				b.Fatalf("the target ended before %s: %v", what, b.err)
			}
		case <-limit:
			b.mu.Lock()
			defer b.mu.Unlock()
			b.Fatalf("still not so: %s; read %d, reports %v, stderr %q", what, len(b.read), b.reports, b.stderr.String())
		}
	}
}

func (b *bed) awaitRead(n int) {
	b.Helper()
	b.await(fmt.Sprintf("%d messages are read", n), func() bool { return len(b.read) >= n })
}

// ids are what was read, in order.
func (b *bed) ids() (ids []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, d := range b.read {
		ids = append(ids, d.ID)
	}
	return ids
}

// wantRead wants exactly the messages from to to, once and in order.
func (b *bed) wantRead(from, to int) {
	b.Helper()
	var want []string
	for n := from; n <= to; n++ {
		want = append(want, fmt.Sprintf("w-%d", n))
	}
	if got := b.ids(); !slices.Equal(got, want) {
		b.Errorf("read %d messages %v, want w-%d to w-%d", len(got), clipped(got), from, to)
	}
}

func clipped(s []string) []string { return s[:min(len(s), 20)] }

// said says whether a report with this text came; mu is held.
func (b *bed) said(text string) bool {
	return slices.ContainsFunc(b.reports, func(r Report) bool { return strings.Contains(r.Text, text) })
}

func (b *bed) wantSaid(text string) {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.said(text) {
		b.Errorf("reports %v, want %q", b.reports, text)
	}
}

// consumers lists the stream's.
func (b *bed) consumers() (all []*jetstream.ConsumerInfo) {
	b.Helper()
	s, err := b.js.Stream(b.patient(), stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil
	}
	if err != nil {
		b.Fatal(err)
	}
	list := s.ListConsumers(b.patient())
	for c := range list.Info() {
		all = append(all, c)
	}
	if err := list.Err(); err != nil {
		b.Fatal(err)
	}
	return all
}

// deleteConsumers is delete-consumer, for whoever reads.
func (b *bed) deleteConsumers() {
	b.Helper()
	for _, c := range b.consumers() {
		if err := b.js.DeleteConsumer(b.patient(), stream, c.Name); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
			b.Fatal(err)
		}
	}
}
