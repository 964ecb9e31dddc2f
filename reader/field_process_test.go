package reader_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
)

// The process is told to end: it acks what it handled, drains and exits at once.
// No ack is left in a buffer of the client.
func TestDrainAtTheEndOfAProcess(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	c := b.shared(jetstream.ConsumerConfig{AckWait: time.Hour})
	for round := 1; round <= 5; round++ {
		b.publish(10*round-9, 10*round)
		p := b.child("drain", "d")
		p.read(b, 1)
		b.must(p.Wait())
		info, err := c.Info(b.ctx)
		b.must(err)
		if info.NumAckPending != 0 || info.NumRedelivered != 0 || info.AckFloor.Stream != uint64(10*round) {
			t.Fatalf("round %d: %d wait for an ack, floor %d", round, info.NumAckPending, info.AckFloor.Stream)
		}
	}
}

// ackAndDrain is a child that handles ten messages, drains and is done.
func ackAndDrain(ctx context.Context, js jetstream.JetStream, cfg reader.Config) error {
	r, err := reader.Open(ctx, js, cfg)
	if err != nil {
		return err
	}
	for range 10 {
		m, err := r.Next(ctx)
		if err != nil {
			return err
		}
		if err := m.Ack(); err != nil {
			return err
		}
	}
	if err := r.Drain(ctx); err != nil {
		return err
	}
	fmt.Println("drained")
	return nil
}

// The server is away: the reader's process does next to nothing, asks for nothing and
// tells no more than that the connection is back.
func TestAwayCostsNothing(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 3)
	p := b.child("away", "")
	defer p.kill(b)
	p.read(b, 3)
	b.must(b.server.Term(b.ctx))
	away := time.NewTimer(awayLength)
	defer away.Stop()
	select {
	case <-away.C:
	case <-b.ctx.Done():
		t.Fatal(b.ctx.Err())
	}
	b.must(b.server.Start(b.ctx))
	p.read(b, 1)
	var used, lasted time.Duration
	var told int
	if _, err := fmt.Sscanf(p.lines.Text(), "used %d of %d told %d", &used, &lasted, &told); err != nil {
		t.Fatalf("%q: %v", p.lines.Text(), err)
	}
	t.Logf("away for %s: %s of the processor, %d events", lasted, used, told)
	if used > lasted/20 || told > 1 || lasted < awayLength/2 {
		t.Fatalf("away for %s: %s of the processor, %d events", lasted, used, told)
	}
}

// tellWhatAwayCosts is a child that says what it did while its connection was away.
func tellWhatAwayCosts(ctx context.Context, js jetstream.JetStream, cfg reader.Config) error {
	var began time.Time
	var used time.Duration
	var told int
	cfg.Observer = func(e reader.Event) {
		told++ // a request is an event, too
		switch e.Kind {
		case "disconnected":
			began, used, told = time.Now(), cpuTime(), 0
		case "reconnected":
			fmt.Printf("used %d of %d told %d\n", cpuTime()-used, time.Since(began), told)
		}
	}
	return printAll(ctx, js, cfg)
}
