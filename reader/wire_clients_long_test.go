//go:build long

package reader_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
)

const (
	wireHeartbeat = 500 * time.Millisecond // the shortest that nats.go's Consume takes
	checkID       = 1 << 30                // of the message that a client's own connection publishes
)

// publisher stores a hundred messages a second with the payloads 1, 2, 3, over a
// connection that no fault acts on.
type publisher struct {
	mu    sync.Mutex
	acked []time.Time // by payload - 1
	quiet bool

	cancel context.CancelFunc
	done   chan error
}

func (b *bed) publishOn() *publisher {
	ctx, cancel := context.WithCancel(b.ctx)
	p := &publisher{cancel: cancel, done: make(chan error, 1)}
	go func() { p.done <- p.run(ctx, b.admin) }()
	b.Cleanup(func() {
		cancel()
		if err := <-p.done; err != nil {
			b.Errorf("publish: %v", err)
		}
	})
	return p
}

func (p *publisher) run(ctx context.Context, js jetstream.JetStream) error {
	pace := time.NewTicker(10 * time.Millisecond)
	defer pace.Stop()
	for n := 1; ; {
		select {
		case <-pace.C:
		case <-ctx.Done():
			return nil
		}
		p.mu.Lock()
		quiet := p.quiet
		p.mu.Unlock()
		if quiet {
			continue
		}
		if _, err := js.Publish(ctx, "orders.new", []byte(strconv.Itoa(n))); err != nil {
			if ctx.Err() != nil {
				return nil // unknown to have been stored: nobody asks for it
			}
			return err
		}
		p.mu.Lock()
		p.acked = append(p.acked, time.Now())
		p.mu.Unlock()
		n++
	}
}

func (p *publisher) paused(quiet bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.quiet = quiet
}

// stop ends it: what last counts is all there will be.
func (p *publisher) stop() {
	p.cancel()
	err := <-p.done
	p.done <- err
}

func (p *publisher) last() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.acked)
}

func (p *publisher) acknowledged() []time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.acked)
}

// wireReader is a reader under a fault.
type wireReader struct {
	b    *bed
	r    *reader.Reader
	done chan struct{}
}

func openWireReader(b *bed, got *arrivals) wireClient {
	r := b.open(reader.Config{
		Stream: b.stream,
		Pull:   reader.Pull{MaxMessages: 500, Expires: 5 * time.Second, Heartbeat: wireHeartbeat},
		Retry:  reader.RetryPolicy{Initial: 100 * time.Millisecond, Max: time.Second, AttemptTimeout: time.Second},
	})
	w := &wireReader{b: b, r: r, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		for {
			m, err := r.Next(context.Background())
			if err != nil {
				return // what ended it is r.Err's to tell
			}
			id, err := strconv.Atoi(string(m.Data))
			if err != nil {
				b.Errorf("a payload that nobody published: %q", m.Data)
			}
			got.add(id)
			b.nudge()
		}
	}()
	return w
}

func (w *wireReader) mustReadAll() bool { return true }

func (w *wireReader) ended() string {
	if err := w.r.Err(); err != nil {
		return err.Error()
	}
	return ""
}

func (w *wireReader) figures() string {
	s := w.r.Status()
	var why []string
	for _, cause := range slices.Sorted(maps.Keys(s.Replaced)) {
		why = append(why, fmt.Sprintf("%s %d", cause, s.Replaced[cause]))
	}
	if len(why) == 0 {
		why = []string{"-"}
	}
	return fmt.Sprintf("%d | %s | %s", s.Session.Number, strings.Join(why, ", "), w.b.longestDeaf().Round(time.Millisecond))
}

// alone checks that one session is left of all: its consumer, and a subscription
// that the server knows of.
func (w *wireReader) alone() {
	b := w.b
	b.Helper()
	b.eventually("the session's consumer is the only one", func() bool {
		return slices.Equal(b.consumers(), []string{w.r.Status().Session.Consumer}) && w.r.Status().Orphans == 0
	})
	b.eventually("the session's inbox is the only one of pulls, and the server knows it", func() bool {
		var pulls, forgotten int
		for _, c := range b.proxy.Connections() {
			for _, s := range c.Subscriptions {
				if s.Pulls {
					pulls++
				}
				if s.Forgotten {
					forgotten++
				}
			}
		}
		return pulls == 1 && forgotten == 0
	})
}

func (w *wireReader) close() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := w.r.Close(ctx); err != nil {
		w.b.Errorf("close: %v", err)
	}
	<-w.done
	if left := w.b.consumers(); len(left) > 0 {
		w.b.Errorf("left behind: %v", left)
	}
}

// wireConsume is nats.go's Consume under a fault, with the defaults of it and of its
// consumer but for the heartbeat; it acknowledges each message.
type wireConsume struct {
	b   *bed
	got *arrivals
	cc  jetstream.ConsumeContext

	mu   sync.Mutex
	errs map[string]int
}

func openWireConsume(b *bed, got *arrivals) wireClient {
	w := &wireConsume{b: b, got: got, errs: map[string]int{}}
	c, err := b.js.CreateOrUpdateConsumer(b.ctx, b.stream, jetstream.ConsumerConfig{Durable: "peer", AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackWait})
	b.must(err)
	w.cc, err = c.Consume(func(m jetstream.Msg) {
		id, err := strconv.Atoi(string(m.Data()))
		if err != nil {
			b.Errorf("a payload that nobody published: %q", m.Data())
		}
		got.add(id)
		if err := m.Ack(); err != nil {
			w.told(err)
		}
		b.nudge()
	}, jetstream.PullHeartbeat(wireHeartbeat), jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) { w.told(err) }))
	b.must(err)
	return w
}

func (w *wireConsume) told(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	w.errs[strings.TrimPrefix(err.Error(), "nats: ")]++
}

func (w *wireConsume) mustReadAll() bool { return false }

func (w *wireConsume) alone() {}

func (w *wireConsume) ended() string {
	select {
	case <-w.cc.Closed():
		return "stopped"
	default:
		return ""
	}
}

// figures say how it was left, and what it told of.
func (w *wireConsume) figures() string {
	end := w.ended()
	if end == "" {
		end = "reads"
		if !w.got.has(checkID) {
			end = "**silent**"
		}
	} else {
		end = "**" + end + "**"
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, text := range slices.Sorted(maps.Keys(w.errs)) {
		end += fmt.Sprintf("; %s (%d)", text, w.errs[text])
	}
	return end
}

func (w *wireConsume) close() {
	w.cc.Stop()
	<-w.cc.Closed()
}
