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
	a.bound = true
	if m.cur != nil {
		a.sess.count = m.cur.count
	}
	if m.asks.denied.holds(now) && !m.cfg.StopAtEnd {
		m.restoreDurable(now, a)
		return
	}
	m.askDurable(now, a)
}

// askDurable asks whether the durable exists and what it is like. Servers of 2.10 look
// for pulls that nobody waits for at this request, and else once a second only.
func (m *Machine) askDurable(now time.Duration, a *attempt) {
	a.step = asking
	a.req = m.request(Effect{API: APIConsumerInfo, Consumer: m.cfg.Durable}, func(now time.Duration, ans Answer) {
		a.req = 0
		switch {
		case ans.Err == nil && !m.blind && (m.madeAt > 0 || m.cur != nil && (m.cur.deleted || m.which.another(ans.Consumer.Created))):
			m.lookAgain(now, a, ans.Consumer)
		case ans.Err == nil:
			m.durableThere(now, a, *ans.Consumer)
		case isCode(ans.Err, codeConsumerNotFound):
			m.which.deleted(m.number)
			m.restoreDurable(now, a)
		case errors.Is(ans.Err, ErrDenied) && m.number == 0 && m.cfg.StopAtEnd:
			m.failAttempt(now, fmt.Errorf("%w: StopAtEnd of a durable needs %s", ErrPermission, m.subjectOf(APIConsumerInfo, m.cfg.Durable)))
		case errors.Is(ans.Err, ErrDenied):
			m.restoreDurable(now, a)
		default:
			m.failAttempt(now, fmt.Errorf("ask about durable %s: %w", m.cfg.Durable, ans.Err))
		}
	})
}

// restoreDurable makes a durable that does not exist, or may not: one that was read, not
// before a look at the stream, where its place means nothing if that is another one.
func (m *Machine) restoreDurable(now time.Duration, a *attempt) {
	if m.number > 0 && !m.blind {
		m.lookAgain(now, a, nil)
		return
	}
	m.createDurable(now, a)
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
	a.paused = m.notePause(now, &f)
	m.limits.obey(f.Limits)
	m.noteCreated(f)
	if m.which.seen(f.Created, m.number) {
		m.raiseFloor()
		m.handled = handled{}
	}
	m.noteFloor(f)
	if m.number == 0 {
		m.cursor = Cursor{Sequence: f.DeliveredStream}
		m.start.kind = StartPosition
	}
	a.crowd = f.crowd()
	if m.cur != nil && !m.cur.unbound && (f.MaxWaiting == 1 || a.crowd != "") {
		// No pull of the new session can wait beside those of the one in use.
		if m.phase == Reading || m.phase == Silent {
			m.unused(now)
		}
		m.unbind(now, a)
		return
	}
	m.prove(now, a)
}

// crowd says that no further pull can wait on a consumer: servers from 2.11 on drop
// such a pull without a word.
func (f *ConsumerFacts) crowd() string {
	if f.MaxWaiting == 0 || f.Waiting < f.MaxWaiting {
		return ""
	}
	return fmt.Sprintf(": %d pulls wait on %s, its max_waiting is %d: raise it, or read with fewer readers", f.Waiting, f.Name, f.MaxWaiting)
}

// lookAgain looks at the stream before a durable that was read is bound or made
// again: in a stream that was re-created, its floor means nothing. there is the
// durable if it exists.
func (m *Machine) lookAgain(now time.Duration, a *attempt, there *ConsumerFacts) {
	a.req = m.request(Effect{API: APIStreamInfo}, func(now time.Duration, ans Answer) {
		a.req = 0
		if there == nil {
			m.raiseFloor()
		}
		switch {
		case errors.Is(ans.Err, ErrDenied):
			m.blind = true
		case ans.Err != nil:
			m.failAttempt(now, fmt.Errorf("look at stream %s: %w", m.cfg.Stream, ans.Err))
			return
		case m.created == 0, ans.Stream.Created == m.created, ans.Stream.Mirror:
			if m.noteRollBack(now, *ans.Stream); m.ended() {
				return
			}
		case m.number == 0:
			m.created = ans.Stream.Created // nothing was read of the one before
		default:
			if m.followReset(now, *ans.Stream); m.ended() {
				return
			}
		}
		if there != nil {
			m.place(now, a, *there)
			return
		}
		m.createDurable(now, a)
	})
}

