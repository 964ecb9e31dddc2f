package reader_test

import (
	"slices"
	"testing"
	"time"
)

// aged is the stream whose messages were taken by their age, all of them.
func (b *bed) aged() {
	b.Helper()
	s, err := b.admin.Stream(b.ctx, b.stream)
	b.must(err)
	cfg := s.CachedInfo().Config
	cfg.MaxAge, cfg.Duplicates = 100*time.Millisecond, 100*time.Millisecond
	_, err = b.admin.UpdateStream(b.ctx, cfg)
	b.must(err)
	b.eventually("all is too old", func() bool {
		info, err := s.Info(b.ctx)
		b.must(err)
		return info.State.Msgs == 0
	})
	cfg.MaxAge = 0
	_, err = b.admin.UpdateStream(b.ctx, cfg)
	b.must(err)
}

// What max_age takes from a reader that lags is told: exactly without a filter, with
// one or several as bounds that hold it; what comes later is read, and the consumer is
// looked at again once at most. Of a durable it is not told: others may have read it.
func TestMissedByMaxAge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		subjects []string
		others   bool // the stream holds what no filter takes, too
		durable  bool
		exact    bool
	}{
		{name: "no filter", exact: true},
		{name: "one filter", subjects: []string{"orders.a"}, others: true},
		{name: "several filters", subjects: []string{"orders.a", "orders.b"}, others: true},
		{name: "several filters that take all", subjects: []string{"orders.a", "orders.b"}},
		{name: "durable", durable: true},
		{name: "durable of several filters", subjects: []string{"orders.a", "orders.b"}, durable: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBacklog(t)
			fill := []string{"orders.a", "orders.b"}
			if c.others {
				fill = append(fill, "orders.z")
			}
			b.turns(20, fill...)
			cfg := calm()
			if c.durable {
				cfg = durable()
			}
			cfg.Subjects, cfg.Pull.MaxMessages, cfg.Pull.Expires = c.subjects, 5, 4*time.Second
			r := b.open(cfg)
			b.full(r)
			aged := uint64(b.last)
			b.aged()
			b.turns(20, fill...)
			var wanted []uint64
			for n := 1; n <= b.last; n++ {
				if subject := fill[(n-1)%len(fill)]; len(c.subjects) == 0 || slices.Contains(c.subjects, subject) {
					wanted = append(wanted, uint64(n))
				}
			}
			read := map[uint64]bool{}
			for last := uint64(0); last < wanted[len(wanted)-1]; {
				m, err := r.Next(b.ctx)
				b.must(err)
				if c.durable {
					b.must(m.Ack())
				}
				if m.Sequence <= last {
					t.Fatalf("read %d after %d\n%s", m.Sequence, last, b.story())
				}
				last, read[m.Sequence] = m.Sequence, true
			}
			b.eventually("what is gone is told", func() bool {
				missed := b.missed()
				return c.durable || !slices.ContainsFunc(wanted, func(n uint64) bool { return n <= aged && !read[n] && !missed[n] })
			})
			for _, n := range wanted {
				if n > aged && !read[n] {
					t.Errorf("%d is there, and was not read", n)
				}
			}
			if s := r.Status(); c.exact && int(s.Missed) != len(wanted)-len(read) {
				t.Errorf("missed %d, want %d", s.Missed, len(wanted)-len(read))
			}
			if n := b.doubts(); t.Failed() || n > 1 || n > 0 && (b.sound() || len(c.subjects) < 2) {
				t.Fatalf("%d replacements\n%s", n, b.story())
			}
		})
	}
}

// missed are the sequences that were told to be gone.
func (b *bed) missed() map[uint64]bool {
	all := map[uint64]bool{}
	for _, e := range b.seen() {
		if e.Kind == "missed" {
			for n := e.From; n <= e.To; n++ {
				all[n] = true
			}
		}
	}
	return all
}
