package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

// message is one that was published in a drawn history.
type message struct {
	id               string
	attempted, acked time.Duration // acked -1: never
	sequence         uint64
	stored           bool
	told             bool // as missed, and so not read
	earliest, read   time.Duration
}

// history is what is told to an oracle, in any order that its times allow.
type history struct {
	messages []message
	reads    []Delivery // in their order
	events   []reader.Event
	end      Ending
}

// drawHistory makes a history in which a reader does all that it must: writers that take turns, answers that
// come late or never, faults in which nothing is read, and what retention took and was told.
func drawHistory(t *rapid.T) *history {
	h := &history{}
	writers := rapid.IntRange(1, 3).Draw(t, "writers")
	latest := make([]uint64, writers)
	now, sequence := time.Duration(0), uint64(0)
	deafUntil := time.Duration(0)
	for range rapid.IntRange(5, 120).Draw(t, "messages") {
		now += time.Duration(rapid.IntRange(1, 400).Draw(t, "gap")) * ms
		w := rapid.IntRange(0, writers-1).Draw(t, "writer")
		latest[w]++
		sequence++
		m := message{id: ID(fmt.Sprintf("w%d", w), latest[w]), attempted: now, stored: true, sequence: sequence}
		m.acked = now + time.Duration(rapid.IntRange(1, 50).Draw(t, "answer"))*ms
		switch rapid.IntRange(0, 19).Draw(t, "fate") {
		case 0:
			m.acked = -1 // stored, and nobody knows
		case 1:
			m.acked, m.stored = -1, false
			sequence--
		case 2:
			m.told = true
		case 3:
			if now > deafUntil { // the reader reads nothing for a while
				deafUntil = now + time.Duration(rapid.IntRange(1, 5_000).Draw(t, "deaf"))*ms
			}
		}
		m.earliest = max(now+ms, deafUntil)
		h.messages = append(h.messages, m)
	}
	h.hand()
	return h
}

// hand has the messages read in the order of the stream, those of a deaf time behind it.
func (h *history) hand() {
	last := time.Duration(0)
	for i := range h.messages {
		m := &h.messages[i]
		if !m.stored {
			continue
		}
		if m.told {
			h.events = append(h.events, reader.Event{Kind: session.KindMissed, Time: at(max(m.attempted, m.acked) + ms), Session: 1, From: m.sequence, To: m.sequence, Count: 1})
			continue
		}
		m.read = max(m.earliest, last)
		last = m.read
		h.reads = append(h.reads, Delivery{ID: m.id, Sequence: m.sequence, Session: 1, Time: at(m.read)})
	}
	final := h.messages[len(h.messages)-1]
	h.end.Time = at(max(last, final.attempted, final.acked) + time.Second)
}

// judge tells it all in the order of its times; what has the same time, as the tie is drawn.
func (h *history) judge(t *rapid.T, rules Rules) Verdict {
	type step struct {
		at   time.Time
		tell func(*Oracle)
	}
	var steps []step
	for _, m := range h.messages {
		steps = append(steps, step{at(m.attempted), func(o *Oracle) { o.Attempted(m.id, at(m.attempted)) }})
		if m.acked >= 0 {
			steps = append(steps, step{at(m.acked), func(o *Oracle) { o.Acknowledged(m.id, m.sequence, at(m.acked)) }})
		}
	}
	for _, d := range h.reads {
		steps = append(steps, step{d.Time, func(o *Oracle) { o.Read(d) }})
	}
	for _, e := range h.events {
		steps = append(steps, step{e.Time, func(o *Oracle) { o.Event(e) }})
	}
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(nanos(a.at), nanos(b.at)) })
	o := New(rules)
	for _, s := range steps {
		s.tell(o)
	}
	return o.Judge(h.end)
}

