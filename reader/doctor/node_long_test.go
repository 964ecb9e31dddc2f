//go:build long && unix

package doctor_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/reader/doctor"
)

// nodeVariable is the command of a reader of nats.js; scripts/doctor.sh sets it.
const nodeVariable = "NATS_READER_DOCTOR_NODE"

// nats.js reads from a durable: healthy, killed, and deaf.
func TestNatsJS(t *testing.T) {
	command := os.Getenv(nodeVariable)
	if command == "" {
		t.Fatalf("%s names no reader of nats.js: run scripts/doctor.sh", nodeVariable)
	}
	for _, c := range []struct {
		name string
		do   func(*ward, *proxy.Proxy, *exec.Cmd)
		o    doctor.Options
		want []string
	}{
		// A foreign subscription to every inbox takes what its reader is deaf to.
		{"its subscription is lost, and another takes all", func(w *ward, p *proxy.Proxy, _ *exec.Cmd) {
			_, err := w.connect("u").Subscribe("_INBOX.>", func(*nats.Msg) {})
			w.must(err)
			w.must(w.nc.FlushWithContext(w.ctx))
			w.fault(p, "drop-subscription")
			w.keepPublishing(20 * time.Millisecond)
		}, doctor.Options{Stream: "S", For: 3 * time.Second}, []string{"READER_003"}},
		{"healthy, and another takes all", func(w *ward, _ *proxy.Proxy, _ *exec.Cmd) {
			_, err := w.connect("u").Subscribe("_INBOX.>", func(*nats.Msg) {})
			w.must(err)
			w.keepPublishing(20 * time.Millisecond)
		}, doctor.Options{Stream: "S", For: 3 * time.Second}, nil},
		{"healthy", func(*ward, *proxy.Proxy, *exec.Cmd) {}, short, nil},
		{"healthy, heard", func(*ward, *proxy.Proxy, *exec.Cmd) {}, heardTo(short), nil},
		{"killed", func(w *ward, _ *proxy.Proxy, node *exec.Cmd) { w.must(node.Process.Kill()) }, short, []string{"READER_002"}},
		{"its subscription is lost", func(w *ward, p *proxy.Proxy, _ *exec.Cmd) { w.fault(p, "drop-subscription") }, short, []string{"READER_002"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWard(t)
			w.stream()
			w.publish("s.a", 3)
			_, p := w.proxied()
			node := w.node(command, p, "D")
			w.awaitInfo("D", func(i *jetstream.ConsumerInfo) bool { return i.AckFloor.Stream == 3 && i.NumWaiting > 0 })
			c.do(w, p, node)
			if len(c.want) > 0 && c.want[0] == "READER_002" {
				w.awaitInfo("D", func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 0 })
				w.publish("s.a", 5)
			}
			_, r := w.examine(c.o, doctor.JudgeOptions{})
			finds(t, r, c.want...)
		})
	}
}

// The ordered consumer of nats.js: healthy; killed, its consumer is an orphan until
// it lapses; and one that somebody deletes it makes anew, which is no storm.
func TestOrderedNatsJS(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(*ward, *exec.Cmd, string)
		want []string
	}{
		{"healthy", func(*ward, *exec.Cmd, string) {}, nil},
		{"killed", func(w *ward, node *exec.Cmd, name string) {
			w.must(node.Process.Kill())
			w.awaitInfo(name, func(i *jetstream.ConsumerInfo) bool { return i.NumWaiting == 0 })
		}, []string{"-READER_006"}},
		{"its consumer is deleted", func(w *ward, _ *exec.Cmd, name string) {
			w.must(w.js.DeleteConsumer(w.ctx, "S", name))
			for w.onlyConsumer() == name {
				w.must(w.ctx.Err())
			}
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWard(t)
			w.stream()
			w.publish("s.a", 3)
			_, p := w.proxied()
			node := w.node(os.Getenv(nodeVariable), p, "")
			name := w.onlyConsumer()
			w.awaitInfo(name, func(i *jetstream.ConsumerInfo) bool { return i.Delivered.Stream == 3 && i.NumWaiting > 0 })
			c.do(w, node, name)
			_, r := w.examine(short, doctor.JudgeOptions{})
			finds(t, r, c.want...)
		})
	}
}

// onlyConsumer waits until the stream has one consumer, and gives its name.
func (w *ward) onlyConsumer() string {
	w.t.Helper()
	for {
		s, err := w.js.Stream(w.ctx, "S")
		w.must(err)
		var names []string
		for name := range s.ConsumerNames(w.ctx).Name() {
			names = append(names, name)
		}
		if len(names) == 1 {
			return names[0]
		}
	}
}

// node starts the reader, of a durable or, without one, an ordered one; it is killed at
// the end of the test.
func (w *ward) node(command string, p *proxy.Proxy, durable string) *exec.Cmd {
	w.t.Helper()
	node := exec.CommandContext(w.ctx, "sh", "-c", command)
	node.Env = append(os.Environ(), "NATS_READER_STREAM=S", "NATS_READER_DURABLE="+durable,
		"NATS_URL="+strings.Replace(p.URL(), "://", fmt.Sprintf("://u%d:p@", w.n), 1))
	out, err := node.StdoutPipe()
	w.must(err)
	w.must(node.Start())
	w.t.Cleanup(func() {
		node.Process.Kill() //nolint:errcheck // it may be dead
		node.Wait()         //nolint:errcheck // it was killed
	})
	first := make(chan bool, 1)
	go func() {
		lines := bufio.NewScanner(out)
		first <- lines.Scan()
		for lines.Scan() { //nolint:revive // so that it never waits for us
		}
	}()
	select {
	case read := <-first:
		if !read {
			w.t.Fatal("the reader of nats.js ended at once")
		}
	case <-time.After(time.Minute):
		w.t.Fatal("the reader of nats.js reads nothing")
	}
	return node
}
