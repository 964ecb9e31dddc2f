package session

import "time"

// Replace is an operator's wish for a new session. It joins an attempt that runs
// already; the session in use survives a failure.
func (m *Machine) Replace(now time.Duration, ticket int) {
	if m.ended() {
		m.do(Effect{Do: DoReplaced, Ticket: ticket, Err: ErrClosed})
		return
	}
	m.wishes = append(m.wishes, ticket)
	if m.try != nil || m.rec.on || !m.connected {
		return
	}
	m.fulfilSoon(now)
	m.settle(now)
}

// fulfilSoon makes the attempt that the waiting Replace calls want.
func (m *Machine) fulfilSoon(now time.Duration) {
	m.recs++
	m.rec.id = m.recs
	m.attemptNow(now)
}

// Unwish takes a wish back: the caller waits no longer. An attempt that nobody
// else needs is cancelled and leaves nothing behind.
func (m *Machine) Unwish(now time.Duration, ticket int) {
	for i, t := range m.wishes {
		if t != ticket {
			continue
		}
		m.wishes = append(m.wishes[:i], m.wishes[i+1:]...)
		break
	}
	if len(m.wishes) == 0 && m.try != nil && !m.rec.on && !m.ended() {
		m.discard(m.try)
		m.rec = recovery{}
		m.release(now)
		m.left.tick(m, now)
		m.loseDoubted(now)
	}
	m.settle(now)
}

// fulfil answers every Replace call that waits.
func (m *Machine) fulfil(err error) {
	for _, t := range m.wishes {
		m.do(Effect{Do: DoReplaced, Ticket: t, Err: err})
	}
	m.wishes = m.wishes[:0]
}
