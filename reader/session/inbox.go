package session

import (
	"fmt"
	"time"
)

// Delivery is what a message's ack subject tells, and its size on the wire
// (subject, reply, headers and payload).
type Delivery struct {
	Sequence    uint64
	ConsumerSeq uint64
	Time        int64
	Pending     uint64
	Size        int
}

// Verdict is what becomes of a message.
type Verdict int

// The verdicts. A held message is kept by the driver until DoAcceptHeld or
// DoDropHeld.
const (
	Drop Verdict = iota
	Accept
	Hold
)

// Deliver judges one message that arrived on the inbox of an attempt. It is the
// hot path: a message of the session in use makes no garbage and no effect unless
// something is wrong.
func (m *Machine) Deliver(now time.Duration, attempt int, d Delivery) Verdict {
	switch {
	case m.ended():
		return Drop
	case m.cur != nil && m.cur.attempt == attempt:
		v := m.deliverInUse(now, m.cur, d)
		if v == Drop || !m.cur.pulls.outstanding() {
			// The message used up its pull: the next one, or the buffer is full.
			m.pull(now)
			m.settle(now)
		}
		return v
	case m.try != nil && m.try.sess != nil && m.try.sess.attempt == attempt:
		v := m.deliverUnproven(now, m.try, d)
		m.settle(now)
		return v
	case !m.cfg.private():
		return m.acceptDurable(now, d)
	}
	return Drop
}

func (m *Machine) deliverInUse(now time.Duration, s *Session, d Delivery) Verdict {
	if s.condemned {
		return Drop
	}
	since := m.deafSince(now)
	m.flow.came(d.Size, now-since, m.pending > 0)
	s.answered(now)
	s.pulls.received(now, d.Size)
	m.buf.weigh(d.Size)
	s.lastMessage = now
	s.quietFrom, s.dry, s.looked, s.alone, s.obeyed = 0, 0, false, false, false
	m.paused, m.waitingAcks = false, false
	if !m.cfg.private() {
		m.healBy(now, s, since, 0)
		return m.acceptDurable(now, d)
	}
	if d.ConsumerSeq != s.consumerSeq+1 {
		m.outOfStep(now, s, d)
		return Drop
	}
	if s.silent && m.jumps(s, d) {
		// A killed server may have set its consumer back behind our back, so that the
		// count of one that was away proves nothing where stream sequences are left out.
		m.condemnSilently(now, CauseGap)
		return Drop
	}
	m.healBy(now, s, since, 0)
	return m.acceptNext(now, s, d)
}

// jumps says that a message leaves out stream sequences that nothing hides.
func (m *Machine) jumps(s *Session, d Delivery) bool {
	return !m.cfg.filtered() && !s.snapshot && d.Sequence > m.cursor.Sequence+1
}

// outOfStep is a consumer sequence that is not the next one: a message that a
// killed server sends again, or a gap (rule 9).
func (m *Machine) outOfStep(now time.Duration, s *Session, d Delivery) {
	if d.Sequence <= m.cursor.Sequence && m.cursor.known() && d.Time > m.cursor.Time {
		// Newer than what was read, under a number that was read: not the same message.
		m.condemnRolledBack(now)
		return
	}
	if d.ConsumerSeq <= s.consumerSeq && d.Sequence <= m.cursor.Sequence {
		s.recounts = true
		m.fig.Duplicates++
		m.tell(Event{Kind: KindDuplicate, Consumer: s.consumer, Sequence: d.Sequence})
		return
	}
	last := d.ConsumerSeq
	if last > s.consumerSeq {
		last-- // the message that shows the gap did arrive
	}
	m.gap(now, s, last)
}

// gap ends a session whose consumer delivered what never arrived, up to got.
func (m *Machine) gap(now time.Duration, s *Session, got uint64) {
	m.fig.Gaps++
	e := Event{Kind: KindGap, Consumer: s.consumer, Sequence: m.cursor.Sequence, From: s.consumerSeq + 1}
	if got > s.consumerSeq {
		e.To, e.Count = got, got-s.consumerSeq
	} else {
		e.Text = fmt.Sprintf("the consumer counts %d again", got)
	}
	m.tell(e)
	m.condemnSilently(now, CauseGap)
}

