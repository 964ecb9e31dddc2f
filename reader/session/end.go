package session

import (
	"errors"
	"fmt"
	"time"
)

// end is where StopAtEnd stops (rule 18).
type end struct {
	on    bool
	at    uint64 // last sequence at Open; nothing above it is handed out
	set   bool
	empty bool // the first create's answer said that nothing waits
}

func (e *end) pin(last uint64) {
	if !e.set {
		e.at, e.set = last, true
	}
}

// pinAnew follows a stream that was reset.
func (e *end) pinAnew(last uint64) { e.at, e.set = last, true }

// beyond says that a sequence lies above the end.
func (e *end) beyond(sequence uint64) bool { return e.on && e.set && sequence > e.at }

// endBehind looks whether the end was reached with a message.
func (m *Machine) endBehind(now time.Duration, s *Session, d Delivery) {
	switch {
	case !m.end.on || m.ended():
	case !m.cfg.private():
		if d.Pending == 0 {
			m.askEnd(now)
		}
	case m.end.set && d.Sequence >= m.end.at:
		m.finish(now, nil)
	case d.Pending == 0:
		// The last message of the filter lies below the end: the ask tells at once
		// what a heartbeat would tell later.
		m.askEnd(now)
	}
}

// endByHeartbeat is a pull that waits at or beyond the end with all received.
func (m *Machine) endByHeartbeat(now time.Duration, st Status) bool {
	if !m.end.on || !st.HasLast {
		return false
	}
	if !m.cfg.private() {
		if m.pending == 0 {
			m.askEnd(now)
		}
		return false
	}
	if m.end.set && st.LastStream >= m.end.at && st.LastConsumer == m.cur.consumerSeq {
		m.finish(now, nil)
		return true
	}
	return false
}

// askEnd asks whether nothing waits and nobody paused the consumer.
func (m *Machine) askEnd(now time.Duration) {
	s := m.cur
	if m.asks.denied.holds(now) || m.asks.end != 0 || m.phase != Reading || now < m.asks.endAfter {
		return
	}
	m.asks.end = m.request(Effect{API: APIConsumerInfo, Consumer: s.consumer}, func(now time.Duration, a Answer) {
		m.asks.end = 0
		if a.Err != nil {
			// A heartbeat or a message asks again, not at the speed of the messages.
			m.asks.endAfter = now + m.cfg.Retry.Pause(1, m.cfg.Rand())
			return
		}
		f := a.Consumer
		m.pending = f.Pending
		received := !m.cfg.private() || f.DeliveredConsumer == s.consumerSeq
		if f.Pending == 0 && !f.Paused && received {
			m.finish(now, nil)
		}
	})
}

// opened tells Open that the first session is proven.
func (m *Machine) opened(now time.Duration) {
	m.do(Effect{Do: DoOpened, Start: m.cursor})
	if m.pending == 0 {
		m.noteCaughtUp(now, 0)
	}
	if m.end.on && m.end.empty {
		if m.cfg.private() {
			m.finish(now, nil)
			return
		}
		m.askEnd(now)
	}
}

// finish ends the reader at a chosen end, or under OnErrorFinish with its failure:
// what is buffered is still handed out.
func (m *Machine) finish(now time.Duration, err error) {
	if m.ended() {
		return
	}
	e := Event{Kind: KindClosed, Sequence: m.cursor.Sequence, Err: err, Text: "end"}
	if err != nil {
		e.Kind, e.Text = KindFailed, "finish on error"
	}
	m.tell(e)
	m.do(Effect{Do: DoEnd, Err: err})
	if m.cur != nil && m.rec.missing {
		m.cur.strayed = false // the server's last word
	}
	m.shut(now, now+2*m.cfg.Retry.AttemptTimeout)
}

// fatal ends the reader by an error.
func (m *Machine) fatal(now time.Duration, err error) {
	if m.ended() {
		return
	}
	what := "read"
	if m.number == 0 {
		what = "open reader on"
	}
	err = fmt.Errorf("%s %s: %w", what, m.target(), err)
	m.fig.LastError = err
	e := Event{Kind: KindFailed, Sequence: m.cursor.Sequence, Cause: m.rec.cause, Err: err, Code: codeOf(err)}
	if errors.Is(err, ErrConnectionClosed) {
		e.Cause = CauseConnectionClosed
	}
	m.tell(e)
	if m.number == 0 {
		m.do(Effect{Do: DoOpened, Err: err})
	}
	m.do(Effect{Do: DoEnd, Err: err})
	if m.cur != nil && m.rec.missing {
		m.cur.strayed = false // the server's last word
	}
	m.shut(now, now+2*m.cfg.Retry.AttemptTimeout)
}

func (m *Machine) target() string {
	if m.cfg.Stream == "" {
		return "subject " + m.cfg.Subjects[0]
	}
	return "stream " + m.cfg.Stream
}

// OpenTimedOut ends an Open whose caller waits no longer: the last cause, wrapped.
func (m *Machine) OpenTimedOut(now time.Duration, why error) {
	if m.phase != Opening {
		return
	}
	err := m.rec.lastErr
	if err == nil {
		err = why
	} else {
		err = fmt.Errorf("%w: %w", why, err)
	}
	m.fatal(now, err)
	m.settle(now)
}

// Close ends the reader by its caller's wish; what it left on the server is
// removed until by.
func (m *Machine) Close(now, by time.Duration) {
	if m.ended() {
		m.left.by = by
		if !m.cfg.private() && m.giving == 0 {
			m.do(Effect{Do: DoGiveBack})
		}
		m.settle(now)
		return
	}
	m.tell(Event{Kind: KindClosed, Sequence: m.cursor.Sequence})
	if m.number == 0 {
		m.do(Effect{Do: DoOpened, Err: ErrClosed})
	}
	m.do(Effect{Do: DoEnd, Err: ErrClosed})
	m.shut(now, by)
	m.giveBack(now)
	m.settle(now)
}

// Drain stops reading; what is buffered is still handed out.
func (m *Machine) Drain(now time.Duration) {
	if !m.ended() {
		m.finish(now, nil)
		m.settle(now)
	}
}

// shut stops everything that reads and begins to remove what is left.
func (m *Machine) shut(now, by time.Duration) {
	if m.try != nil {
		m.discard(m.try)
	}
	m.fulfil(ErrClosed)
	m.dropAsks()
	s := m.cur
	m.enterEnding(now)
	m.rec = recovery{}
	m.release(now)
	if s != nil {
		m.letGo(s)
		m.retire(now, s)
	}
	m.left.by = by
	for _, l := range m.left.list {
		l.next = now
	}
	if m.connected {
		m.left.tick(m, now)
	}
}

// settle ends an ending reader that has nothing more to remove, or no more time.
func (m *Machine) settle(now time.Duration) {
	if m.phase != Ending {
		return
	}
	if (len(m.left.list) > 0 || m.giving != 0) && now < m.left.by {
		return
	}
	for _, l := range m.left.list {
		if !l.told {
			m.tell(Event{Kind: KindOrphanLeft, Session: l.session, Consumer: l.name, Text: "not deleted in time; the server removes it after its inactive threshold"})
		}
	}
	for _, id := range m.openRequests() {
		m.cancel(id)
	}
	m.given()
	m.phase, m.since = Done, now
	m.do(Effect{Do: DoDone})
}
