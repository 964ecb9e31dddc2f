package reader_test

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

// Under several publishers a reader of several filters that is at the head of the
// stream reads all that the stream holds. A server of 2.10.7 passes over some without
// a sign: its consumer has then delivered what came here, and counts none as waiting.
func TestSeveralFiltersAtTheHead(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	cfg := calm()
	cfg.Subjects = []string{"orders.a", "orders.b"}
	r := b.open(cfg)
	const each, publishers = 6000, 4
	subjects := []string{"orders.a", "orders.b", "orders.z"}
	var publishing sync.WaitGroup
	t.Cleanup(publishing.Wait)
	for p := range publishers {
		js, err := jetstream.New(b.connect(b.server.URL()))
		b.must(err)
		publishing.Go(func() {
			for i := range each {
				if _, err := js.Publish(b.ctx, subjects[(i+p)%3], []byte(strconv.Itoa(i))); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	old := b.direct.ConnectedServerVersion() == "2.10.7"
	stored := publishers * each / 3 * 2
	ctx, stop := context.WithCancel(b.ctx)
	defer stop()
	var read atomic.Int64
	var reading sync.WaitGroup
	reading.Go(func() {
		for last := uint64(0); ; read.Add(1) {
			m, err := r.Next(ctx)
			if ctx.Err() != nil {
				return
			}
			if err != nil || m.Sequence <= last || m.Subject == "orders.z" {
				t.Errorf("sequence %d of %s after %d, %v", m.Sequence, m.Subject, last, err)
				return
			}
			last = m.Sequence
		}
	})
	publishing.Wait()
	b.eventually("all that the server delivers is read", func() bool {
		c, err := b.admin.Consumer(b.ctx, b.stream, r.Status().Session.Consumer)
		b.must(err)
		info, n := c.CachedInfo(), int(read.Load())
		return t.Failed() || info.NumPending == 0 && info.Delivered.Consumer == uint64(n) && (n == stored || old)
	})
	stop()
	reading.Wait()
	s := r.Status()
	t.Logf("%s: read %d of %d", b.direct.ConnectedServerVersion(), read.Load(), stored)
	if s.Missed != 0 || s.Session.Number != 1 {
		t.Fatalf("status %+v\n%s", s, b.story())
	}
	if lost := stored - int(read.Load()); lost > stored/100 {
		t.Fatalf("%d of %d were passed over", lost, stored)
	}
}