// condemnSilently condemns a session in any phase: one that is being replaced
// already needs no second recovery.
func (m *Machine) condemnSilently(now time.Duration, cause Cause) {
	if m.phase == Replacing {
		m.cur.condemned = true
		m.cur.forget()
		return
	}
	m.condemn(now, cause, false, nil)
}

// condemnRolledBack ends a session whose answers show a stream without its tail. A new
// one that begins at the stream's end has nothing that would show it again.
func (m *Machine) condemnRolledBack(now time.Duration) {
	m.cur.rolled = true
	m.condemnSilently(now, CauseRolledBack)
}

// acceptNext takes the next message in consumer order. Everything up to the
// cursor is the overlap of a replacement: it came before. Stream sequences of one
// consumer only grow, and the message it started at is the one that was read, unless
// the stream was rolled back.
func (m *Machine) acceptNext(now time.Duration, s *Session, d Delivery) Verdict {
	if d.Sequence <= s.reached || d.Sequence == s.at.Sequence && s.at.another(d.Time) {
		m.condemnRolledBack(now)
		return Drop
	}
	if m.passedOver(now, s, d) {
		return Drop
	}
	s.consumerSeq, s.reached = d.ConsumerSeq, d.Sequence
	before := m.pending
	m.pending = d.Pending
	if d.Sequence <= m.cursor.Sequence {
		m.used(now, s, d)
		return Drop
	}
	if s.snapshot && m.edge > 0 && !s.whole && d.Sequence > m.edge {
		m.snapshotUsed(now)
		return Drop
	}
	if m.end.beyond(d.Sequence) {
		m.finish(now, nil)
		return Drop
	}
	if gone, ok := m.cursor.passed(d.Sequence); ok && !s.snapshot {
		m.passOver(now, s, gone, before, d)
	}
	s.waited = max(0, s.waited-1)
	m.cursor, m.unread = Cursor{Sequence: d.Sequence, Time: d.Time}, false
	m.buf.msgs++
	m.buf.bytes += d.Size
	if !s.snapshot || s.whole {
		m.noteCaughtUp(now, d.Pending)
	}
	m.used(now, s, d)
	return Accept
}

// used looks at the end of a snapshot and of the reader behind an accepted or
// dropped message.
func (m *Machine) used(now time.Duration, s *Session, d Delivery) {
	if s.snapshot && d.Pending == 0 && m.edge > 0 {
		if !s.whole {
			m.snapshotUsed(now)
			return
		}
		m.edge, s.snapshot = 0, false
	}
	m.endBehind(now, s, d)
}

func (m *Machine) noteCaughtUp(now time.Duration, pending uint64) {
	if pending > 0 {
		m.caughtUp.off(now)
		return
	}
	if m.caughtUp.on(now, m.cfg.Heartbeat) {
		m.tell(Event{Kind: KindCaughtUp, Sequence: m.cursor.Sequence})
	}
}

// snapshotDone ends the snapshot: from now on it goes by sequence from the edge.
func (m *Machine) snapshotDone() {
	if m.cursor.Sequence < m.edge {
		m.cursor = Cursor{Sequence: m.edge}
	}
	m.edge = 0
}

// snapshotUsed replaces a session whose repeated snapshot has nothing more up to
// the edge.
func (m *Machine) snapshotUsed(now time.Duration) {
	m.snapshotDone()
	m.condemn(now, CauseSnapshotRead, false, nil)
}

// acceptDurable takes a message of a durable: others may read it too, redelivery
// is legitimate, nothing is compared.
func (m *Machine) acceptDurable(now time.Duration, d Delivery) Verdict {
	m.handled.deliver(d)
	m.pending = d.Pending
	if m.cur != nil {
		m.tellPassed(now, m.cur, d)
	}
	if d.Sequence > m.cursor.Sequence {
		m.cursor = Cursor{Sequence: d.Sequence, Time: d.Time}
	}
	m.buf.msgs++
	m.buf.bytes += d.Size
	m.noteCaughtUp(now, d.Pending)
	if m.cur != nil {
		m.endBehind(now, m.cur, d)
	}
	return Accept
}
