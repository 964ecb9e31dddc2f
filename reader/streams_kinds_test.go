package reader_test

import (
	"fmt"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
)

// replace takes the reader's consumer away and waits for the next session.
func (b *bed) replace(r *reader.Reader) {
	b.Helper()
	n := r.Status().Session.Number
	b.deleteConsumer(r)
	b.eventually("the session is replaced", func() bool { return r.Status().Session.Number > n })
}

func (b *bed) sequences(r *reader.Reader, want ...uint64) {
	b.Helper()
	for _, seq := range want {
		m, err := r.Next(b.ctx)
		b.must(err)
		if m.Sequence != seq {
			b.Fatalf("got sequence %d, want %d\n%s", m.Sequence, seq, b.story())
		}
	}
}

func TestStreamsSeveralFilters(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	for range 10 {
		b.publishTo("orders.a", 1, 1)
		b.publishTo("orders.x", 1, 1)
		b.publishTo("orders.b.c", 1, 1)
	}
	cfg := quick()
	cfg.Subjects = []string{"orders.a", "orders.b.*"}
	r := b.open(cfg)
	b.sequences(r, 1, 3, 4, 6, 7, 9)
	b.replace(r)
	b.sequences(r, 10, 12, 13, 15)
	b.fault("drop-subscription")
	b.sequences(r, 16, 18, 19, 21, 22, 24, 25, 27, 28, 30)
	b.publishTo("orders.x", 1, 5)
	b.replace(r) // only what is filtered away lies beyond the cursor
	b.publishTo("orders.a", 1, 1)
	b.sequences(r, 36)
	if s := r.Status(); s.Missed != 0 || s.Delivered != 21 {
		t.Fatalf("status %+v", s)
	}
	cfg.StopAtEnd = true
	r = b.open(cfg)
	n := 0
	for _, err := range r.Messages(b.ctx) {
		b.must(err)
		n++
	}
	if n != 21 {
		t.Fatalf("%d messages to the end, want 21", n)
	}
}

func TestStreamsHeadersOnly(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 6)
	cfg := quick()
	cfg.HeadersOnly = true
	r := b.open(cfg)
	read := func(from, to uint64) {
		for seq := from; seq <= to; seq++ {
			m, err := r.Next(b.ctx)
			b.must(err)
			if m.Sequence != seq || len(m.Data) != 0 || m.Header.Get("Nats-Msg-Size") != "1" {
				t.Fatalf("sequence %d, %d bytes, size %q", m.Sequence, len(m.Data), m.Header.Get("Nats-Msg-Size"))
			}
		}
	}
	read(1, 3)
	b.replace(r)
	read(4, 6)
	b.fault("drop-subscription")
	b.publish(7, 9)
	read(7, 9)
}

// A mirror that is made again keeps its origin's sequences: nothing was reset, the
// reader goes on where it was.
func TestStreamsMirrorMadeAgain(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	mirror := jetstream.StreamConfig{Name: "COPY", Mirror: &jetstream.StreamSource{Name: b.stream}}
	_, err := b.admin.CreateStream(b.ctx, mirror)
	b.must(err)
	b.publish(1, 10)
	b.stream = "COPY"
	cfg := calm()
	cfg.Stream = b.stream
	r := b.open(cfg)
	b.expect(r, 1, 10)
	b.must(b.admin.DeleteStream(b.ctx, b.stream))
	b.publish(11, 15)
	_, err = b.admin.CreateStream(b.ctx, mirror)
	b.must(err)
	b.publish(16, 20)
	b.expect(r, 11, 20)
	if s := r.Status(); s.Missed != 0 || b.count("stream_reset") != 0 {
		t.Fatalf("status %+v\n%s", s, b.story())
	}
	b.replace(r)
	b.publish(21, 25)
	b.expect(r, 21, 25)
}

