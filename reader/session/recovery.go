package session

import (
	"errors"
	"fmt"
	"time"
)

// recovery is the way from a session that ended to a proven one. It is the zero
// value while none runs.
type recovery struct {
	on       bool
	told     bool // session_lost was told
	id       int
	cause    Cause
	failure  bool // not ordinary life, or an attempt failed
	began    time.Duration
	tries    int // attempts begun
	fails    int // attempts failed
	unproven int // of these, for want of a proof in time
	nextAt   time.Duration
	dueAt    time.Duration // when the pause before the first attempt is over; 0: none was chosen since the last attempt
	lastErr  error
	noSlot   bool // a create was refused for want of a slot
	noReset  bool // what a consumer was set back for went to a pull of an earlier session
	mute     bool // the consumer in use did not answer when it was to be bound anew
	turns    int  // attempts since then

	missing bool          // the last word on the stream is that it does not exist
	graceAt time.Duration // when a missing stream becomes fatal
}

func (m *Machine) begin(now time.Duration, cause Cause, failure bool, err error) {
	m.recs++
	m.rec = recovery{on: true, id: m.recs, cause: cause, failure: failure, began: now, nextAt: now, lastErr: err}
}

// binds says that an attempt without room for another consumer binds the one in use
// anew. One that did not answer is likely to be on a node that is down: it is asked
// again in every second attempt only, and the others make room in another way.
func (m *Machine) binds() bool { return !m.rec.mute || m.rec.turns%2 == 0 }

// settled says that the cursor is exact and every session goes by sequence.
func (m *Machine) settled() bool { return m.start.kind == StartPosition }

// rolledBack says that the next session starts by the time of what was read: until one
// is proven the stream may be rolled back again.
func (m *Machine) rolledBack() bool { return m.start.kind == StartTime && !m.unread }

// lose ends the session in use. A condemned one never heals; a silent one may.
func (m *Machine) lose(now time.Duration, cause Cause, failure bool, err error) {
	s := m.cur
	if m.ended() || m.phase == Replacing || m.phase == Opening {
		return
	}
	m.dropAsks()
	m.tell(Event{Kind: KindSessionLost, Cause: cause, Consumer: s.consumer, Inbox: s.inbox, Sequence: m.cursor.Sequence,
		Deaf: now - m.deafSince(now), Err: err})
	m.enterReplacing(now, cause, failure, err)
	m.rec.told = true
	if failure {
		m.raise(now, &RecoveryError{Session: s.number, Cause: cause, Err: err})
	}
	if m.ended() {
		return
	}
	if m.try != nil {
		// An operator's replacement is under way: it becomes the first attempt.
		m.rec.tries = 1
		return
	}
	m.firstAttempt(now)
}

// firstAttempt makes the first attempt of a recovery: at once, unless the session
// that ended was healthy only briefly (rule 5). Time away is part of that pause: a
// connection that never lives as long as a pause would else never see an attempt.
func (m *Machine) firstAttempt(now time.Duration) {
	if m.rec.dueAt == 0 {
		m.rec.dueAt = now
		if m.rec.cause != CauseSnapshotRead {
			m.rec.dueAt += m.pace.first(m.cfg.Retry, m.healthy(now), m.cfg.Rand())
		}
	}
	m.rec.nextAt = m.rec.dueAt
	if wait := m.rec.dueAt - now; wait > 0 {
		m.tell(Event{Kind: KindRetryWaiting, Cause: m.rec.cause, Wait: wait, Attempt: 1, Text: "the last session ended soon"})
		return
	}
	m.attemptNow(now)
}

// condemn ends the session in use for good.
func (m *Machine) condemn(now time.Duration, cause Cause, failure bool, err error) {
	m.cur.condemned = true
	m.cur.forget()
	m.lose(now, cause, failure, err)
}

// raise tells the caller of a failure as OnError says.
func (m *Machine) raise(now time.Duration, err *RecoveryError) {
	m.fig.LastError = err
	switch m.cfg.OnError {
	case OnErrorWait:
	case OnErrorRaise:
		m.do(Effect{Do: DoRaise, Err: err})
	case OnErrorFinish:
		m.finish(now, err)
	}
}

// discard ends an attempt that did not make it: the session in use stays as it
// is, no subscription is left, and what was created is known as a leftover.
func (m *Machine) discard(a *attempt) {
	if a.req != 0 {
		m.cancel(a.req)
	}
	m.unsubscribe(a)
	m.try = nil
}

