package target

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/reader"
)

// The consumer is deleted under the reader: some give up, and say why; some go on.
func TestConsumerDeleted(t *testing.T) {
	for name, givesUp := range map[string]bool{
		"reader": false, "ordered-consume": false, "ordered-messages": false,
		"consume": true, "consume(durable=false)": true, "messages": true, "messages(max-wait=1s)": true,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			b.publish(1, 10)
			b.start(name)
			b.awaitRead(10)
			b.deleteConsumers()
			if !givesUp {
				b.publish(11, 20)
				b.awaitRead(20)
				b.stop()
				b.wantRead(1, 20)
				return
			}
			if err := b.awaitEnd(); !errors.Is(err, jetstream.ErrConsumerDeleted) {
				t.Errorf("it ended with %v, want %v", err, jetstream.ErrConsumerDeleted)
			}
			b.wantRead(1, 10)
		})
	}
}

// Without its consumer a loop of fetches stays open, told no for ever: open and deaf.
func TestFetchStaysDeaf(t *testing.T) {
	for _, name := range []string{"fetch(max-wait=1s)", "legacy-fetch(max-wait=1s)"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			b.publish(1, 10)
			b.start(name)
			b.awaitRead(10)
			b.deleteConsumers()
			b.publish(11, 20)
			b.await("it was told no a hundred times", func() bool {
				for _, r := range b.reports {
					if r.Times >= 100 {
						return true
					}
				}
				return false
			})
			b.stop()
			b.wantRead(1, 10)
			if n := len(b.reports); n > 20 {
				t.Errorf("%d reports of the same", n)
			}
		})
	}
}

// The connection is closed for good: every target ends by itself, and says so.
func TestConnectionClosed(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			b.publish(1, 10)
			b.start(name)
			b.awaitRead(10)
			b.mu.Lock()
			nc := b.conns[0]
			b.mu.Unlock()
			nc.Close()
			err := b.awaitEnd()
			if !connectionClosed(err) && !errors.Is(err, reader.ErrConnectionClosed) {
				t.Errorf("it ended with %v, and not with a closed connection", err)
			}
		})
	}
}

// What cannot begin says why, and leaves nothing.
func TestTargetsThatCannotBegin(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			b.in.Stream = "MISSING"
			b.start(name)
			if err := b.awaitEnd(); err == nil {
				t.Error("it reads a stream that does not exist")
			}
			select {
			case <-b.ready:
				t.Error("it was ready")
			default:
			}
			refused := b.in
			refused.Connect = Dial("nats://127.0.0.1:1")
			if err := mustParse(t, name).Read(context.Background(), refused); !errors.Is(err, nats.ErrNoServers) {
				t.Errorf("without a server: %v", err)
			}
			over, cancel := context.WithCancel(context.Background())
			cancel()
			if err := mustParse(t, name).Read(over, refused); err != nil {
				t.Errorf("stopped before it began: %v", err)
			}
		})
	}
}

func mustParse(t *testing.T, text string) Target {
	t.Helper()
	kind, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return kind
}

// An ordered reader's Stop waits for a reset that nobody answers. Read does not.
func TestStopBehindAResetWithoutAnswer(t *testing.T) {
	for _, name := range []string{"ordered-consume", "ordered-messages"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			b.publish(1, 10)
			b.start(name)
			b.awaitRead(10)
			f, err := proxy.ParseFault("api-timeout(subject=CONSUMER.CREATE.>)")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.proxy.Apply(f); err != nil {
				t.Fatal(err)
			}
			b.deleteConsumers()
			b.awaitFiring()
			b.stop()
			b.wantSaid("has not stopped")
			if err := Settle(b.patient()); err != nil {
				t.Errorf("nats.go does not let go: %v", err)
			}
		})
	}
}

// awaitFiring waits until a fault of the wire has acted.
func (b *bed) awaitFiring() {
	b.Helper()
	limit := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for len(b.proxy.Firings()) == 0 {
		select {
		case <-tick.C:
		case <-limit:
			b.Fatal("the fault does not act")
		}
	}
}
