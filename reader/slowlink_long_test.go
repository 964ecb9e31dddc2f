//go:build long

package reader_test

import (
	"bytes"
	"testing"
	"time"
)

// Over a link of 100 KB/s, where one message of 1 MiB takes longer than silence, dead
// link, request and proof together, and small ones in bulk a queue of a minute, a
// reader reads at the speed of the link: nothing is lost, nothing is sent twice, and
// the connection is not made anew. Only a link that becomes slow under a reader which
// knew it fast is taken for dead, once.
func TestLongSlowLink(t *testing.T) {
	for _, c := range []struct {
		name           string
		messages, size int
		late           bool // the link is slow only once the reader is open
		forced         int
	}{
		{"slow from the start", 9, 1<<20 - 1024, false, 0},
		{"slow under way", 9, 1<<20 - 1024, true, 1},
		{"many small messages", 3000, 2000, false, 0},
		{"many small messages, slow under way", 3000, 2000, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := withStream(t)
			payload := bytes.Repeat([]byte("x"), c.size)
			for range c.messages {
				_, err := b.admin.PublishAsync("orders.new", payload)
				b.must(err)
			}
			<-b.admin.PublishAsyncComplete()
			slow := "bandwidth(rate=" + num(slowRate) + ")"
			if !c.late {
				b.fault(slow)
			}
			cfg := quick()
			cfg.Observer = b.observe
			began := time.Now()
			r := <-b.opening(cfg)
			if r == nil {
				t.FailNow()
			}
			defer func() { b.must(r.Close(b.ctx)) }()
			if c.late {
				b.fault(slow)
			}
			for i := range c.messages {
				m, err := r.Next(b.ctx)
				b.must(err)
				if m.Sequence != uint64(i+1) {
					t.Fatalf("got sequence %d, want %d\n%s", m.Sequence, i+1, b.story())
				}
			}
			took := time.Since(began)
			link := time.Duration(c.messages*c.size) * time.Second / slowRate
			forced, cut := b.count("connection_forced"), b.count("disconnected")
			t.Logf("%d messages of %d bytes in %s, the link needs %s; connection made anew %d times, %d by us; %d silences, %d sessions %v, deaf for %s, requests %v",
				c.messages, c.size, took.Round(time.Millisecond), link, cut, forced, b.count("session_silent"),
				r.Status().Session.Number, r.Status().Replaced, b.longestDeaf().Round(time.Millisecond), r.Status().APIRequests)
			if forced > c.forced || cut > c.forced {
				t.Fatalf("the connection was made anew %d times, %d of them by us\n%s", cut, forced, b.story())
			}
			// What was on its way when the connection was made anew comes again.
			if limit := link*3/2 + time.Duration(c.forced)*30*time.Second; took > limit {
				t.Fatalf("it took %s, more than %s\n%s", took, limit, b.story())
			}
		})
	}
}
