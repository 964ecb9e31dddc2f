package reader_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/reader"
)

func TestStarts(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	r := b.open(calm())
	b.expect(r, 1, 5)
	fifth := r.Position()
	m, err := r.Next(b.ctx)
	b.must(err)
	stored := m.Timestamp
	for _, c := range []struct {
		name  string
		start reader.Start
		first int
	}{
		{"start", reader.FromStart(), 1},
		{"new", reader.FromNew(), 11},
		{"last", reader.FromLast(), 10},
		{"sequence", reader.FromSequence(4), 4},
		{"sequence to come", reader.FromSequence(11), 11},
		{"time", reader.FromTime(stored), 6},
		{"position", reader.FromPosition(fifth), 6},
		{"no position", reader.FromPosition(reader.Position{}), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := calm()
			cfg.Start = c.start
			r := b.open(cfg)
			if c.first <= 10 {
				b.expect(r, c.first, 10)
			}
			if s := r.Status(); s.Missed != 0 || s.Session.Number != 1 {
				t.Fatalf("status %+v", s)
			}
		})
	}
	cfg := calm()
	cfg.Start = reader.FromNew()
	fresh := b.open(cfg)
	if p := fresh.Position(); p.Sequence != 10 {
		t.Fatalf("position before the first message %+v, want sequence 10", p)
	}
	b.publish(11, 12)
	b.expect(fresh, 11, 12)
}

// A start is evaluated once: what is published while the first session dies
// before it read anything is not skipped.
func TestFromNewIsEvaluatedOnce(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	cfg := hasty(calm())
	cfg.Start = reader.FromNew()
	r := b.open(cfg)
	undo := b.fault("api-timeout")
	b.must(b.admin.DeleteConsumer(b.ctx, b.stream, r.Status().Session.Consumer))
	b.publish(11, 110)
	b.await("replace_failed", 2)
	undo()
	b.expect(r, 11, 110)
}

func TestFromLastPerSubject(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publishTo("orders.a", 1, 3)
	b.publishTo("orders.b", 4, 6)
	b.publishTo("orders.c", 7, 9)
	cfg := calm()
	cfg.Start = reader.FromLastPerSubject()
	r := b.open(cfg)
	b.expect(r, 3, 3)
	b.expect(r, 6, 6)
	b.expect(r, 9, 9)
	b.publishTo("orders.a", 10, 12)
	b.expect(r, 10, 12)
	if s := r.Status(); s.Missed != 0 || s.Gaps != 0 {
		t.Fatalf("status %+v", s)
	}
}

// A replacement in the middle of the snapshot takes the rest of it, then goes on
// by sequence: an update that came meanwhile is read as new.
func TestFromLastPerSubjectThroughAReplacement(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	for i := range 20 {
		b.publishTo("orders."+strconv.Itoa(i), i+1, i+1)
	}
	cfg := calm()
	cfg.Start = reader.FromLastPerSubject()
	cfg.Pull.MaxMessages = 4
	r := b.open(cfg)
	b.expect(r, 1, 3)
	b.publishTo("orders.0", 21, 22)
	b.must(b.admin.DeleteConsumer(b.ctx, b.stream, r.Status().Session.Consumer))
	b.expect(r, 4, 22)
	b.publishTo("orders.1", 23, 25)
	b.expect(r, 23, 25)
	if s := r.Status(); s.Missed != 0 {
		t.Fatalf("missed %d; %s", s.Missed, b.story())
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	for i := 1; i <= 30; i++ {
		b.publishTo("orders."+string(rune('a'+i%3)), i, i)
	}
	for _, c := range []struct {
		name    string
		filters []string
		want    []int
	}{
		{"one", []string{"orders.a"}, []int{3, 6, 9, 12, 15, 18, 21, 24, 27, 30}},
		{"two", []string{"orders.a", "orders.b"}, []int{1, 3, 4, 6, 7, 9, 10}},
		{"wildcard", []string{"orders.*"}, []int{1, 2, 3, 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := calm()
			cfg.Subjects = c.filters
			r := b.open(cfg)
			for i, w := range c.want {
				b.expect(r, w, w)
				if i == 2 {
					b.must(b.admin.DeleteConsumer(b.ctx, b.stream, r.Status().Session.Consumer))
				}
			}
			if s := r.Status(); s.Missed != 0 || s.Gaps != 0 {
				t.Fatalf("status %+v", s)
			}
		})
	}
}

// A start beyond the stream's end is waited for, also through a replacement, and
// is no sign of a stream that was rolled back.
func TestSequenceBeyondTheEndIsWaitedFor(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	cfg := calm()
	cfg.Start = reader.FromSequence(15)
	r := b.open(cfg)
	b.must(r.Replace(b.ctx))
	b.publish(11, 12)
	b.must(r.Replace(b.ctx))
	waiting := calm()
	waiting.Start = reader.FromPosition(r.Position())
	resumed := b.open(waiting)
	b.publish(13, 20)
	b.expect(r, 15, 20)
	b.expect(resumed, 15, 20)
	if n := b.count("stream_reset"); n != 0 {
		t.Fatalf("told %d resets\n%s", n, b.story())
	}
}

func TestStreamIsFoundBySubject(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 3)
	cfg := calm()
	cfg.Stream, cfg.Subjects = "", []string{"orders.new"}
	r := b.open(cfg)
	b.expect(r, 1, 3)
	if s := r.Status().Stream; s != "ORDERS" {
		t.Fatalf("stream %q", s)
	}
}

func TestPositionSurvivesJSON(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	r := b.open(calm())
	b.expect(r, 1, 7)
	data, err := r.Position().MarshalJSON()
	b.must(err)
	var p reader.Position
	b.must(p.UnmarshalJSON(data))
	cfg := calm()
	cfg.Stream, cfg.Start = "", reader.FromPosition(p)
	cfg.Stream = p.Stream
	b.expect(b.open(cfg), 8, 10)
	if err := p.UnmarshalJSON([]byte(`{"schema":"other/v9","sequence":3}`)); err == nil {
		t.Fatal("took another schema")
	}
	if p.Sequence != 7 || p.Time.IsZero() || p.StreamCreated.IsZero() || time.Since(p.Time) > time.Hour {
		t.Fatalf("position %+v", p)
	}
}

func TestStreamOfAPositionMustFit(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	cfg := calm()
	cfg.Start = reader.FromPosition(reader.Position{Stream: "OTHER", Sequence: 3})
	if _, err := reader.Open(b.ctx, b.js, cfg); !errors.Is(err, reader.ErrConfig) {
		t.Fatalf("got %v, want ErrConfig", err)
	}
}