// failAttempt ends the running attempt and paces the next one (rules 5 and 6).
func (m *Machine) failAttempt(now time.Duration, err error) {
	a := m.try
	consumer := ""
	if a.sess != nil {
		consumer = a.sess.consumer
	}
	m.discard(a)
	err = marked(err)
	m.fig.LastError = err
	m.tell(Event{Kind: KindReplaceFailed, Cause: m.cause(), Consumer: consumer, Attempt: m.rec.tries,
		Took: now - a.began, Err: err, Code: codeOf(err)})
	m.fulfil(err)
	if !m.rec.on {
		m.rec = recovery{}
		m.release(now)
		m.loseDoubted(now)
		return
	}
	if errors.Is(err, ErrNoAnswer) {
		m.suspect()
	}
	m.rec.fails++
	m.rec.lastErr, m.rec.failure = err, true
	m.noteMissing(now, err)
	if m.phase == Opening && m.fatalAtOpen(err) {
		m.fatal(now, err)
		return
	}
	if m.streamLost(now) {
		m.fatal(now, err)
		return
	}
	if m.phase != Opening {
		m.raise(now, &RecoveryError{Session: m.number, Cause: m.rec.cause, Attempt: m.rec.tries, Err: err})
	}
	if m.ended() {
		return
	}
	if n := m.cfg.Retry.MaxAttempts; n > 0 && m.rec.fails >= n {
		m.giveUp(now, fmt.Sprintf("%d attempts", n))
		return
	}
	m.waitRetry(now)
}

func (m *Machine) waitRetry(now time.Duration) {
	wait := m.pace.next(m.cfg.Retry, m.cfg.Rand())
	m.rec.nextAt = now + wait
	if m.rec.missing && m.rec.graceAt > now && m.rec.nextAt > m.rec.graceAt && !m.cfg.WaitForStream {
		m.rec.nextAt, wait = m.rec.graceAt, m.rec.graceAt-now
	}
	m.tell(Event{Kind: KindRetryWaiting, Cause: m.cause(), Wait: wait, Attempt: m.rec.tries + 1, Err: m.rec.lastErr})
}

// cause is what the running attempt is for.
func (m *Machine) cause() Cause {
	if m.rec.on {
		return m.rec.cause
	}
	return CauseRequested
}

// noteMissing starts the grace of a stream that does not exist.
func (m *Machine) noteMissing(now time.Duration, err error) {
	was := m.rec.missing
	switch natureOf(err) {
	case streamMissing:
		m.rec.missing = true
	case noSlot, nameTaken:
		m.streamSeen()
		return
	default:
		m.rec.missing = false
		return
	}
	if m.cur != nil {
		m.cur.strayed = m.cur.strayed || !m.cur.gone
		m.cur.condemned, m.cur.gone = true, true
	}
	if m.rec.graceAt == 0 {
		m.rec.graceAt = now + m.cfg.StreamGrace
	}
	if !was {
		m.tell(Event{Kind: KindStreamMissing, Code: codeStreamNotFound, Err: err})
	}
}

// streamSeen ends the grace: the stream exists.
func (m *Machine) streamSeen() { m.rec.missing, m.rec.graceAt = false, 0 }

// streamLost says that the stream was missing longer than its grace.
func (m *Machine) streamLost(now time.Duration) bool {
	return m.rec.missing && m.phase == Replacing && !m.cfg.WaitForStream && now >= m.rec.graceAt
}

// fatalAtOpen says what an operator must mend before a reader can be opened.
func (m *Machine) fatalAtOpen(err error) bool {
	switch natureOf(err) {
	case streamMissing:
		return !m.cfg.WaitForStream
	case denied, noJetStream, misfit:
		return true
	}
	return errors.Is(err, ErrConfig) || errors.Is(err, ErrPermission)
}

// giveUp ends a reader whose policy allows no further attempt.
func (m *Machine) giveUp(now time.Duration, bound string) {
	err := m.rec.lastErr
	switch {
	case !m.connected:
		err = errors.New("the connection is away")
	case err == nil:
		err = ErrNoAnswer
	}
	m.fatal(now, fmt.Errorf("%w after %s: %w", ErrGaveUp, bound,
		&RecoveryError{Session: m.number, Cause: m.rec.cause, Attempt: m.rec.tries, Err: err}))
}