func (v Verdict) has(kind Kind, id string) bool {
	return slices.ContainsFunc(v.Violations, func(x Violation) bool {
		return x.Kind == kind && slices.ContainsFunc(x.Samples, func(s Sample) bool { return id == "" || s.ID == id })
	})
}

// A clean history is held, and one in which a single violation is planted is broken by just that.
func TestPlantedViolationsAreFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := Rules{Measure: ByIDs}
		clean := drawHistory(t)
		acknowledged := slices.ContainsFunc(clean.messages, func(m message) bool { return m.acked >= 0 })
		if v := clean.judge(t, rules); acknowledged && v.Finding != Held {
			t.Fatalf("a clean history: %s, %q", v.Finding, v.Reasons())
		}
		h, kind, id := clean.plant(t)
		if kind == "" {
			return
		}
		v := h.judge(t, rules)
		if v.Finding != Broken || !v.has(kind, id) {
			t.Fatalf("planted %s of %q: got %s, %+v", kind, id, v.Finding, v.Violations)
		}
		for _, x := range v.Violations {
			if x.Kind != kind {
				t.Fatalf("planted %s of %q: also %s", kind, id, x.Text)
			}
		}
	})
}

// plant breaks the contract once, and says how; "": the history has no place for it.
func (h *history) plant(t *rapid.T) (broken *history, kind Kind, id string) {
	b := *h
	b.reads = slices.Clone(h.reads)
	kind = rapid.SampledFrom([]Kind{KindLost, KindDuplicated, KindOutOfOrder, KindUnexpected, KindDeaf, KindSilence}).Draw(t, "kind")
	if len(b.reads) == 0 {
		return nil, "", ""
	}
	i := rapid.IntRange(0, len(b.reads)-1).Draw(t, "which")
	d := b.reads[i]
	last := b.reads[len(b.reads)-1].Time
	switch kind {
	case KindLost:
		if m := b.of(d.ID); m.acked < 0 {
			return nil, "", ""
		}
		b.reads = slices.Delete(b.reads, i, i+1)
		b.end.Time = at(max(last.Sub(start), b.last()) + time.Second) // soon: nobody is silent
	case KindDuplicated:
		d.Time = last
		b.reads = append(b.reads, d)
	case KindOutOfOrder:
		if i == len(b.reads)-1 {
			return nil, "", ""
		}
		b.reads[i], b.reads[i+1] = b.reads[i+1], b.reads[i]
		b.reads[i+1].Time = b.reads[i].Time
	case KindUnexpected:
		id = rapid.SampledFrom([]string{"w0-999999", "w0-0", "other-1", "", "w0", "w0-01", "\x00\xff"}).Draw(t, "payload")
		b.reads = append(b.reads, Delivery{ID: id, Time: last})
		if _, _, ok := splitID(id); !ok {
			return &b, kind, ""
		}
		return &b, kind, id
	case KindDeaf:
		b.events = append(slices.Clone(h.events), reader.Event{Kind: session.KindSessionReplaced, Time: b.end.Time, Session: 2, Deaf: 12*time.Second + ms, Cause: session.CauseGap})
		return &b, kind, ""
	case KindSilence:
		n := message{id: "late-1", attempted: b.last() + ms, acked: b.last() + 2*ms, sequence: 1 << 20, stored: true}
		b.messages = append(slices.Clone(h.messages), n)
		b.reads = append(b.reads, Delivery{ID: n.id, Sequence: n.sequence, Session: 1, Time: at(n.acked + 12*time.Second + ms)})
		b.end.Time = at(n.acked + 13*time.Second)
		return &b, kind, ""
	}
	return &b, kind, d.ID
}

func (h *history) of(id string) message {
	i := slices.IndexFunc(h.messages, func(m message) bool { return m.id == id })
	return h.messages[i]
}

// last is when the last thing happened that is no reading.
func (h *history) last() (last time.Duration) {
	for _, m := range h.messages {
		last = max(last, m.attempted, m.acked, m.read)
	}
	return last
}