// noteRollBack notes a stream without its tail. Below what was acknowledged, what it
// holds was read and all that comes is new.
func (m *Machine) noteRollBack(now time.Duration, f StreamFacts) {
	if f.Last >= m.floor {
		return
	}
	m.tellReset(now, f, false)
	m.cursor, m.floor, m.handled = Cursor{Sequence: f.Last}, f.Last, handled{}
}

// followReset goes over to a stream that was re-created.
func (m *Machine) followReset(now time.Duration, f StreamFacts) {
	m.tellReset(now, f, true)
	m.created, m.cursor, m.floor, m.handled = f.Created, Cursor{}, 0, handled{}
	if m.cfg.OnReset == OnResetFollowNew {
		m.floor = f.Last
	}
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
		m.raiseFloor()
		c.Start, c.Sequence, c.Time = StartSequence, m.floor+1, 0
	}
	if c.Again && c.Start == StartSequence {
		m.madeAt, m.made = max(m.madeAt, c.Sequence), false
	}
	before := m.which.gone
	m.which.deleted(m.number)
	a.req = m.request(Effect{API: APIConsumerCreate, Consumer: m.cfg.Durable, Create: c}, func(now time.Duration, ans Answer) {
		a.req = 0
		switch {
		case ans.Err == nil:
			m.durableMade(now, a, c, *ans.Consumer)
		case isCode(ans.Err, codeDeliverAllOnly) && !m.workQueue:
			m.workQueue = true
			m.createDurable(now, a)
		case natureOf(ans.Err) == nameTaken && !m.asks.denied.holds(now) && !a.raced:
			// Another reader was first: bind to what it made.
			a.raced, m.which.gone = true, before
			m.bindDurable(now, a)
		case natureOf(ans.Err) == nameTaken:
			m.which.gone = before
			m.prove(now, a)
		default:
			m.failAttempt(now, ans.Err)
		}
	})
}

// durableMade looks at the stream once more behind the create's answer: it may have
// been re-created since it was looked at before.
func (m *Machine) durableMade(now time.Duration, a *attempt, c Create, f ConsumerFacts) {
	if c.Again && c.Start == StartSequence {
		m.madeAt, m.made = c.Sequence, true
	}
	if m.which.same(f.Created) {
		m.madeAt, m.made = 0, false // it was there all the time: the create found it
	}
	if m.blind {
		m.place(now, a, f)
		return
	}
	a.step = pinning
	m.lookAgain(now, a, &f)
}

// place goes on with a durable that begins where it should.
func (m *Machine) place(now time.Duration, a *attempt, f ConsumerFacts) {
	if (m.madeAt > m.floor+1 || m.made && m.madeAt != m.floor+1) && f.DeliveredConsumer == 0 {
		m.makeAnew(now, a, f)
		return
	}
	if gone, ok := (Cursor{Sequence: m.floor}).passed(f.DeliveredStream + 1); ok && m.made {
		m.miss(gone, "at most: while the durable was gone")
	}
	m.madeAt, m.made = 0, false
	m.durableThere(now, a, f)
}

// makeAnew is for a durable that this reader has just made, or that its unanswered
// create may have made, at a place that belongs to a stream that is no more: it would
// skip what lies before it. Nobody has read from it, so nothing is lost with it. No
// other durable is ever deleted.
func (m *Machine) makeAnew(now time.Duration, a *attempt, f ConsumerFacts) {
	a.step = clearing
	a.req = m.request(Effect{API: APIConsumerDelete, Consumer: m.cfg.Durable}, func(now time.Duration, ans Answer) {
		a.req = 0
		switch {
		case ans.Err == nil, isCode(ans.Err, codeConsumerNotFound):
			if a.turns++; a.turns > maxTurns {
				m.failAttempt(now, fmt.Errorf("durable %s: its stream is re-created again and again", m.cfg.Durable))
				return
			}
			m.createDurable(now, a)
		case errors.Is(ans.Err, ErrDenied):
			m.madeAt, m.made = 0, false
			m.miss(span{m.floor + 1, f.DeliveredStream}, "at most: durable "+m.cfg.Durable+" begins behind them and cannot be deleted")
			m.durableThere(now, a, f)
		default:
			m.failAttempt(now, fmt.Errorf("delete durable %s: %w", m.cfg.Durable, ans.Err))
		}
	})
}
