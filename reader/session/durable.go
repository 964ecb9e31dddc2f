package session

import (
	"errors"
	"fmt"
	"time"
)

// bindDurable binds a new inbox to the durable as it is; it is created only where
// it does not exist, never deleted and never reset (rule 12).
func (m *Machine) bindDurable(now time.Duration, a *attempt) {
	m.subscribe(now, a, m.cfg.Durable)
	a.step, a.bound = asking, true
	if m.asks.denied.holds(now) && !m.cfg.StopAtEnd {
		m.createDurable(now, a)
		return
	}
	a.req = m.request(Effect{API: APIConsumerInfo, Consumer: m.cfg.Durable}, func(now time.Duration, ans Answer) {
		a.req = 0
		switch {
		case ans.Err == nil:
			m.durableThere(now, a, *ans.Consumer)
		case isCode(ans.Err, codeConsumerNotFound) && m.number > 0 && !m.blind:
			m.lookAgain(now, a)
		case isCode(ans.Err, codeConsumerNotFound):
			m.createDurable(now, a)
		case errors.Is(ans.Err, ErrDenied) && m.number == 0 && m.cfg.StopAtEnd:
			m.failAttempt(now, fmt.Errorf("%w: StopAtEnd of a durable needs %s", ErrPermission, m.subjectOf(APIConsumerInfo, m.cfg.Durable)))
		case errors.Is(ans.Err, ErrDenied):
			m.createDurable(now, a)
		default:
			m.failAttempt(now, fmt.Errorf("ask about durable %s: %w", m.cfg.Durable, ans.Err))
		}
	})
}

func (m *Machine) durableThere(now time.Duration, a *attempt, f ConsumerFacts) {
	switch {
	case f.PushBased:
		m.failAttempt(now, fmt.Errorf("%w: durable %s is a push consumer: a reader needs a pull consumer", ErrConfig, m.cfg.Durable))
		return
	case m.number == 0 && len(m.cfg.Subjects) > 0 && !sameSubjects(m.cfg.Subjects, f.Filters):
		// It would hand out, and have acked, what the caller did not ask for.
		m.failAttempt(now, fmt.Errorf("%w: Subjects: durable %s filters %s, not %s: name its own filters or none", ErrConfig,
			m.cfg.Durable, subjectList(f.Filters), subjectList(m.cfg.Subjects)))
		return
	case f.Grouped:
		// Every pull would have to name a group, and may have to leave it to another.
		m.failAttempt(now, fmt.Errorf("%w: durable %s has priority groups, which a reader does not serve: use one without", ErrConfig, m.cfg.Durable))
		return
	case f.AckNone:
		m.failAttempt(now, fmt.Errorf("%w: durable %s takes no acks: a durable reader needs explicit acks", ErrConfig, m.cfg.Durable))
		return
	}
	a.paused = f.Paused
	m.limits.obey(f.Limits)
	m.noteCreated(f)
	m.noteFloor(f)
	if m.number == 0 {
		m.cursor = Cursor{Sequence: f.DeliveredStream}
		m.start.kind = StartPosition
	}
	m.prove(now, a)
}

// lookAgain looks at the stream before a durable that was read is made again: in a
// stream that was re-created, its floor means nothing.
func (m *Machine) lookAgain(now time.Duration, a *attempt) {
	a.req = m.request(Effect{API: APIStreamInfo}, func(now time.Duration, ans Answer) {
		a.req = 0
		switch {
		case errors.Is(ans.Err, ErrDenied):
			m.blind = true
		case ans.Err != nil:
			m.failAttempt(now, fmt.Errorf("look at stream %s: %w", m.cfg.Stream, ans.Err))
			return
		case ans.Stream.Created != m.created && m.created != 0 && !ans.Stream.Mirror:
			if m.tellReset(now, *ans.Stream, true); m.ended() {
				return
			}
			m.created, m.cursor, m.floor = ans.Stream.Created, Cursor{}, 0
			if m.cfg.OnReset == OnResetFollowNew {
				m.floor = ans.Stream.Last
			}
		case ans.Stream.Last < m.floor:
			// Rolled back below what was acknowledged: what it holds was read, all
			// that comes is new.
			if m.tellReset(now, *ans.Stream, false); m.ended() {
				return
			}
			m.cursor, m.floor = Cursor{Sequence: ans.Stream.Last}, ans.Stream.Last
		}
		m.createDurable(now, a)
	})
}

// noteFloor keeps up to where every message of the durable was acknowledged: where
// it is made again if it is deleted.
func (m *Machine) noteFloor(f ConsumerFacts) {
	if f.AckPending == 0 {
		m.floor = max(m.floor, f.DeliveredStream)
		return
	}
	m.floor = max(m.floor, f.AckFloor)
}

// createDurable makes the durable. On a work-queue stream only a consumer of all
// is allowed; one that was read before is made from the lowest floor known.
func (m *Machine) createDurable(now time.Duration, a *attempt) {
	a.step = creating
	c := Create{Name: m.cfg.Durable, Start: m.start.kind, Sequence: m.start.sequence, Time: m.start.time, Again: m.number > 0}
	switch {
	case m.workQueue:
		c.Start, c.Sequence, c.Time = StartAll, 0, 0
	case c.Again:
		c.Start, c.Sequence, c.Time = StartSequence, m.floor+1, 0
	}
	a.req = m.request(Effect{API: APIConsumerCreate, Consumer: m.cfg.Durable, Create: c}, func(now time.Duration, ans Answer) {
		a.req = 0
		switch {
		case ans.Err == nil:
			if gone, ok := (Cursor{Sequence: m.floor}).passed(ans.Consumer.DeliveredStream + 1); ok && c.Again && !m.workQueue {
				m.miss(gone, "at most: while the durable was gone")
			}
			m.durableThere(now, a, *ans.Consumer)
		case isCode(ans.Err, codeDeliverAllOnly) && !m.workQueue:
			m.workQueue = true
			m.createDurable(now, a)
		case natureOf(ans.Err) == nameTaken && !m.asks.denied.holds(now) && !a.raced:
			// Another reader was first: bind to what it made.
			a.raced = true
			m.bindDurable(now, a)
		case natureOf(ans.Err) == nameTaken:
			m.prove(now, a)
		default:
			m.failAttempt(now, ans.Err)
		}
	})
}
