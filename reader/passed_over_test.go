package reader_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
)

// backlog is a stream whose payloads are its sequences, and a reader of two filters
// that has four or five messages in its buffer and no pull out.
type backlog struct {
	*bed
	last int
}

func (b *backlog) pub(subject string, n int) {
	b.Helper()
	b.publishTo(subject, b.last+1, b.last+n)
	b.last += n
}

// turns publishes n messages to each subject, in turns.
func (b *backlog) turns(n int, subjects ...string) {
	b.Helper()
	for range n {
		for _, s := range subjects {
			b.pub(s, 1)
		}
	}
}

func (b *backlog) purge(subject string, options ...jetstream.StreamPurgeOpt) {
	b.Helper()
	s, err := b.admin.Stream(b.ctx, b.stream)
	b.must(err)
	b.must(s.Purge(b.ctx, append(options, jetstream.WithPurgeSubject(subject))...))
}

// held gives the sequences above after that the stream holds on subjects a filter takes.
func (b *backlog) held(after int) (all []int) {
	b.Helper()
	s, err := b.admin.Stream(b.ctx, b.stream)
	b.must(err)
	for i := after + 1; i <= b.last; i++ {
		m, err := s.GetMsg(b.ctx, uint64(i))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		b.must(err)
		if !strings.HasPrefix(m.Subject, "orders.z") {
			all = append(all, i)
		}
	}
	return all
}

// lag opens a reader and takes some messages, and waits until the buffer is full
// again and the reader can tell what is stored from then on from what waited: it knows
// the server's clock as well as an answer's round trip tells.
func (b *backlog) lag(cfg reader.Config, taken int) *reader.Reader {
	b.Helper()
	began := time.Now()
	r := b.open(cfg)
	trip := time.Since(began)
	b.expect(r, 1, taken)
	b.full(r)
	full := time.Now()
	b.eventually("a round trip has passed", func() bool { return time.Since(full) > trip })
	return r
}

func (b *backlog) full(r *reader.Reader) {
	b.Helper()
	b.eventually("the buffer is full", func() bool { return r.Status().Buffered >= 4 && r.Status().State == reader.StateBufferFull })
}

// reads takes messages up to the last one held, all of those in held and in order. What
// was in the buffer before may come, too.
func (b *backlog) reads(r *reader.Reader, taken int, held []int) {
	b.Helper()
	for len(held) > 0 {
		m, err := r.Next(b.ctx)
		if err != nil {
			b.Fatalf("next %d: %v\n%s", held[0], err, b.story())
		}
		n := int(m.Sequence)
		if n <= taken || n > held[0] {
			b.Fatalf("read %d after %d, not %d\n%s", n, taken, held[0], b.story())
		}
		if taken = n; n == held[0] {
			held = held[1:]
		}
	}
}

func (b *backlog) doubts() (n int) {
	for _, e := range b.seen() {
		if e.Kind == "session_lost" && e.Cause == "passed_over" {
			n++
		}
	}
	return n
}

// sound says whether the server is free of the fault that the tests are about.
func (b *backlog) sound() bool {
	v := b.direct.ConnectedServerVersion()
	return v == "2.14.10" || strings.HasPrefix(v, "2.15.")
}

func newBacklog(t *testing.T, options ...func(*jetstream.StreamConfig)) *backlog {
	t.Helper()
	return &backlog{bed: withStream(t, append(options, func(c *jetstream.StreamConfig) { c.AllowRollup = true })...)}
}

func twoFilters(a, b string) reader.Config {
	cfg := calm()
	cfg.Subjects = []string{a, b}
	cfg.Pull.MaxMessages = 5
	return cfg
}