// A stream of sources numbers on its own: made again it is another stream.
func TestStreamsSourced(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	_, err := b.admin.CreateStream(b.ctx, jetstream.StreamConfig{Name: "MORE", Subjects: []string{"more.>"}})
	b.must(err)
	sourced := jetstream.StreamConfig{Name: "ALL", Sources: []*jetstream.StreamSource{{Name: b.stream}, {Name: "MORE"}}}
	_, err = b.admin.CreateStream(b.ctx, sourced)
	b.must(err)
	b.stream = "ALL"
	cfg := calm()
	cfg.Stream = b.stream
	r := b.open(cfg)
	b.publish(1, 5)
	b.expect(r, 1, 5)
	b.publishTo("more.x", 6, 10)
	b.expect(r, 6, 10)
	b.replace(r)
	b.publish(11, 15)
	b.expect(r, 11, 15)
	b.must(b.admin.DeleteStream(b.ctx, b.stream))
	_, err = b.admin.CreateStream(b.ctx, sourced)
	b.must(err)
	b.await("stream_reset", 1)
	got := map[string]int{}
	for range 15 {
		m, err := r.Next(b.ctx)
		b.must(err)
		got[string(m.Data)]++
	}
	if len(got) != 15 {
		t.Fatalf("read %v of the new stream", got)
	}
}

// A snapshot of last messages goes on over replacements: each subject once, then
// what is new, even where subjects change under it.
func TestStreamsSnapshotThroughReplacements(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	for i := range 30 {
		b.publishTo("orders."+num(i), 1, 2)
	}
	cfg := quick()
	cfg.Start = reader.FromLastPerSubject()
	cfg.Pull.MaxMessages = 4 // the rest waits on the server
	r := b.open(cfg)
	seen := map[uint64]bool{}
	last := uint64(0)
	read := func(n int) {
		for range n {
			m, err := r.Next(b.ctx)
			b.must(err)
			if m.Sequence <= last || seen[m.Sequence] {
				t.Fatalf("sequence %d after %d\n%s", m.Sequence, last, b.story())
			}
			seen[m.Sequence], last = true, m.Sequence
		}
	}
	read(8)
	b.deleteConsumer(r)
	read(5)
	b.fault("drop-subscription")
	read(5)
	b.publishTo("orders.3", 3, 3) // read already: it comes again, as new
	b.publishTo("orders.28", 3, 3)
	b.deleteConsumer(r)
	// 12 more of the snapshot; that of subject 28 was overwritten meanwhile or not.
	for last != 62 {
		read(1)
	}
	for i := uint64(1); i <= 30; i++ {
		if !seen[2*i] && i != 29 {
			t.Fatalf("subject %d did not come; read %v\n%s", i-1, seen, b.story())
		}
	}
	if !seen[61] || seen[1] {
		t.Fatalf("read %v\n%s", seen, b.story())
	}
}

