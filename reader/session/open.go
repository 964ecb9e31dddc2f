package session

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// find asks which stream stores the first subject.
func (m *Machine) find(a *attempt) {
	a.step = finding
	a.req = m.request(Effect{API: APIStreamNames}, func(now time.Duration, ans Answer) {
		a.req = 0
		switch {
		case ans.Err != nil:
			m.failAttempt(now, fmt.Errorf("find the stream of subject %s: %w", m.cfg.Subjects[0], ans.Err))
		case len(ans.Names) == 0:
			m.failAttempt(now, fmt.Errorf("no stream stores subject %s: %w", m.cfg.Subjects[0],
				&APIError{Code: 404, ErrCode: codeStreamNotFound, Text: "stream not found"}))
		case len(ans.Names) > 1:
			m.failAttempt(now, fmt.Errorf("%w: subjects: %s is stored by the streams %s: name one",
				ErrConfig, m.cfg.Subjects[0], strings.Join(ans.Names, ", ")))
		default:
			m.cfg.Stream = ans.Names[0]
			m.look(a)
		}
	})
}

// look asks for the stream before the first create: does it exist, and may a
// reader of this kind read it (rules 6 and 12)?
func (m *Machine) look(a *attempt) {
	a.step = looking
	a.req = m.request(Effect{API: APIStreamInfo}, func(now time.Duration, ans Answer) {
		a.req = 0
		if errors.Is(ans.Err, ErrDenied) {
			m.blind = true
			if !m.needsInfo(now) {
				m.make(now, a)
			}
			return
		}
		if ans.Err != nil {
			m.failAttempt(now, ans.Err)
			return
		}
		m.looked = true
		f := ans.Stream
		m.flow.heavy = max(m.flow.heavy, f.Weight)
		if m.cfg.private() && !f.Limits {
			m.failAttempt(now, fmt.Errorf("%w: stream %s has %s retention: set Durable", ErrConfig, m.cfg.Stream, f.Retention))
			return
		}
		if !m.cfg.private() {
			m.created, m.workQueue = f.Created, f.Retention == "workqueue"
		}
		m.make(now, a)
	})
}

// pin asks for the stream after the create's answer, never before it: a stream
// re-created between the two would otherwise be read deaf for ever (rule 8).
func (m *Machine) pin(now time.Duration, a *attempt) {
	a.step = pinning
	a.req = m.request(Effect{API: APIStreamInfo}, func(now time.Duration, ans Answer) {
		a.req = 0
		switch {
		case errors.Is(ans.Err, ErrDenied):
			m.blind = true
			if m.endsBehind(now, a) || m.number == 0 && !m.pinned(now, a) {
				return
			}
			m.resume(now, a)
		case ans.Err != nil:
			m.failAttempt(now, fmt.Errorf("look at stream %s: %w", m.cfg.Stream, ans.Err))
		default:
			m.informed(now, a, *ans.Stream)
		}
	})
}

// pinned notes at Open what the rest of the reader's life is compared with; it is
// false when the reader cannot do what was asked without STREAM.INFO.
func (m *Machine) pinned(now time.Duration, a *attempt) bool {
	if !m.blind {
		m.created, m.tail = a.facts.Created, max(m.tail, a.facts.Last)
		m.end.pin(a.facts.Last)
		if m.start.kind == StartLastPerSubject {
			m.start.kind = StartPosition
			if m.cursor.Sequence < a.facts.Last {
				m.edge, a.sess.whole = a.facts.Last, true
			}
		}
		return true
	}
	return !m.needsInfo(now)
}

// needsInfo fails an Open that cannot do what was asked without STREAM.INFO.
func (m *Machine) needsInfo(now time.Duration) bool {
	what := ""
	switch {
	case m.cfg.StopAtEnd && m.cfg.private():
		what = "StopAtEnd"
	case m.cfg.Start == StartLastPerSubject:
		what = "FromLastPerSubject"
	default:
		return false
	}
	m.failAttempt(now, fmt.Errorf("%w: %s needs %s", ErrPermission, what, m.subjectOf(APIStreamInfo, "")))
	return true
}

// informed settles the identity of the stream (rule 8).
func (m *Machine) informed(now time.Duration, a *attempt, f StreamFacts) {
	a.facts = f
	seen := int64(0)
	if a.held != nil && a.held.Sequence == a.at.Sequence {
		seen = a.held.Time
	}
	found := a.at.judge(m.created, m.tailOf(a), f, seen)
	if found == sameStream && a.skips && m.skippedAnew(a, f) {
		found = rolledBack
	}
	switch found {
	case sameStream:
		if m.created == 0 && m.number > 0 {
			m.created = f.Created // it was opened without the permission to look
		}
		if m.cfg.filtered() && a.overlaps && a.at.known() && seen == 0 && !a.checked {
			m.lookAtCursor(now, a)
			return
		}
	case resyncing:
		m.created, a.nothing = f.Created, false
	case rolledBack:
		m.streamReset(now, a, f, false)
		return
	case recreated:
		m.streamReset(now, a, f, true)
		return
	}
	a.informed = true
	if m.cursor.Time == 0 && f.Last == m.cursor.Sequence {
		// Nothing was accepted there, but the stream says when it was stored.
		m.cursor.Time = f.LastTime
	}
	if m.number == 0 || m.start.kind == StartLastPerSubject {
		if !m.pinned(now, a) {
			return
		}
		a.at = m.cursor
	}
	m.resume(now, a)
}

