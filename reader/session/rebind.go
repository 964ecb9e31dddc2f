package session

import (
	"errors"
	"fmt"
	"time"
)

// drainWait bounds the wait for what came before the old inbox's unsubscribe.
const drainWait = 2 * time.Second

// levelReset is the API level from which CONSUMER.RESET is answered (2.14; 2.12
// does not answer it at all).
const levelReset = 4

// rebind gives the consumer in use a new inbox, where no second consumer can be
// made: the stream has no slot, or the reader has one Name (rule 11). Between the
// unsubscribe and the next bind there is no session in use.
func (m *Machine) rebind(now time.Duration, a *attempt) {
	old := m.cur
	m.subscribe(now, a, old.consumer)
	a.sess.made = old.made
	if m.phase == Reading || m.phase == Silent {
		m.unused(now)
		m.rec.noSlot = true
	}
	m.unbind(now, a)
}

// unused begins a recovery for a session that is about to lose its inbox by an
// operator's wish.
func (m *Machine) unused(now time.Duration) {
	m.dropAsks()
	m.enterReplacing(now, CauseRequested, false, nil)
	m.rec.tries = 1
}

// unbind takes the session in use off its inbox before the attempt goes on.
func (m *Machine) unbind(now time.Duration, a *attempt) {
	old := m.cur
	a.step, a.proofBy = draining, now+drainWait
	if old.unbound {
		m.Drained(now, old.attempt)
		return
	}
	old.unbound = true
	m.do(Effect{Do: DoDrain, Attempt: old.attempt})
}

// Drained says that everything which came before the old inbox's unsubscribe was
// delivered, or that we wait for it no longer.
func (m *Machine) Drained(now time.Duration, attempt int) {
	a := m.try
	if a == nil || a.step != draining || m.ended() {
		return
	}
	a.step, a.proofBy = asking, 0
	if !m.cfg.private() {
		m.askDurable(now, a)
		return
	}
	old := m.cur
	a.req = m.request(Effect{API: APIConsumerInfo, Consumer: old.consumer}, func(now time.Duration, ans Answer) {
		a.req = 0
		m.noteLevel(ans.Consumer)
		switch {
		case isCode(ans.Err, codeConsumerNotFound):
			old.gone = true
			m.anew(now, a, ans.Err)
		case errors.Is(ans.Err, ErrDenied):
			m.resetConsumer(now, a, 0)
		case ans.Err != nil:
			m.rec.mute = true
			m.failAttempt(now, fmt.Errorf("ask about consumer %s: %w", old.consumer, ans.Err))
		case ans.Consumer.Owner != m.cfg.ID:
			// Ours is gone, and its name was taken by somebody else.
			old.gone = true
			m.anew(now, a, nil)
		case old.lapsing && now < old.lapseBy:
			m.failAttempt(now, lapsesSoon(old.consumer))
		case old.lapsing:
			m.clearOwn(now, a)
		case m.skipping() || !m.settled():
			// It is to start elsewhere: a reset goes to the cursor only.
			m.clearOwn(now, a)
		case ans.Consumer.DeliveredConsumer == old.consumerSeq && ans.Consumer.DeliveredStream >= m.cursor.Sequence && !old.condemned:
			a.paused = m.notePause(now, ans.Consumer)
			a.sess.count = old.count
			m.bindAt(now, a, old.consumerSeq)
		default:
			m.resetConsumer(now, a, ans.Consumer.Level)
		}
	})
}

// bindAt binds the existing consumer as it is and counts on from seq.
func (m *Machine) bindAt(now time.Duration, a *attempt, seq uint64) {
	a.bound = true
	a.sess.consumerSeq = seq
	m.prove(now, a)
}

// resetConsumer sets the consumer back to the cursor, or deletes it and makes it
// again. A reset does not end the pulls that wait, a delete does: behind a connection
// that the server takes for alive an earlier pull would get what it was set back for.
func (m *Machine) resetConsumer(now time.Duration, a *attempt, level int) {
	old := m.cur
	if level < levelReset || m.rec.noReset {
		m.clearOwn(now, a)
		return
	}
	a.step = resetting
	old.condemned = true // from here on it counts otherwise, also if no answer comes
	a.at, a.overlaps = m.cursor, true
	a.req = m.request(Effect{API: APIConsumerReset, Consumer: old.consumer, Sequence: m.cursor.overlap()}, func(now time.Duration, ans Answer) {
		a.req = 0
		if ans.Err != nil {
			m.clearOwn(now, a)
			return
		}
		a.bound, a.reset, a.sess.consumerSeq, a.sess.reached = false, true, 0, 0
		a.expects = m.cursor.known()
		m.pinOrProve(now, a)
	})
}

// pinOrProve looks at the stream first where the overlap will not prove it.
func (m *Machine) pinOrProve(now time.Duration, a *attempt) {
	if a.expects || m.blind {
		m.prove(now, a)
		return
	}
	m.pin(now, a)
}

// clearOwn deletes the consumer in use, which is ours alone, and creates anew. One
// that cannot be deleted is told to lapse; the next attempt finds it gone.
func (m *Machine) clearOwn(now time.Duration, a *attempt) {
	old := m.cur
	a.step = clearing
	a.req = m.request(Effect{API: APIConsumerDelete, Consumer: old.consumer}, func(now time.Duration, ans Answer) {
		a.req = 0
		if ans.Err != nil && !isCode(ans.Err, codeConsumerNotFound) {
			err := fmt.Errorf("delete consumer %s: %w", old.consumer, ans.Err)
			m.rec.mute = m.rec.mute || errors.Is(ans.Err, ErrNoAnswer)
			switch {
			case old.lapsing:
				old.lapseBy = now + lapseOverdue
				m.failAttempt(now, lapsesSoon(old.consumer))
				return
			case !undeletable(ans.Err), old.made.Name == "":
				m.failAttempt(now, err)
				return
			}
			a.req = m.shorten(old.made, func(now time.Duration, ans Answer) {
				a.req = 0
				if ans.Err == nil {
					old.condemned, old.lapsing, old.lapseBy = true, true, now+lapseOverdue
					err = lapsesSoon(old.consumer)
				}
				m.failAttempt(now, err)
			})
			return
		}
		old.gone, old.condemned = true, true
		m.anew(now, a, ans.Err)
	})
}
