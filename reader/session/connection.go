package session

import (
	"fmt"
	"strings"
	"time"
)

// Disconnected: every outstanding pull is lost with the connection. Until it is
// back nothing is sent, logged or counted as an attempt (rule 13).
func (m *Machine) Disconnected(now time.Duration) {
	if !m.connected || m.phase == Done {
		return
	}
	m.connected = false
	m.flow.renew()
	if !m.started {
		return
	}
	for _, id := range m.openRequests() {
		m.cancel(id)
	}
	m.asks.silence, m.asks.stall, m.asks.end = 0, 0, 0
	m.jump.forgetLook(m)
	for _, l := range m.left.list {
		l.req = 0
	}
	if m.ended() {
		m.given()
		m.settle(now)
		return
	}
	if a := m.try; a != nil {
		m.discard(a)
		if m.rec.on && m.rec.tries > 0 {
			m.rec.tries--
		}
	}
	e := Event{Kind: KindDisconnected, Sequence: m.cursor.Sequence}
	if m.cur != nil {
		e.Deaf = now - m.deafSince(now)
	}
	m.tell(e)
	if s := m.cur; s != nil {
		s.silent = true
		s.forget()
		if m.phase != Replacing {
			m.enterReplacing(now, CauseReconnected, false, nil)
		}
	}
	m.rec.nextAt = now
}

// Reconnected: the session counts as silent and is replaced at once.
func (m *Machine) Reconnected(now time.Duration) {
	if m.connected || m.phase == Done {
		return
	}
	m.connected, m.connectedAt, m.away.until = true, now, now
	m.asks.denied.doubt()
	m.unseen.doubt()
	if !m.started {
		return
	}
	if m.ended() {
		m.left.tick(m, now)
		m.settle(now)
		return
	}
	m.tell(Event{Kind: KindReconnected, Sequence: m.cursor.Sequence})
	s := m.cur
	if s == nil || m.rec.tries > 0 {
		m.attemptNow(now)
		return
	}
	if !m.rec.told {
		m.rec.told = true
		m.tell(Event{Kind: KindSessionLost, Cause: m.rec.cause, Consumer: s.consumer, Inbox: s.inbox, Sequence: m.cursor.Sequence,
			Deaf: now - m.deafSince(now)})
	}
	m.firstAttempt(now)
}

// ConnectionClosed: the connection is closed for good, and so is the reader.
func (m *Machine) ConnectionClosed(now time.Duration, why error) {
	m.connected = false
	err := ErrConnectionClosed
	if why != nil {
		err = fmt.Errorf("%w: %w", ErrConnectionClosed, why)
	}
	m.fatal(now, err)
	if m.phase == Ending {
		m.left.by = now
	}
	m.settle(now)
}

// Forced tells that the connection was made anew because its link is dead.
func (m *Machine) Forced(now time.Duration, text string) {
	if !m.ended() {
		m.tell(Event{Kind: KindConnectionForced, Text: text})
	}
}

// Denied is the server's word that a subject is not permitted to us (rule 17).
func (m *Machine) Denied(now time.Duration, subject, text string) {
	if m.ended() {
		m.violates(now, subject, text)
		m.settle(now)
		return
	}
	err := &deniedError{subject, text}
	switch {
	case m.try != nil && m.try.sess != nil && m.pulls(m.try.sess, subject):
		m.tellDenied(subject, err)
		m.failAttempt(now, err)
	case m.cur != nil && m.pulls(m.cur, subject):
		m.tellDenied(subject, err)
		// The refused pull never reached the server: it owes no answer.
		m.cur.forget()
		if m.phase == Reading || m.phase == Silent {
			m.cur.silent = true
			m.lose(now, CausePermission, true, marked(err))
		}
	case m.violates(now, subject, text):
	case m.phase == Opening && m.try != nil && m.repliesDenied(subject, text):
		// The answers to our requests cannot arrive: no answer would say less.
		m.tellDenied(subject, err)
		m.failAttempt(now, err)
	case m.acks(subject):
		m.tellDenied(subject, err)
	}
	m.settle(now)
}

// pulls says whether subject is one a session cannot be read without.
func (m *Machine) pulls(s *Session, subject string) bool {
	return subject == m.pullSubject(s.consumer) || s.inboxHas(subject)
}

// repliesDenied says whether a denied subscription lies where the connection's
// inboxes are, a session's own aside.
func (m *Machine) repliesDenied(subject, text string) bool {
	return strings.Contains(text, "Subscription") && strings.HasPrefix(subject, m.cfg.InboxPrefix+".")
}

func (m *Machine) acks(subject string) bool {
	return !m.cfg.private() && len(subject) > len("$JS.ACK.") && subject[:len("$JS.ACK.")] == "$JS.ACK."
}
