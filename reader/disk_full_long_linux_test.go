//go:build long

package reader_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/reader"
)

// smallDisk mounts a file system of so many bytes and gives a folder on it, and what
// makes it larger.
func smallDisk(t *testing.T, size int) (dir string, grow func(int)) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+strconv.Itoa(size)); err != nil {
		t.Fatalf("mount a small tmpfs on %s: %v: this test needs a file system of its own: run scripts/disk-full.sh, as root or where user namespaces are allowed", dir, err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	return dir, func(size int) {
		t.Helper()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size="+strconv.Itoa(size)); err != nil {
			t.Fatal(err)
		}
	}
}

// The disk is full: the server stores nothing more, and may switch JetStream off. The
// reader reads what is stored, tells what it is refused, and when there is room and the
// server has been started again, reads on: nothing that was stored is lost.
func TestLongDiskFull(t *testing.T) {
	for _, durable := range []bool{false, true} {
		t.Run(fmt.Sprintf("durable=%t", durable), func(t *testing.T) {
			disk, grow := smallDisk(t, 12<<20)
			b := withServer(t, lab.Options{StoreDir: filepath.Join(disk, "store"), Config: "jetstream: {max_file_store: 1GB}"})
			cfg := quick()
			if durable {
				cfg.Durable = "d"
			}
			r := b.open(cfg)
			stored := 0
			for full := false; !full; {
				full = b.store(stored+1) != nil
				if !full {
					stored++
				}
			}
			t.Logf("%s: the disk is full behind %d messages", b.direct.ConnectedServerVersion(), stored)
			b.readAll(r, 1, stored, durable)
			// A session that has to be replaced now can be, or is refused: the server's word is told.
			b.dropSubscription(r)
			b.eventually("it is replaced, or told why not", func() bool {
				return b.count("session_replaced")+b.count("session_healed") > 0 || b.count("replace_failed") > 0 && r.Status().LastError != ""
			})
			t.Logf("%d sessions, last error %q", r.Status().Session.Number, r.Status().LastError)
			grow(128 << 20)
			b.must(b.server.Kill(b.ctx))
			b.must(b.server.Start(b.ctx))
			b.eventually("the server stores again", func() bool { return b.store(stored+1) == nil })
			for i := stored + 2; i <= stored+20; i++ {
				b.must(b.store(i))
			}
			b.readAll(r, stored+1, stored+20, durable)
			t.Logf("%d sessions %v", r.Status().Session.Number, r.Status().Replaced)
		})
	}
}

// store stores a message of 64 KiB that begins with a number.
func (b *bed) store(n int) error {
	ctx, cancel := context.WithTimeout(b.ctx, 2*time.Second)
	defer cancel()
	m := nats.NewMsg("orders.new")
	m.Data = append(fmt.Appendf(nil, "%d ", n), bytes.Repeat([]byte("x"), 64<<10)...)
	_, err := b.admin.PublishMsg(ctx, m, jetstream.WithMsgID(num(n)))
	return err
}

// readAll reads the messages of those numbers; of a durable what was read before may come again.
func (b *bed) readAll(r *reader.Reader, from, to int, durable bool) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	for next := from; next <= to; {
		m, err := r.Next(ctx)
		if err != nil {
			b.Fatalf("message %d: %v\n%s", next, err, b.story())
		}
		word, _, _ := bytes.Cut(m.Data, []byte(" "))
		switch n, err := strconv.Atoi(string(word)); {
		case err != nil || n > next || n < next && !durable:
			b.Fatalf("got %s, want %d\n%s", word, next, b.story())
		case n == next:
			next++
		}
		if durable {
			_ = m.Ack() // refused, perhaps: then it comes again
		}
	}
}
