package session

import (
	"fmt"
	"time"
)

// deliverUnproven looks at the first message of a session that is being made: it
// proves the session unless the identity of the stream is in doubt (rule 8).
func (m *Machine) deliverUnproven(now time.Duration, a *attempt, d Delivery) Verdict {
	s := a.sess
	if a.step != proving && a.step != pinning {
		return Drop
	}
	m.flow.came(d.Size, now-s.deafSince(), m.pending > 0)
	s.answered(now)
	s.pulls.received(now, d.Size)
	m.buf.weigh(d.Size)
	if !m.cfg.private() {
		m.swap(now)
		return m.acceptDurable(now, d)
	}
	if d.ConsumerSeq != s.consumerSeq+1 {
		m.rec.noReset = m.rec.noReset || a.reset
		m.failAttempt(now, fmt.Errorf("consumer %s began with its message %d, not %d", s.consumer, d.ConsumerSeq, s.consumerSeq+1))
		return Drop
	}
	switch a.doubts(d, m.blind) {
	case certain:
		m.swap(now)
		if m.ended() {
			return Drop
		}
		return m.acceptNext(now, s, d)
	case uncertain:
		a.held = &d
		m.doubtful(now, a)
		return Hold
	}
	// Another message at the cursor, or a sequence below it: not the stream that was read.
	f := a.facts
	another := m.blind || f.Created != m.created
	m.streamReset(now, a, f, another)
	return Drop
}

// doubtful looks at the stream before anything of the new session is accepted.
func (m *Machine) doubtful(now time.Duration, a *attempt) {
	if a.step == pinning {
		return
	}
	a.proofBy = 0
	m.pin(now, a)
}

// doubt is how sure a first message makes us of the stream's identity.
type doubt int

const (
	certain doubt = iota
	uncertain
	other // certainly not the message that was read
)

func (a *attempt) doubts(d Delivery, blind bool) doubt {
	if a.bound || !a.overlaps {
		return certain
	}
	if d.Sequence == a.at.Sequence && a.at.known() {
		switch {
		case d.Time == a.at.Time:
			return certain
		case blind || a.informed:
			return other
		}
		return uncertain
	}
	switch {
	case blind && d.Sequence < a.at.Sequence:
		return other
	case a.informed || blind:
		return certain
	}
	return uncertain
}
