package tui

import (
	"time"

	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

// book is what is known of a run: the items that were told, folded. The same items give the same book.
type book struct {
	began   time.Time // of the first item
	last    time.Time // of the newest
	names   []string  // of the readers
	readers []*readerBook
	lines   lines
	faults  faultBook
	dropped int // items that came too fast
	items   int // that were told
}

// readerBook is what is known of one reader.
type readerBook struct {
	snapshot Snapshot
	known    bool // there is a snapshot
	sessions sessionBook
	rates    rateBook
	contract *Contract
	denied   string // the subject of the last refusal, while the session it broke is not replaced
	failed   string // why it ended
	ended    time.Time
}

func newBook(names []string) *book {
	b := &book{names: names}
	for range max(len(names), 1) {
		b.readers = append(b.readers, &readerBook{})
	}
	return b
}

// add folds an item in.
func (b *book) add(i Item) {
	b.items++
	if b.began.IsZero() {
		b.began = i.Time
	}
	if i.Time.After(b.last) {
		b.last = i.Time
	}
	if i.Line != "" {
		b.lines.add(entry{time: i.Time, reader: i.Reader, source: i.Source, text: i.Line})
	}
	if i.Fault != nil {
		b.faults.add(i.Time, *i.Fault)
	}
	if i.Reader < 0 || i.Reader >= len(b.readers) {
		return
	}
	r := b.readers[i.Reader]
	if i.Event != nil {
		r.event(*i.Event, i.Line)
	}
	if i.Snapshot != nil {
		r.snapshot, r.known = *i.Snapshot, true
		r.rates.add(i.Time, i.Snapshot.Status.Delivered, i.Snapshot.Status.Bytes)
		r.sessions.inUse(i.Snapshot.Status.Session)
	}
	if i.Contract != nil {
		r.contract = i.Contract
	}
}

func (r *readerBook) event(e reader.Event, line string) {
	r.sessions.event(e, line)
	switch e.Kind {
	case session.KindPermissionDenied:
		r.denied = e.Text
		if r.denied == "" {
			r.denied = "a subject"
		}
	case session.KindSessionReplaced, session.KindSessionHealed, session.KindSessionOpened:
		r.denied = ""
	case session.KindFailed:
		r.ended = e.Time
		if e.Err != nil {
			r.failed = e.Err.Error()
		}
	case session.KindClosed:
		r.ended = e.Time
	}
}

// status is the newest snapshot; before the first a reader is opening.
func (r *readerBook) status() reader.Status {
	if !r.known {
		return reader.Status{State: reader.StateOpening}
	}
	return r.snapshot.Status
}

// deafFor is how long the session in use has been deaf so far; 0: it is not.
func (r *readerBook) deafFor(now time.Time) time.Duration {
	if r.sessions.deafSince.IsZero() {
		return 0
	}
	return now.Sub(r.sessions.deafSince)
}

// longestDeaf is the longest time without a session that answers, the running one included.
func (r *readerBook) longestDeaf(now time.Time) time.Duration {
	return max(r.sessions.longest, r.deafFor(now))
}