// Rollups, purges and limits take messages before their turn; what is left comes
// once and in order, and what is gone is told as missed: exactly, or under a filter,
// at a replacement, as bounds.
func TestStreamsWhatIsGoneIsTold(t *testing.T) {
	t.Parallel()
	purge := func(b *bed) {
		s, err := b.admin.Stream(b.ctx, b.stream)
		b.must(err)
		b.must(s.Purge(b.ctx, jetstream.WithPurgeSequence(40)))
	}
	for _, c := range []struct {
		name   string
		stream func(*jetstream.StreamConfig)
		filter []string
		take   func(*bed, *reader.Reader)
	}{
		{"purge", nil, nil, func(b *bed, _ *reader.Reader) { purge(b) }},
		{"purge under a filter", nil, []string{"orders.new"}, func(b *bed, r *reader.Reader) { purge(b); b.deleteConsumer(r) }},
		{"purge and a replacement", nil, nil, func(b *bed, r *reader.Reader) { purge(b); b.deleteConsumer(r) }},
		{"max messages", func(c *jetstream.StreamConfig) { c.MaxMsgs = 50 }, nil, func(b *bed, _ *reader.Reader) { b.publish(51, 80) }},
		{"max messages of a subject", func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 50 }, nil, func(b *bed, _ *reader.Reader) { b.publish(51, 60) }},
		{"rollup", func(c *jetstream.StreamConfig) { c.AllowRollup = true }, nil, func(b *bed, _ *reader.Reader) {
			msg := message("orders.new", "51")
			msg.Header.Set("Nats-Rollup", "sub")
			_, err := b.admin.PublishMsg(b.ctx, msg)
			b.must(err)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var options []func(*jetstream.StreamConfig)
			if c.stream != nil {
				options = append(options, c.stream)
			}
			b := withStream(t, options...)
			b.publish(1, 50)
			cfg := calm()
			cfg.Pull.MaxMessages, cfg.Subjects = 2, c.filter
			r := b.open(cfg)
			b.sequences(r, 1)
			b.eventually("no more is read ahead", func() bool { return r.Status().Buffered == 2 })
			c.take(b, r)
			b.publish(81, 85)
			last := b.last()
			at, read, jumps := uint64(1), uint64(1), 0
			for ; at < last; read++ {
				m, err := r.Next(b.ctx)
				b.must(err)
				if m.Sequence > at+1 {
					jumps++
				}
				if m.Sequence <= at || jumps > 1 {
					t.Fatalf("sequence %d after %d\n%s", m.Sequence, at, b.story())
				}
				at = m.Sequence
			}
			if s := r.Status(); s.Missed != last-read {
				t.Fatalf("missed %d, in truth %d; status %+v\n%s", s.Missed, last-read, s, b.story())
			}
		})
	}
}

// Messages with a life of their own are gone when it is over (2.11; older servers
// keep them).
func TestStreamsMessageLives(t *testing.T) {
	t.Parallel()
	b := withStream(t, func(c *jetstream.StreamConfig) { c.AllowMsgTTL = true })
	for i := range 20 {
		msg := message("orders.new", num(i+1))
		msg.Header.Set("Nats-TTL", "5s") // the first is read before
		_, err := b.admin.PublishMsg(b.ctx, msg)
		b.must(err)
	}
	cfg := calm()
	cfg.Pull.MaxMessages = 2
	r := b.open(cfg)
	b.sequences(r, 1)
	b.eventually("no more is read ahead", func() bool { return r.Status().Buffered == 2 })
	if !b.since(2, 11) {
		b.expect(r, 2, 20)
		return
	}
	b.eventually("all have died", func() bool {
		s, err := b.admin.Stream(b.ctx, b.stream)
		b.must(err)
		return s.CachedInfo().State.Msgs == 0
	})
	b.publish(21, 25)
	read := uint64(1)
	for seq := uint64(1); seq < 25; read++ {
		m, err := r.Next(b.ctx)
		b.must(err)
		if m.Sequence <= seq {
			t.Fatalf("sequence %d after %d", m.Sequence, seq)
		}
		seq = m.Sequence
	}
	if s := r.Status(); s.Missed != 25-read {
		t.Fatalf("missed %d, in truth %d\n%s", s.Missed, 25-read, b.story())
	}
}

func message(subject, data string) *nats.Msg {
	m := nats.NewMsg(subject)
	m.Data = []byte(data)
	return m
}

// last is the last sequence of the stream.
func (b *bed) last() uint64 {
	b.Helper()
	s, err := b.admin.Stream(b.ctx, b.stream)
	b.must(err)
	return s.CachedInfo().State.LastSeq
}

// since says whether the server is of that version or a newer one.
func (b *bed) since(major, minor int) bool {
	b.Helper()
	version, err := b.server.Version(b.ctx)
	b.must(err)
	var gotMajor, gotMinor int
	if _, err := fmt.Sscanf(version, "%d.%d", &gotMajor, &gotMinor); err != nil {
		b.Fatalf("version %q: %v", version, err)
	}
	return gotMajor > major || gotMajor == major && gotMinor >= minor
}
