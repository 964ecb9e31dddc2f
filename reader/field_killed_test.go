package reader_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
)

// Environment of a child of this executable that reads, until it is killed or its
// parent is gone.
const (
	childURL     = "NATS_READER_TEST_URL"
	childDurable = "NATS_READER_TEST_DURABLE"
)

// readAsChild is such a child's whole life; in any other process it does nothing.
func readAsChild() {
	url := os.Getenv(childURL)
	if url == "" {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // open as long as the parent lives
		cancel()
	}()
	err := func() error {
		nc, err := nats.Connect(url, nats.Timeout(patience))
		if err != nil {
			return err
		}
		js, err := jetstream.New(nc)
		if err != nil {
			return err
		}
		cfg := quick()
		cfg.Durable = os.Getenv(childDurable)
		if cfg.Durable == "" {
			cfg.InactiveThreshold = time.Second
		}
		r, err := reader.Open(ctx, js, cfg)
		if err != nil {
			return err
		}
		for m, err := range r.Messages(ctx) {
			if err != nil {
				return err
			}
			fmt.Println(string(m.Data))
		}
		return nil
	}()
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// killedAfter runs a reader in a process of its own and kills it once it has
// handed out n messages.
func (b *bed) killedAfter(durable string, n int) {
	b.Helper()
	c := exec.CommandContext(b.ctx, os.Args[0])
	c.Env = append(os.Environ(), childURL+"="+b.server.URL(), childDurable+"="+durable)
	c.Stderr = os.Stderr
	stdin, err := c.StdinPipe()
	b.must(err)
	defer stdin.Close() //nolint:errcheck // it is the child's sign that we are there
	stdout, err := c.StdoutPipe()
	b.must(err)
	b.must(c.Start())
	lines := bufio.NewScanner(stdout)
	got := 0
	for got < n && lines.Scan() {
		got++
	}
	b.must(c.Process.Kill())
	_ = c.Wait() // it was killed
	if got != n {
		b.Fatalf("the child read %d of %d messages", got, n)
	}
}

// A reader of a work queue is killed amid its messages. The next one reads at
// once, and has the abandoned ones when their ack wait is over, each once more.
func TestReaderKilledAmidItsMessages(t *testing.T) {
	t.Parallel()
	b := withStream(t, func(c *jetstream.StreamConfig) { c.Retention = jetstream.WorkQueuePolicy })
	c := b.shared(jetstream.ConsumerConfig{AckWait: 5 * time.Second})
	b.publish(1, 5)
	b.killedAfter("d", 5)
	r := b.open(durable())
	b.publish(6, 8)
	deliveries := map[uint64]uint64{}
	for len(deliveries) < 8 {
		m, err := r.Next(b.ctx)
		b.must(err)
		if deliveries[m.Sequence] != 0 {
			t.Fatalf("sequence %d twice\n%s", m.Sequence, b.story())
		}
		deliveries[m.Sequence] = m.NumDelivered
		b.must(m.DoubleAck(b.ctx))
	}
	for i := uint64(1); i <= 8; i++ {
		if want := uint64(1); i <= 5 && deliveries[i] != want+1 || i > 5 && deliveries[i] != want {
			t.Fatalf("deliveries %v", deliveries)
		}
	}
	info, err := c.Info(b.ctx)
	b.must(err)
	if info.NumAckPending != 0 || info.NumPending != 0 {
		t.Fatalf("consumer %+v", info)
	}
}

// Readers that are killed leave consumers, which the server lets go by itself.
func TestKilledReadersLeaveNothingForLong(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 3)
	for range killings {
		b.killedAfter("", 3)
	}
	b.eventually("nothing is left", func() bool { return len(b.consumers()) == 0 })
	b.expect(b.open(quick()), 1, 3)
}
