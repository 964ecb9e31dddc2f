package session

import (
	"fmt"
	"strconv"
	"time"
)

// step is what a running attempt waits for.
type step int

const (
	finding   step = iota // STREAM.NAMES: which stream stores the subject
	looking               // STREAM.INFO before the first create: may it be read as asked
	draining              // the old inbox is unsubscribed, what came before is being delivered
	asking                // CONSUMER.INFO of a consumer that is to be bound
	resetting             // CONSUMER.RESET
	clearing              // CONSUMER.DELETE of a consumer that stands in the way
	creating              // CONSUMER.CREATE
	pinning               // STREAM.INFO after the create's answer
	proving               // the first pull is out
)

// attempt makes one new session. Until its proof the session in use is not touched.
type attempt struct {
	n     int
	step  step
	began time.Duration
	sess  *Session // the one being made; nil until its inbox is subscribed
	made  *leftover
	takes *leftover // what it is to create under the name of
	req   RequestID

	at       Cursor // the cursor as of the create's request
	overlaps bool   // it starts at that cursor
	skips    bool   // it starts at the end on purpose (OnMissedSkip)
	exact    Cursor // where it starts, by the create's answer

	expects  bool // the message at the cursor is to come first
	checked  bool // the message at the cursor was asked for
	informed bool // STREAM.INFO was asked after the create's answer and raised no doubt
	facts    StreamFacts
	held     *Delivery // a message that is not accepted while the identity is in doubt

	nothing bool   // the create's answer said that nothing waits
	turns   int    // consumers given up on the way
	bound   bool   // an existing consumer is bound as it is
	paused  bool   // the consumer that is bound is paused
	reset   bool   // an existing consumer was set back
	raced   bool   // another reader created the durable first
	crowd   string // why a durable may have no room for the first pull
	proofBy time.Duration
	probe   uint64        // its first pull, by token
	probeBy time.Duration // when an unanswered probe counts as lost
}

func (a *attempt) wake(m *Machine, w *wake) {
	switch {
	case a.proofBy == 0:
	case a.step == draining:
		w.at(a.proofBy)
	default:
		w.at(m.certainAt(a.proofBy))
		// From proofBy on no other probe is sent, however long its proof may yet be on the way.
		if t := m.certainAt(a.probeBy); a.step == proving && t < a.proofBy {
			w.at(t)
		}
	}
}

func (a *attempt) tick(m *Machine, now time.Duration) {
	if a.proofBy > 0 && now < a.proofBy && a.step == proving && m.overdue(now, a.probeBy) {
		m.probeAgain(now, a)
		return
	}
	if a.proofBy == 0 || now < a.proofBy {
		return
	}
	if a.step == draining {
		m.Drained(now, a.sess.attempt)
		return
	}
	if !m.overdue(now, a.proofBy) {
		return
	}
	m.rec.unproven++
	m.failAttempt(now, fmt.Errorf("no proof within %s: the pull on %s got %w%s", a.proofBy-a.began, a.sess.consumer, ErrNoAnswer, a.crowd))
}

// attemptNow begins an attempt. While the session in use is only silent, each
// attempt from the second on also gives it one pull to heal by.
func (m *Machine) attemptNow(now time.Duration) {
	m.attempts++
	a := &attempt{n: m.attempts, began: now}
	m.try = a
	m.blind = m.blind && m.unseen.holds(now)
	if m.rec.on {
		m.rec.tries++
		m.rec.nextAt, m.rec.dueAt = 0, 0
		if m.rec.mute {
			m.rec.turns++
		}
		if m.rec.tries > 1 {
			m.healPull(now)
		}
	}
	switch {
	case m.cfg.Stream == "":
		m.find(a)
	case m.number == 0 && !m.looked && !m.blind:
		m.look(a)
	default:
		m.make(now, a)
	}
}

// make chooses how the new session comes by its consumer.
func (m *Machine) make(now time.Duration, a *attempt) {
	switch {
	case !m.cfg.private():
		m.bindDurable(now, a)
	case m.cur != nil && !m.cur.gone && (m.cfg.Name != "" || m.rec.noSlot && m.binds() || m.keptPaused()):
		m.rebind(now, a)
	default:
		m.create(now, a)
	}
}

// keptPaused says that an operator paused the consumer in use: a new one would read
// on and so overrule the pause. A wish to replace it is an operator's, too.
func (m *Machine) keptPaused() bool { return m.paused && m.rec.on && !m.cur.condemned }

// spec is where the next consumer starts.
func (m *Machine) spec(a *attempt) Create {
	a.at, a.overlaps, a.skips = m.cursor, false, false
	switch {
	case !m.settled():
		return Create{Start: m.start.kind, Sequence: m.start.sequence, Time: m.start.time}
	case m.edge > 0 && m.cursor.Sequence < m.edge:
		return Create{Start: StartLastPerSubject}
	case m.skipping():
		a.skips = true
		return Create{Start: StartNew}
	}
	a.overlaps = true
	o := atCursor(m.cursor)
	return Create{Start: o.kind, Sequence: o.sequence}
}

// skipping says that the next session starts at the stream's end, whatever waits.
func (m *Machine) skipping() bool {
	return m.cfg.OnMissed == OnMissedSkip && m.rec.failure && m.number > 0
}

// subscribe makes the session of an attempt, with an inbox of its own.
func (m *Machine) subscribe(now time.Duration, a *attempt, consumer string) {
	if a.sess != nil {
		a.sess.consumer = consumer
		return
	}
	a.sess = &Session{
		attempt: a.n, consumer: consumer, created: now,
		inbox: m.cfg.Inbox + "." + strconv.Itoa(a.n) + ".*",
	}
	m.do(Effect{Do: DoSubscribe, Attempt: a.n, Inbox: a.sess.inbox})
}

func (m *Machine) unsubscribe(a *attempt) {
	if a.sess == nil {
		return
	}
	m.do(Effect{Do: DoUnsubscribe, Attempt: a.sess.attempt})
	if a.held != nil {
		a.held = nil
		m.do(Effect{Do: DoDropHeld, Attempt: a.sess.attempt})
	}
	a.sess = nil
}

// Unsubscribable ends an attempt whose inbox could not be subscribed.
func (m *Machine) Unsubscribable(now time.Duration, attempt int, err error) {
	if a := m.try; a != nil && a.sess != nil && a.sess.attempt == attempt && !m.ended() {
		m.failAttempt(now, err)
	}
	m.settle(now)
}