// skippedAnew is for a session that starts at the stream's end, without the message at
// the cursor to tell: the session before it saw a roll back, or the stream ended below it when the consumer was made, or ends
// with another message of that number. Of an empty one the last time says nothing.
func (m *Machine) skippedAnew(a *attempt, f StreamFacts) bool {
	if m.cur != nil && m.cur.rolled || a.exact.Sequence < min(a.at.Sequence, m.tailOf(a)) {
		return true
	}
	return a.at.known() && f.First <= f.Last && f.Last == a.at.Sequence && f.LastTime > a.at.Time
}

// tailOf is how far the stream is known to have reached for an attempt: a reader may
// begin beyond its end.
func (m *Machine) tailOf(a *attempt) uint64 {
	if a.at.known() {
		return a.at.Sequence
	}
	return m.tail
}

// lookAtCursor asks for the message at the cursor where a filter may hide it: a
// stream that was rolled back and has grown past the cursor since looks like one
// whose message was removed. Without an answer it is taken for removed.
func (m *Machine) lookAtCursor(now time.Duration, a *attempt) {
	a.req = m.request(Effect{API: APIMessageGet, Sequence: a.at.Sequence}, func(now time.Duration, ans Answer) {
		a.req, a.checked = 0, true
		if ans.Message != nil && a.at.another(ans.Message.Time) {
			m.streamReset(now, a, a.facts, false)
			return
		}
		m.informed(now, a, a.facts)
	})
}

// resume goes on after the look at the stream: the doubt is settled.
func (m *Machine) resume(now time.Duration, a *attempt) {
	a.informed = true
	if a.held == nil && !a.sess.pulls.outstanding() && a.proofBy == 0 {
		m.prove(now, a)
		return
	}
	held := a.held
	a.held = nil
	m.swap(now)
	if held == nil {
		return
	}
	e := Effect{Do: DoDropHeld, Attempt: a.sess.attempt}
	if !m.ended() && m.acceptNext(now, m.cur, *held) == Accept {
		e.Do = DoAcceptHeld
	}
	m.do(e)
}

// streamReset tells that the stream is not the one that was read, and makes the
// attempt's consumer anew from where OnReset says; after a roll back from just
// after the time of the message at the cursor.
func (m *Machine) streamReset(now time.Duration, a *attempt, f StreamFacts, another bool) {
	if m.tellReset(now, f, another); m.ended() {
		return
	}
	m.condemnForReset(now, another)
	m.edge, m.missedTo, m.jump.passed = 0, 0, nil
	switch {
	case !another && m.rolledBack():
		// It was rolled back before, and nothing was read since.
	case !another && m.cursor.known():
		m.start = origin{kind: StartTime, time: m.cursor.Time + 1}
	case !another && m.unread && (m.cfg.Start == StartSequence || m.cfg.Start == StartTime):
		// Nothing was read yet: it still begins where it was asked to.
		m.start = origin{kind: m.cfg.Start, sequence: m.cfg.StartSequence, time: m.cfg.StartTime}
	case another && m.cfg.OnReset == OnResetFollowNew:
		m.start = origin{kind: StartNew}
	case another && m.cfg.Start == StartLastPerSubject && !m.blind:
		m.start = origin{kind: StartLastPerSubject}
	default:
		m.start = origin{kind: StartAll}
	}
	if another {
		m.created = f.Created
	}
	m.end.pinAnew(f.Last)
	m.tail = f.Last
	m.restart(now, a)
}

// tellReset tells that the stream is not what it was, with the cursor in the old
// one and the bounds of the new one; under OnResetFail that ends the reader.
func (m *Machine) tellReset(now time.Duration, f StreamFacts, another bool) {
	text := "rolled back"
	if another {
		text = "re-created"
	}
	m.tell(Event{Kind: KindStreamReset, Sequence: m.cursor.Sequence, From: f.First, To: f.Last, Text: text})
	if another && m.cfg.OnReset == OnResetFail {
		m.fatal(now, fmt.Errorf("%w: stream %s was re-created: it was read up to sequence %d and now holds %d to %d",
			ErrStreamReset, m.cfg.Stream, m.cursor.Sequence, f.First, f.Last))
	}
}

// condemnForReset ends the session in use, if there is one: it belongs to a
// stream that is no more. Its consumer went with the stream, unless that is only
// concluded: one that was rolled back keeps its consumers.
func (m *Machine) condemnForReset(now time.Duration, another bool) {
	s := m.cur
	if s == nil {
		return
	}
	s.condemned = true
	s.gone = s.gone || another && !m.blind
	s.strayed = s.strayed && !(another && !m.blind)
	if m.phase == Reading || m.phase == Silent {
		m.dropAsks()
		m.enterReplacing(now, CauseRolledBack, false, nil)
		m.rec.tries = 1
	}
}
