package tui

import (
	"time"

	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

// Of a run that replaces its sessions without end so much is kept.
const (
	maxSessions = 1000
	maxSteps    = 60 // of one replacement
)

// sessionBook is the lineage of a reader's sessions, as its events tell it.
type sessionBook struct {
	rows      []sessionRow // the newest last
	forgotten int
	deafSince time.Time // the session in use has not answered since; zero: it does
	silent    bool
	lost      bool
	cause     reader.Cause // of the running recovery
	attempt   int
	longest   time.Duration
	pending   []step // of the running recovery
}

// sessionRow is one session.
type sessionRow struct {
	number          int
	consumer, inbox string
	from, to        time.Time     // to is zero while it is in use
	cause           reader.Cause  // why it ended
	deaf, took      time.Duration // before it was in use
	missed          uint64
	dropped         uint64
	healed          int
	steps           []step // how it came to be
}

// step is one thing that happened on the way to a session.
type step struct {
	time time.Time
	text string
}

func (b *sessionBook) event(e reader.Event, line string) {
	switch e.Kind {
	case session.KindSessionOpened, session.KindSessionReplaced:
		b.open(e, line)
	case session.KindSessionSilent:
		b.begin(e)
		b.silent = true
	case session.KindSessionLost:
		b.begin(e)
		b.lost, b.cause = true, e.Cause
	case session.KindSessionHealed:
		b.longest = max(b.longest, e.Deaf)
		if row := b.current(); row != nil {
			row.healed++
		}
		b.over()
	case session.KindReplaceFailed:
		b.attempt = max(b.attempt, e.Attempt+1)
	case session.KindRetryWaiting:
		b.attempt = max(b.attempt, e.Attempt)
	case session.KindMissed, session.KindSkipped:
		if row := b.current(); row != nil {
			row.missed += e.Count
		}
	case session.KindDuplicate:
		if row := b.current(); row != nil {
			row.dropped += max(e.Count, 1)
		}
	case session.KindClosed, session.KindFailed:
		if row := b.current(); row != nil && row.to.IsZero() {
			row.to = e.Time
		}
		b.over()
	}
	b.note(e, line)
}

// open takes a new session into use.
func (b *sessionBook) open(e reader.Event, line string) {
	if row := b.current(); row != nil && row.to.IsZero() {
		row.to, row.cause = e.Time, e.Cause
	}
	b.longest = max(b.longest, e.Deaf)
	steps := append(b.pending, step{e.Time, line})
	b.over()
	b.rows = append(b.rows, sessionRow{
		number: e.Session, consumer: e.Consumer, inbox: e.Inbox, from: e.Time, deaf: e.Deaf, took: e.Took, steps: steps,
	})
	if len(b.rows) > maxSessions {
		b.rows = b.rows[1:]
		b.forgotten++
	}
}

// begin notes that the session in use answers no more.
func (b *sessionBook) begin(e reader.Event) {
	if b.deafSince.IsZero() {
		b.deafSince = e.Time.Add(-e.Deaf)
		if row := b.current(); row != nil && e.Deaf > 0 {
			b.pending = append(b.pending, step{b.deafSince, "last answer heard"})
		}
	}
	if b.attempt == 0 {
		b.attempt = 1
	}
}

// over ends the running recovery.
func (b *sessionBook) over() {
	b.deafSince, b.silent, b.lost, b.cause, b.attempt, b.pending = time.Time{}, false, false, "", 0, nil
}

// note keeps an event as a step: of the recovery that runs, or of the replacement that has just been made.
func (b *sessionBook) note(e reader.Event, line string) {
	if line == "" || e.Kind == session.KindSessionOpened || e.Kind == session.KindSessionReplaced {
		return
	}
	if !b.deafSince.IsZero() || len(b.rows) == 0 {
		if len(b.pending) < maxSteps {
			b.pending = append(b.pending, step{e.Time, line})
		}
		return
	}
	row := b.current()
	behind := e.Kind == session.KindSessionRetired || e.Kind == session.KindOrphanLeft || e.Kind == session.KindOrphanRemoved ||
		e.Kind == session.KindAPIRequest && e.Time.Sub(row.from) < time.Minute
	if behind && len(row.steps) < maxSteps {
		row.steps = append(row.steps, step{e.Time, line})
	}
}

// inUse keeps what a status says of the session, for one whose opening was not told.
func (b *sessionBook) inUse(s reader.SessionStatus) {
	if s.Number == 0 {
		return
	}
	if row := b.current(); row == nil || row.number < s.Number {
		b.rows = append(b.rows, sessionRow{number: s.Number, consumer: s.Consumer, inbox: s.Inbox, from: s.Created})
	}
}

func (b *sessionBook) current() *sessionRow {
	if len(b.rows) == 0 {
		return nil
	}
	return &b.rows[len(b.rows)-1]
}

// replaced is how many sessions were replaced.
func (b *sessionBook) replaced() int { return max(len(b.rows)+b.forgotten-1, 0) }
