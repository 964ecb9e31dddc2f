package reader_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
)

// holdVariable makes this executable a process that holds a Name on the server it names.
const holdVariable = "NATS_READER_TEST_HOLD"

func named() reader.Config {
	cfg := calm()
	cfg.Name, cfg.InactiveThreshold = "mine", 2*time.Second
	return cfg
}

// holdName opens a reader and holds it until its standard input ends, or it is killed.
func holdName(url string) error {
	nc, err := nats.Connect(url, nats.Timeout(patience))
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	r, err := reader.Open(context.Background(), js, named())
	if err != nil {
		return err
	}
	if _, err := fmt.Println("open"); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return r.Close(context.Background())
}

// holder starts a process that holds the Name, and waits until it does.
func (b *bed) holder() (kill func()) {
	b.Helper()
	exe, err := os.Executable()
	b.must(err)
	cmd := exec.CommandContext(b.ctx, exe)
	cmd.Env = append(os.Environ(), holdVariable+"="+b.server.URL())
	cmd.Stderr = os.Stderr
	_, err = cmd.StdinPipe()
	b.must(err)
	out, err := cmd.StdoutPipe()
	b.must(err)
	b.must(cmd.Start())
	ended := false
	kill = func() {
		if !ended {
			ended = true
			_ = cmd.Process.Kill() // it may have ended
			_ = cmd.Wait()         // killed
		}
	}
	b.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "open\n" {
		b.Fatalf("the other process says %q, %v", line, err)
	}
	return kill
}

// Two processes with one Name: the second is told whose it is and touches nothing;
// when the first is killed, its consumer lapses, and the Name is free.
func TestNameOfAnotherProcess(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	kill := b.holder()
	c, err := b.admin.Consumer(b.ctx, b.stream, "mine")
	b.must(err)
	born := c.CachedInfo().Created
	if err := b.refused(named(), reader.ErrNameInUse.Error()); !errors.Is(err, reader.ErrNameInUse) {
		t.Fatalf("got %v, want ErrNameInUse", err)
	}
	info, err := c.Info(b.ctx)
	b.must(err)
	if !info.Created.Equal(born) {
		t.Fatal("the other's consumer was made again")
	}
	kill()
	cfg := named()
	cfg.Observer = b.observe
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	r, err := reader.Open(ctx, b.js, cfg)
	b.must(err)
	b.Cleanup(func() { _ = r.Close(context.Background()) })
	b.expect(r, 1, 10)
}

// The Name is taken while ours is gone: it is never deleted, not at Close either, and
// the reader goes on when it is free.
func TestNameTakenMeanwhile(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]string{
		"requests lost": "api-timeout",
		"replies lost":  "lose-reply",
	} {
		t.Run(name, func(t *testing.T) {
			b := withStream(t)
			b.publish(1, 10)
			r := b.open(hasty(named()))
			b.expect(r, 1, 10)
			takes := func() {
				undo, n := b.fault(fault), b.count("replace_failed")
				b.must(b.admin.DeleteConsumer(b.ctx, b.stream, "mine"))
				b.await("replace_failed", n+2)
				b.eventually("another takes the name", func() bool {
					_ = b.admin.DeleteConsumer(b.ctx, b.stream, "mine") // ours, by a create whose reply was lost
					_, err := b.admin.CreateConsumer(b.ctx, b.stream, jetstream.ConsumerConfig{Name: "mine", InactiveThreshold: time.Hour})
					return err == nil
				})
				undo()
			}
			takes()
			b.eventually("it is told", func() bool { return strings.Contains(r.Status().LastError, reader.ErrNameInUse.Error()) })
			b.must(b.admin.DeleteConsumer(b.ctx, b.stream, "mine"))
			b.publish(11, 20)
			b.expect(r, 11, 20)
			takes()
			b.must(r.Close(b.ctx))
			if c := b.consumers(); !slices.Equal(c, []string{"mine"}) {
				t.Fatalf("consumers %v: the other's is gone\n%s", c, b.story())
			}
		})
	}
}
