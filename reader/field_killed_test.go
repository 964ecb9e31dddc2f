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

// Environment of a child of this executable that reads, until it is killed, its
// parent is gone or its task is done.
const (
	childURL     = "NATS_READER_TEST_URL"
	childDurable = "NATS_READER_TEST_DURABLE"
	childTask    = "NATS_READER_TEST_TASK"
)

// childTasks are what a child does beside printing what it reads.
var childTasks = map[string]func(ctx context.Context, js jetstream.JetStream, cfg reader.Config) error{
	"":      printAll,
	"drain": ackAndDrain,
	"away":  tellWhatAwayCosts,
}

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
		nc, err := nats.Connect(url, nats.Timeout(patience), nats.MaxReconnects(-1))
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
		return childTasks[os.Getenv(childTask)](ctx, js, cfg)
	}()
	if err == nil {
		os.Exit(0) // at once: what nats.go has not written yet is lost
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func printAll(ctx context.Context, js jetstream.JetStream, cfg reader.Config) error {
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
}

// child is a reader in a process of its own.
type child struct {
	*exec.Cmd
	stdin io.Closer // open, it is the child's sign that we are there
	lines *bufio.Scanner
}

func (b *bed) child(task, durable string) child {
	b.Helper()
	c := exec.CommandContext(b.ctx, os.Args[0])
	c.Env = append(os.Environ(), childURL+"="+b.server.URL(), childDurable+"="+durable, childTask+"="+task)
	c.Stderr = os.Stderr
	stdin, err := c.StdinPipe()
	b.must(err)
	stdout, err := c.StdoutPipe()
	b.must(err)
	b.must(c.Start())
	return child{c, stdin, bufio.NewScanner(stdout)}
}

// read waits until the child has printed n lines.
func (c child) read(b *bed, n int) {
	b.Helper()
	for i := range n {
		if !c.lines.Scan() {
			b.Fatalf("the child read %d of %d messages", i, n)
		}
	}
}

// kill ends the child as the system does when it has no memory left.
func (c child) kill(b *bed) {
	b.Helper()
	b.must(c.Process.Kill())
	_ = c.Wait() // it was killed
	_ = c.stdin.Close()
}

// killedAfter runs a reader in a process of its own and kills it once it has
// handed out n messages.
func (b *bed) killedAfter(durable string, n int) {
	b.Helper()
	c := b.child("", durable)
	defer c.kill(b)
	c.read(b, n)
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
