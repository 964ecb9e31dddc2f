package session

import (
	"math/rand"
	"testing"
	"time"
)

func TestPullsCountTotalsAndEnds(t *testing.T) {
	var p pulls
	a := p.send(0, Pull{Batch: 10, MaxBytes: 1000, Expires: time.Second})
	b := p.send(time.Millisecond, Pull{Batch: 5, MaxBytes: 500, Expires: time.Second})
	for range 3 {
		p.received(2*time.Millisecond, 100)
	}
	if p.msgs != 12 || p.bytes != 1200 {
		t.Fatalf("after three messages %d messages and %d bytes are owed, want 12 and 1200", p.msgs, p.bytes)
	}
	// The messages came two of a and one of b; a's end says so.
	q, ok := p.end(Status{Token: a.Token, HasPending: true, PendingMessages: 8, PendingBytes: 800})
	if !ok || !q.served || p.msgs != 4 || p.bytes != 400 {
		t.Fatalf("after a's end: %+v %v, %d messages and %d bytes are owed, want 4 and 400", q, ok, p.msgs, p.bytes)
	}
	if _, ok := p.end(Status{Token: a.Token}); ok {
		t.Fatal("a ended twice")
	}
	if !p.outstanding() {
		t.Fatal("b is outstanding")
	}
	p.end(Status{Token: b.Token})
	if p.outstanding() || p.msgs != 0 || p.bytes != 0 {
		t.Fatalf("all ended: %d messages and %d bytes are owed", p.msgs, p.bytes)
	}
}

func TestPullsLapseOneByOne(t *testing.T) {
	var p pulls
	a := p.send(0, Pull{Batch: 10, Expires: 30 * time.Second})
	b := p.send(0, Pull{Batch: 10, Expires: 30 * time.Second})
	p.beat(3*time.Second, b.Token)
	if at, _ := p.lapses(4 * time.Second); at != 4*time.Second {
		t.Fatalf("a lapses at %v, want 4s: nothing was heard of it", at)
	}
	if !p.lapse(4*time.Second, 4*time.Second) || p.msgs != 10 {
		t.Fatalf("%d messages are owed after a lapsed, want 10", p.msgs)
	}
	if _, ok := p.end(Status{Token: a.Token}); ok {
		t.Fatal("a lapsed and is still known")
	}
	if p.lapse(6999*time.Millisecond, 4*time.Second) || !p.lapse(7*time.Second, 4*time.Second) {
		t.Fatal("b lapses at 7s")
	}
}

// TestAskKeepsWithinPull: whatever comes and goes, what is buffered and what is
// asked for never exceed Pull, and room for a whole pull is always used.
func TestAskKeepsWithinPull(t *testing.T) {
	for seed := range int64(300) {
		r := rand.New(rand.NewSource(seed))
		c := Config{MaxMessages: 1 + r.Intn(50), MaxBytes: 100 + r.Intn(10000), Expires: 30 * time.Second, Heartbeat: 2 * time.Second}
		var l Limits
		if r.Intn(3) == 0 {
			l = Limits{Batch: r.Intn(20), Bytes: r.Intn(5000), Expires: time.Duration(r.Intn(3)) * time.Second}
		}
		var p pulls
		var b buffer
		for step := range 400 {
			now := time.Duration(step) * time.Millisecond
			playAsk(r, now, &c, &p, &b, l)
			if b.msgs+p.msgs > c.MaxMessages || b.bytes+p.bytes > c.MaxBytes {
				t.Fatalf("seed %d step %d: %d+%d messages of %d, %d+%d bytes of %d",
					seed, step, b.msgs, p.msgs, c.MaxMessages, b.bytes, p.bytes, c.MaxBytes)
			}
		}
		b, p = buffer{}, pulls{}
		q, ok := c.ask(b, &p, l, 0, 0)
		if !ok || q.Batch < 1 || q.MaxBytes < 1 || q.Heartbeat > q.Expires/2 {
			t.Fatalf("seed %d: nothing is asked for with all the room there is: %+v", seed, q)
		}
	}
}

func playAsk(r *rand.Rand, now time.Duration, c *Config, p *pulls, b *buffer, l Limits) {
	switch r.Intn(4) {
	case 0:
		if q, ok := c.ask(*b, p, l, b.size*r.Intn(2), 1+r.Intn(1000)); ok {
			p.send(now, q)
		}
	case 1:
		if size := 1 + r.Intn(200); p.outstanding() && size <= p.bytes {
			p.received(now, size)
			b.weigh(size)
			b.msgs, b.bytes = b.msgs+1, b.bytes+size
		}
	case 2:
		if len(p.open) > 0 {
			q := p.open[r.Intn(len(p.open))]
			p.end(Status{Token: q.Token, HasPending: r.Intn(2) == 0, PendingMessages: r.Intn(q.Batch + 1), PendingBytes: r.Intn(q.MaxBytes + 1)})
		}
	case 3:
		if b.msgs > 0 {
			taken := 1 + r.Intn(b.msgs)
			b.bytes -= b.bytes * taken / b.msgs
			if b.msgs -= taken; b.msgs == 0 {
				b.bytes = 0
			}
		}
	}
}
