package session

import "time"

// prove sends the first pull; its answer is the proof.
func (m *Machine) prove(now time.Duration, a *attempt) {
	a.step = proving
	a.proofBy = now + proofWaitAfter(m.rec.unproven)
	m.probe(now, a)
	m.do(Effect{Do: DoPing})
}

// probe pulls one message on the session that is being made.
func (m *Machine) probe(now time.Duration, a *attempt) {
	if a.made != nil {
		a.made.pulled, a.made.touched = true, now
	}
	p := Pull{Batch: 1}
	p.Expires, p.Heartbeat = within(probeExpires, probeHeartbeat, m.limits)
	a.probe = m.sendPull(now, a.sess, p)
	a.probeBy = now + p.Expires + m.cfg.Heartbeat
}

// probeAgain is for a probe that was lost: a fault that ends within a long wait for
// the proof would otherwise be outlasted by it. The wait is not extended, and the
// silent session gets another pull to heal by, too.
func (m *Machine) probeAgain(now time.Duration, a *attempt) {
	a.sess.pulls.end(Status{Token: a.probe})
	m.probe(now, a)
	if m.rec.on {
		m.healPull(now)
	}
}

func (m *Machine) sendPull(now time.Duration, s *Session, p Pull) (token uint64) {
	p = s.sent(now, p)
	m.fig.Pulls++
	m.do(Effect{Do: DoPull, Attempt: s.attempt, Inbox: s.inbox, Subject: m.pullSubject(s.consumer), Consumer: s.consumer, Pull: p})
	return p.Token
}

// healPull gives a silent session one more pull to answer.
func (m *Machine) healPull(now time.Duration) {
	s := m.cur
	if s == nil || !s.silent || s.condemned || s.unbound || (s.healPull > 0 && now < s.healPull+probeExpires) {
		return
	}
	// The one before it is over by its own time, whether or not that was told.
	s.pulls.end(Status{Token: s.healToken})
	p := Pull{Batch: 1}
	p.Expires, p.Heartbeat = within(probeExpires, probeHeartbeat, m.limits)
	s.healPull, s.healToken = now, m.sendPull(now, s, p)
}
