package session

import (
	"errors"
	"fmt"
	"time"
)

// questions are the CONSUMER.INFO requests about the session in use: one when it fell
// silent, one when messages wait and only heartbeats come, one to tell the end.
type questions struct {
	silence, stall, end RequestID
	endAfter            time.Duration // the end is not asked for before that: it was refused
	denied              denial        // CONSUMER.INFO is not permitted
}

// dropAsks forgets the questions about a session that is not in use, or that
// answered by itself.
func (m *Machine) dropAsks() {
	m.cancel(m.asks.silence)
	m.cancel(m.asks.stall)
	m.cancel(m.asks.end)
	m.asks.silence, m.asks.stall, m.asks.end = 0, 0, 0
	m.jump.forgetLook(m)
}

// fallSilent is the watchdog's verdict.
func (m *Machine) fallSilent(now time.Duration) {
	s := m.cur
	s.silent = true
	m.enterSilent(now)
	m.tell(Event{Kind: KindSessionSilent, Consumer: s.consumer, Inbox: s.inbox, Deaf: now - m.deafSince(now)})
	m.suspect()
	m.ask(now, CauseAnswersLost)
}

// suspect asks whether the link is dead.
func (m *Machine) suspect() { m.do(Effect{Do: DoSuspect, Timeout: m.transit()}) }

// ask tells why a session owes its answer, once (rule 3). there is the cause when
// the consumer turns out to exist.
func (m *Machine) ask(now time.Duration, there Cause) {
	s := m.cur
	if m.asks.denied.holds(now) {
		m.lose(now, there, true, errors.New("CONSUMER.INFO is not permitted"))
		return
	}
	m.asks.silence = m.request(Effect{API: APIConsumerInfo, Consumer: s.consumer}, func(now time.Duration, a Answer) {
		m.asks.silence = 0
		switch {
		case a.Err == nil:
			if m.which.another(a.Consumer.Created) {
				m.which.deleted(s.number)
			}
			m.limits.obey(a.Consumer.Limits)
			m.paused = m.notePause(now, a.Consumer)
			m.lose(now, there, true, fmt.Errorf("consumer %s exists, its answers do not arrive%s", s.consumer, a.Consumer.crowd()))
		case isCode(a.Err, codeConsumerNotFound):
			s.gone = true
			m.which.deleted(s.number)
			m.condemn(now, CauseConsumerGone, false, nil)
		case isCode(a.Err, codeStreamNotFound):
			m.streamGone(now, a.Err)
		case errors.Is(a.Err, ErrDenied):
			m.lose(now, there, true, a.Err)
		case errors.Is(a.Err, ErrNoResponders):
			m.lose(now, CauseNoResponders, true, a.Err)
		default:
			m.lose(now, CauseAPISilent, true, fmt.Errorf("ask about consumer %s: %w", s.consumer, a.Err))
		}
	})
}

// streamGone is the ask's word that the stream does not exist: it counts as the
// first attempt.
func (m *Machine) streamGone(now time.Duration, err error) {
	s := m.cur
	s.condemned, s.gone, s.strayed = true, true, true
	s.forget()
	m.dropAsks()
	m.tell(Event{Kind: KindSessionLost, Cause: CauseStreamGone, Consumer: s.consumer, Inbox: s.inbox, Sequence: m.cursor.Sequence,
		Deaf: now - m.deafSince(now), Err: err})
	m.enterReplacing(now, CauseStreamGone, true, err)
	m.rec.tries = 1
	if m.try != nil {
		return
	}
	m.noteMissing(now, err)
	err = marked(err)
	m.rec.lastErr = err
	if m.streamLost(now) {
		m.fatal(now, err)
		return
	}
	m.raise(now, &RecoveryError{Session: s.number, Cause: CauseStreamGone, Err: err})
	if !m.ended() {
		m.waitRetry(now)
	}
}

// askStalled asks why messages wait and only heartbeats come: paused, or at the
// limit of unacknowledged messages.
func (m *Machine) askStalled(now time.Duration) {
	if m.asks.denied.holds(now) || m.asks.stall != 0 || m.phase != Reading {
		return
	}
	s := m.cur
	m.asks.stall = m.request(Effect{API: APIConsumerInfo, Consumer: s.consumer}, func(now time.Duration, a Answer) {
		m.asks.stall = 0
		if a.Err != nil {
			return
		}
		f := a.Consumer
		m.pending = f.Pending
		m.miscounted(s, f)
		switch {
		case m.notePause(now, f):
			m.paused = true
			m.tell(Event{Kind: KindPaused, Consumer: s.consumer, Count: f.Pending})
		case f.MaxAckPending > 0 && f.AckPending >= f.MaxAckPending:
			m.waitingAcks = true
		}
	})
}

// notePause says whether an operator paused a consumer, and notes until when.
func (m *Machine) notePause(now time.Duration, f *ConsumerFacts) bool {
	m.pauseTill = 0
	if f.Paused && f.PauseLeft > 0 {
		m.pauseTill = now + f.PauseLeft
	}
	return f.Paused
}

// endPause is for a pause whose time is over: where messages still wait and only
// heartbeats come, one more ask tells whether it was made longer. A pause that an
// operator ends before shows by the messages that come, and by nothing else: a
// heartbeat says the same of a paused consumer and of one with nothing to send.
func (m *Machine) endPause(now time.Duration, s *Session) {
	if m.paused && m.pauseTill > 0 && now >= m.pauseTill {
		m.paused, m.pauseTill, s.looked = false, 0, false
	}
}