// What takes messages of one filter away leaves those of the other, on every server.
func TestNothingThatTheStreamHoldsIsPassedOver(t *testing.T) {
	t.Parallel()
	one := func(b *backlog) { b.pub("orders.a", 20); b.pub("orders.b", 20) }
	mixed := func(b *backlog) { b.turns(20, "orders.a", "orders.b") }
	for _, c := range []struct {
		name    string
		filters [2]string
		fill    func(*backlog)
		act     func(*backlog)
		most    int // replacements for it
	}{
		{"purge", [2]string{}, one, func(b *backlog) { b.purge("orders.a"); b.pub("orders.b", 10) }, 1},
		{"purge hidden by publishes", [2]string{}, one, func(b *backlog) { b.purge("orders.a"); b.pub("orders.b", 40) }, 1},
		{"purge and quiet", [2]string{}, one, func(b *backlog) { b.purge("orders.a") }, 1},
		{"purge and another subject", [2]string{}, one, func(b *backlog) { b.purge("orders.a"); b.pub("orders.z", 30); b.pub("orders.b", 30) }, 1},
		{"purge of what was read", [2]string{}, func(b *backlog) { b.pub("orders.a", 8); b.pub("orders.b", 20) },
			func(b *backlog) { b.purge("orders.a"); b.pub("orders.b", 5) }, 1},
		{"purge of what was read up to one in the middle", [2]string{}, func(b *backlog) {
			b.pub("orders.a", 88)
			b.pub("orders.b", 20)
			b.pub("orders.a", 2)
			b.pub("orders.b", 5)
		}, func(b *backlog) { b.purge("orders.a", jetstream.WithPurgeKeep(2)) }, 1},
		{"purge of what was read and quiet", [2]string{}, func(b *backlog) { b.pub("orders.a", 8); b.pub("orders.b", 20) },
			func(b *backlog) { b.purge("orders.a") }, 1},
		{"purge of the second", [2]string{}, mixed, func(b *backlog) { b.purge("orders.b"); b.turns(5, "orders.a", "orders.b") }, 1},
		{"purge but two", [2]string{}, mixed, func(b *backlog) { b.purge("orders.a", jetstream.WithPurgeKeep(2)); b.turns(5, "orders.a", "orders.b") }, 1},
		{"purge up to a sequence", [2]string{}, mixed, func(b *backlog) { b.purge("orders.a", jetstream.WithPurgeSequence(30)) }, 1},
		{"purge of wildcards", [2]string{"orders.a.*", "orders.b.>"}, func(b *backlog) { b.turns(20, "orders.a.x", "orders.b.y") },
			func(b *backlog) { b.purge("orders.a.>"); b.turns(20, "orders.a.x", "orders.b.y") }, 1},
		{"purge of both", [2]string{}, mixed, func(b *backlog) { b.purge("orders.>"); b.turns(5, "orders.a", "orders.b") }, 1},
		{"several purges", [2]string{}, mixed, func(b *backlog) {
			b.purge("orders.a")
			b.turns(5, "orders.a", "orders.b")
			b.purge("orders.a")
			b.turns(5, "orders.a", "orders.b")
			b.purge("orders.b", jetstream.WithPurgeKeep(3))
			b.turns(5, "orders.a", "orders.b")
		}, 1},
		{"rollup", [2]string{}, mixed, func(b *backlog) {
			m := nats.NewMsg("orders.a")
			m.Header.Set("Nats-Rollup", "sub")
			b.last++
			m.Data = []byte(strconv.Itoa(b.last))
			_, err := b.admin.PublishMsg(b.ctx, m)
			b.must(err)
			b.turns(5, "orders.a", "orders.b")
		}, 1},
		{"deletes", [2]string{}, mixed, func(b *backlog) {
			s, err := b.admin.Stream(b.ctx, b.stream)
			b.must(err)
			for i := 10; i < 30; i += 3 {
				b.must(s.DeleteMsg(b.ctx, uint64(i)))
			}
		}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBacklog(t)
			c.fill(b)
			if c.filters[0] == "" {
				c.filters = [2]string{"orders.a", "orders.b"}
			}
			taken := 3
			if b.last > 100 {
				taken = 83
			}
			r := b.lag(twoFilters(c.filters[0], c.filters[1]), taken)
			c.act(b)
			b.reads(r, taken, b.held(taken))
			// What comes later comes too, and the count starts afresh.
			b.turns(3, strings.Replace(c.filters[0], "*", "x", 1), strings.Replace(c.filters[1], ">", "y", 1))
			b.reads(r, b.last-6, b.held(b.last-6))
			n := b.doubts()
			t.Logf("%s: %d replacements", b.direct.ConnectedServerVersion(), n)
			if n > c.most || n > 0 && b.sound() {
				t.Fatalf("%d replacements, want %d at most\n%s", n, c.most, b.story())
			}
		})
	}
}

// A limit takes messages that wait all the time: the doubt rests, and the reader is not
// replaced again and again.
func TestLimitsUnderALaggingReader(t *testing.T) {
	t.Parallel()
	b := newBacklog(t, func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 1 })
	subjects := []string{}
	for i := range 20 {
		subjects = append(subjects, "orders.a."+num(i), "orders.b."+num(i))
	}
	b.turns(1, subjects...)
	r := b.open(twoFilters("orders.a.*", "orders.b.*"))
	last := 0
	take := func() {
		m, err := r.Next(b.ctx)
		b.must(err)
		if int(m.Sequence) <= last {
			t.Fatalf("read %d after %d\n%s", m.Sequence, last, b.story())
		}
		last = int(m.Sequence)
	}
	for i := range 300 {
		b.pub(subjects[i*7%len(subjects)], 1)
		if i%3 == 0 {
			take()
		}
	}
	b.reads(r, last, b.held(last))
	n := b.doubts()
	t.Logf("%s: %d replacements", b.direct.ConnectedServerVersion(), n)
	if n > 4 || n > 0 && b.sound() {
		t.Fatalf("%d replacements\n%s", n, b.story())
	}
}

// A durable is never made anew: what its server passes over is told.
func TestDurableTellsWhatWasPassedOver(t *testing.T) {
	t.Parallel()
	b := newBacklog(t)
	b.pub("orders.a", 20)
	b.pub("orders.b", 20)
	cfg := twoFilters("orders.a", "orders.b")
	cfg.Durable = "D"
	r := b.lag(cfg, 3)
	taken := 3
	b.purge("orders.a")
	b.pub("orders.b", 30)
	held := b.held(8)
	told := false
	for len(held) > 0 {
		m, err := r.Next(b.ctx)
		b.must(err)
		b.must(m.Ack())
		n := int(m.Sequence)
		switch {
		case n <= taken:
			t.Fatalf("read %d after %d\n%s", n, taken, b.story())
		case n <= 8:
		case n != held[0] && !told:
			e := b.await("missed", 1)
			if e.From != 9 || e.To != uint64(n-1) || e.Count == 0 || b.sound() {
				t.Fatalf("read %d, not %d; told %+v", n, held[0], e)
			}
			told = true
			fallthrough
		default:
			for held[0] < n {
				held = held[1:]
			}
			held = held[1:]
		}
		taken = n
	}
	if n := b.count("missed"); told != (n == 1) {
		t.Fatalf("passed over: %t, told %d times\n%s", told, n, b.story())
	}
	if n := b.count("session_replaced"); n != 0 {
		t.Fatalf("%d replacements\n%s", n, b.story())
	}
}
