package reader_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/an-open-reader/nats-reader/reader"
)

// keepStore copies the server's store while it is stopped; the restore puts the
// copy back in its place, as an operator restores a backup.
func (b *bed) keepStore() (restore func()) {
	b.Helper()
	kept := b.TempDir()
	b.must(b.server.Term(b.ctx))
	b.must(os.CopyFS(kept, os.DirFS(b.server.StoreDir())))
	b.must(b.server.Start(b.ctx))
	b.eventually("the publisher is back", b.direct.IsConnected)
	return func() {
		b.Helper()
		b.must(b.server.Term(b.ctx))
		entries, err := os.ReadDir(b.server.StoreDir())
		b.must(err)
		for _, e := range entries {
			b.must(os.RemoveAll(filepath.Join(b.server.StoreDir(), e.Name())))
		}
		b.must(os.CopyFS(b.server.StoreDir(), os.DirFS(kept)))
		b.must(b.server.Start(b.ctx))
		b.eventually("the publisher is back", b.direct.IsConnected)
	}
}

// A stream that was rolled back goes on by time: what comes after the restore is
// read, whether the stream is still below the cursor or has grown past it.
func TestRolledBackStreamIsReadOn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, filter string
		then         int
	}{{"below the cursor", "", 10}, {"past the cursor", "", 60}, {"past the cursor, by a filter", "orders.new", 60}} {
		t.Run(c.name, func(t *testing.T) {
			b := withStream(t)
			b.publish(1, 5)
			restore := b.keepStore()
			b.publish(6, 40)
			cfg := hasty(calm())
			if c.filter != "" {
				cfg.Subjects = []string{c.filter}
			}
			r := b.open(cfg)
			b.expect(r, 1, 40)
			undo := b.fault("api-timeout")
			restore()
			b.publishTo("orders.other", 1000, 1036)
			b.publish(101, 100+c.then)
			undo()
			if c.filter == "" {
				b.expect(r, 1000, 1036)
			}
			b.expect(r, 101, 100+c.then)
			if e := b.await("stream_reset", 1); e.Text != "rolled back" {
				t.Fatalf("stream_reset %+v", e)
			}
		})
	}
}

// A durable that was acknowledged further than its restored stream reaches is made
// again where the stream ends now.
func TestDurableOnARolledBackStream(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 5)
	restore := b.keepStore()
	b.publish(6, 40)
	r := b.open(durable())
	b.handle(r, 40)
	b.must(r.Replace(b.ctx)) // reads the ack floor
	b.await("session_replaced", 1)
	replaced := b.count("session_replaced")
	restore()
	b.await("session_replaced", replaced+1)
	b.publish(101, 110)
	b.handle(r, 10)
}

func TestPositionOfARolledBackStream(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 5)
	restore := b.keepStore()
	b.publish(6, 20)
	r := b.open(calm())
	b.expect(r, 1, 20)
	p := r.Position()
	b.must(r.Close(b.ctx))
	restore()
	b.publish(101, 110)
	cfg := calm()
	cfg.Start = reader.FromPosition(p)
	b.expect(b.open(cfg), 101, 110)
	b.await("stream_reset", 1)
}
