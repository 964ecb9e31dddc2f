package session

import "time"

// swap puts the proven session in the place of the one in use (rule 1).
func (m *Machine) swap(now time.Duration) {
	a, old := m.try, m.cur
	m.try = nil
	if a.req != 0 {
		m.cancel(a.req)
	}
	m.number++
	s := a.sess
	s.number, s.soundFrom = m.number, now
	if m.rolledBack() {
		m.start.kind = StartPosition
	}
	if a.overlaps {
		s.at = a.at
	}
	if a.made != nil {
		m.left.drop(a.made)
	}
	from, deafSince := m.cursor.Sequence+1, now
	if old != nil {
		deafSince = m.deafSince(now)
	}
	m.cur = s
	e := Event{Kind: KindSessionReplaced, Cause: m.cause(), Session: s.number, Consumer: s.consumer, Inbox: s.inbox,
		From: from, Attempt: m.rec.tries, Took: now - a.began}
	if old == nil {
		e.Kind, e.Cause = KindSessionOpened, ""
	} else {
		e.Deaf = now - deafSince
		e.Took = now - m.beganAt(a)
		m.fig.Replaced[e.Cause]++
	}
	m.dropAsks()
	m.enterReading(now)
	m.paused, m.waitingAcks, m.full = a.paused, false, false
	m.tell(e)
	m.skip(a)
	m.missBounds(a)
	if old != nil {
		m.letGo(old)
		if old.consumer != s.consumer {
			m.retire(now, old)
		}
	} else {
		m.opened(now)
	}
	m.release(now)
	m.fulfil(nil)
	m.do(Effect{Do: DoProven})
	if old != nil && a.nothing && m.end.on && m.cfg.private() {
		m.finish(now, nil)
		return
	}
	m.pull(now)
	m.left.tick(m, now)
}

// letGo unsubscribes a session's inbox, once.
func (m *Machine) letGo(s *Session) {
	if !s.unbound {
		s.unbound = true
		m.do(Effect{Do: DoUnsubscribe, Attempt: s.attempt})
	}
}

func (m *Machine) beganAt(a *attempt) time.Duration {
	if m.rec.on {
		return m.rec.began
	}
	return a.began
}

// skip moves the cursor to where a session that skipped on purpose begins.
func (m *Machine) skip(a *attempt) {
	if a.skips && m.blind {
		m.created = 0 // where it goes on may be another stream: the next look adopts it
	}
	if !a.skips || a.exact.Sequence <= m.cursor.Sequence {
		return
	}
	s := span{m.cursor.Sequence + 1, a.exact.Sequence}
	m.cursor = a.exact
	if a.facts.Last == a.exact.Sequence {
		m.cursor.Time = a.facts.LastTime
	}
	text := ""
	if m.cfg.filtered() {
		text = "at most: other subjects included"
	}
	m.tell(Event{Kind: KindSkipped, Session: m.number, From: s.from, To: s.to, Count: s.count(), Text: text})
}

// healBy keeps a silent session that answered in step. One whose inbox is
// unsubscribed hears what was on its way, and no more; so does one whose connection
// is away. token names the pull of a heartbeat; a message names none.
func (m *Machine) healBy(now time.Duration, s *Session, since time.Duration, token uint64) {
	if !s.silent || s.unbound || !m.connected || !m.MayAck(m.number) {
		return
	}
	s.silent, s.soundFrom = false, now
	if m.rec.on && m.rec.cause == CausePermission {
		// What heals it is an earlier pull's, and says nothing of the one that was
		// denied: that is paced by the policy, not by the messages (rule 5).
		s.pauseTill = m.rec.nextAt
	}
	if s.healPull > 0 {
		// The pulls that were silent may never have arrived: only the one that
		// answered counts, and what is missing is asked for anew.
		s.pulls.only(token)
	}
	s.healPull = 0
	s.pulls.trust(now)
	wished := len(m.wishes) > 0
	if m.try != nil && !wished {
		m.discard(m.try)
	}
	m.dropAsks()
	m.enterReading(now)
	m.tell(Event{Kind: KindSessionHealed, Consumer: s.consumer, Inbox: s.inbox, Deaf: now - since})
	m.release(now)
	m.do(Effect{Do: DoProven})
	m.pull(now)
	m.left.tick(m, now)
	if wished && m.try == nil {
		m.fulfilSoon(now)
	}
}
