package session

import (
	"errors"
	"fmt"
	"time"
)

// create subscribes a new inbox, then asks for a consumer.
func (m *Machine) create(now time.Duration, a *attempt) {
	if m.cfg.Name != "" && m.inUse() > 0 {
		m.clearOwn(now, a)
		return
	}
	c := m.spec(a)
	if m.cfg.Name != "" {
		c.Name = m.cfg.Name
		a.made = m.left.find(c.Name)
		if a.made == nil {
			a.made = &leftover{name: c.Name, made: c, recovery: m.rec.id, held: true}
			m.left.list = append(m.left.list, a.made)
		}
	} else {
		l, ok := a.takes, a.takes != nil
		if !ok {
			l, ok = m.pickName(a, c)
		}
		if !ok {
			m.makeRoom(now, a)
			return
		}
		a.made = l
	}
	c.Name, c.Inactive = a.made.name, m.cfg.Inactive
	if a.takes != nil {
		a.made.made, a.takes = c, nil
	}
	m.subscribe(now, a, c.Name)
	a.sess.made, a.sess.startSeq, a.sess.snapshot = c, c.Sequence, c.Start == StartLastPerSubject
	a.step = creating
	a.made.touched = now
	a.made.creates++
	a.req = m.request(Effect{API: APIConsumerCreate, Consumer: c.Name, Create: c}, func(now time.Duration, ans Answer) {
		a.req = 0
		if ans.Err != nil {
			m.createRefused(now, a, ans.Err)
			return
		}
		m.createAnswered(now, a, *ans.Consumer)
	})
}

func (m *Machine) createRefused(now time.Duration, a *attempt, err error) {
	if nothingMade(err) && a.made.creates == 1 {
		// A name that was asked for before may yet be made by the create that was not
		// answered: it stays one of the two.
		m.left.drop(a.made)
	}
	if m.obeyThreshold(err) {
		m.anew(now, a, err)
		return
	}
	switch natureOf(err) {
	case noSlot:
		m.tell(Event{Kind: KindConsumerLimit, Consumer: a.sess.consumer, Err: err, Code: codeOf(err), Attempt: m.rec.tries})
		m.rec.noSlot = true
		l := m.left.deletable(a.made)
		if m.cur != nil && !m.cur.gone && (m.binds() || l == nil) {
			m.unsubscribe(a)
			m.renew(a)
			m.rebind(now, a)
			return
		}
		if l != nil {
			m.clear(a, l, err)
			return
		}
	case nameTaken:
		m.nameTaken(now, a, err)
		return
	}
	m.failAttempt(now, err)
}

// nameTaken is a consumer of that name with another configuration. A unique name is
// ours: out of the way with it. Config's Name may be of an earlier attempt of ours,
// which the owner in its metadata tells, or somebody else's, which is never touched.
func (m *Machine) nameTaken(now time.Duration, a *attempt, err error) {
	l := a.made
	if m.cfg.Name != "" {
		err = fmt.Errorf("%w: %s: %w", ErrNameInUse, m.cfg.Name, err)
	}
	switch {
	case m.cfg.Name == "", m.asks.denied.holds(now) && !m.ownerUnknown(l):
		l.answered = true
		m.clear(a, l, err)
	case (l.creates > 1 || m.number > 0 && m.rec.tries > 1) && !m.asks.denied.holds(now):
		a.step = asking
		a.req = m.request(Effect{API: APIConsumerInfo, Consumer: l.name}, func(now time.Duration, ans Answer) {
			a.req = 0
			if ans.Err == nil && ans.Consumer.Owner == m.cfg.ID {
				l.answered = true
				m.clear(a, l, err)
				return
			}
			if ans.Err == nil {
				m.left.drop(l)
			}
			m.failAttempt(now, err)
		})
	default:
		m.left.drop(l)
		m.failAttempt(now, err)
	}
}

// nothingMade says that a create cannot have made anything: refused by the server's
// own word, not let through, or heard by nobody. "Unavailable" is no such word: a node
// that hears no other says so of a cluster whose leader may have heard the request.
func nothingMade(err error) bool {
	if errors.Is(err, ErrDenied) || errors.Is(err, ErrNoResponders) {
		return true
	}
	return codeOf(err) != 0 && natureOf(err) != nameTaken && !isCode(err, codeUnavailable)
}

// deletable gives a leftover that may be deleted to make room: rather one that is
// known to exist, whose delete is sure to have an effect.
func (ls *leftovers) deletable(but *leftover) (found *leftover) {
	for _, l := range ls.list {
		if l == but || l.req != 0 || l.stays {
			continue
		}
		if l.answered {
			return l
		}
		if found == nil {
			found = l
		}
	}
	return found
}

// makeRoom is for an attempt that would be one consumer too many: a leftover goes
// first, or the session in use is bound anew. One that was told to lapse makes room
// as soon as the server says that it is gone. Where the session in use does not answer
// either, a leftover whose delete failed gets its turn: its node may be back, or the
// delete done that was not answered.
func (m *Machine) makeRoom(now time.Duration, a *attempt) {
	l, soon := m.left.deletable(nil), m.left.lapsing()
	there := m.cur != nil && !m.cur.gone && m.binds()
	switch {
	case l != nil && l.answered:
		m.clear(a, l, nil)
	case there && (!m.cur.condemned || m.level >= levelReset):
		m.rebind(now, a)
	case soon != nil && !m.asks.denied.holds(now):
		m.awaitLapse(a, soon)
	case there:
		m.rebind(now, a)
	case l != nil:
		m.clear(a, l, nil)
	default:
		m.clearAgain(now, a)
	}
}

// clearAgain is for an attempt that has nothing better to make room with than a
// leftover whose delete failed before: in turn, for the node of one may stay down.
func (m *Machine) clearAgain(now time.Duration, a *attempt) {
	var next *leftover
	for _, l := range m.left.list {
		if l.req == 0 && !l.shortened && (next == nil || l.tries < next.tries) {
			next = l
		}
	}
	if next != nil {
		m.clear(a, next, nil)
		return
	}
	m.failAttempt(now, fmt.Errorf("%d consumers of earlier attempts are not deleted yet", len(m.left.list)))
}

// awaitLapse asks whether a consumer that was told to lapse has done so.
func (m *Machine) awaitLapse(a *attempt, l *leftover) {
	a.step = clearing
	a.req = m.request(Effect{API: APIConsumerInfo, Consumer: l.name}, func(now time.Duration, ans Answer) {
		a.req = 0
		switch {
		case isCode(ans.Err, codeConsumerNotFound):
			m.left.gone(m, l, "it lapsed")
			m.anew(now, a, ans.Err)
		case ans.Err != nil:
			m.failAttempt(now, fmt.Errorf("ask about consumer %s: %w", l.name, ans.Err))
		case now < l.lapseBy:
			m.failAttempt(now, lapsesSoon(l.name))
		default:
			l.lapseBy = now + lapseOverdue
			m.clear(a, l, lapsesSoon(l.name))
		}
	})
}

// clear deletes a consumer of ours that stands in the way, then creates. A 10014
// to one whose create was never answered proves nothing: it may yet be made. Its name
// is taken over then: whichever create comes first, the other one is refused.
func (m *Machine) clear(a *attempt, l *leftover, why error) {
	a.step = clearing
	l.tries++
	a.req = m.request(Effect{API: APIConsumerDelete, Consumer: l.name}, func(now time.Duration, ans Answer) {
		a.req = 0
		if ans.Err == nil || isCode(ans.Err, codeConsumerNotFound) && l.answered {
			m.left.gone(m, l, "")
			m.anew(now, a, why)
			return
		}
		if isCode(ans.Err, codeConsumerNotFound) && why == nil && m.cfg.Name == "" && a.turns < maxTurns {
			// It may yet be made, or never: under its name there is room for one.
			m.unsubscribe(a)
			m.renew(a)
			a.turns++
			a.takes, l.held, l.recovery = l, true, m.rec.id
			m.create(now, a)
			return
		}
		l.stays = undeletable(ans.Err)
		if why == nil {
			why = fmt.Errorf("delete consumer %s: %w", l.name, ans.Err)
		}
		switch {
		case l.stays && m.cur != nil && !m.cur.gone && !m.cur.condemned && m.binds():
			m.unsubscribe(a)
			m.renew(a)
			m.rebind(now, a)
		case l.stays && l.shortens():
			a.req = m.shorten(l.made, func(now time.Duration, ans Answer) {
				a.req = 0
				if ans.Err == nil {
					m.toldToLapse(now, l)
					why = lapsesSoon(l.name)
				}
				m.failAttempt(now, why)
			})
		default:
			m.failAttempt(now, why)
		}
	})
}

// maxTurns is how many consumers one attempt may give up and make another in
// their place: answers that contradict each other are paced, too.
const maxTurns = 4

// anew goes on with a consumer and an inbox of another number.
func (m *Machine) anew(now time.Duration, a *attempt, why error) {
	m.unsubscribe(a)
	m.renew(a)
	if a.turns++; a.turns <= maxTurns {
		m.create(now, a)
		return
	}
	if why == nil {
		why = errors.New("the server's answers contradict each other")
	}
	m.failAttempt(now, fmt.Errorf("%d consumers given up: %w", a.turns, why))
}

// renew gives an attempt another number, hence another inbox and name.
func (m *Machine) renew(a *attempt) {
	m.attempts++
	a.n, a.made, a.sess = m.attempts, nil, nil
	a.expects, a.informed, a.checked, a.held, a.proofBy = false, false, false, nil, 0
	a.bound, a.reset = false, false
}

// createAnswered takes what the create's answer tells (rules 4, 7 and 8).
func (m *Machine) createAnswered(now time.Duration, a *attempt, f ConsumerFacts) {
	if a.made != nil {
		a.made.answered = true
	}
	m.streamSeen()
	m.limits.obey(f.Limits)
	m.noteLevel(&f)
	if f.DeliveredConsumer != 0 {
		// An earlier attempt's, of the same configuration, that was pulled from.
		m.clear(a, a.made, nil)
		return
	}
	a.exact = Cursor{Sequence: f.DeliveredStream}
	a.sess.reached = f.DeliveredStream
	a.nothing = f.Pending == 0 && !f.Paused
	if !m.settled() {
		// The start is evaluated once: from here on every session goes by sequence.
		// Only a snapshot is made again until its end is known.
		first := m.start
		if m.start.kind != StartLastPerSubject && !m.rolledBack() {
			m.start.kind = StartPosition
		}
		m.cursor = a.exact
		if m.start.kind == StartPosition && first.kind == StartSequence && first.sequence > m.cursor.Sequence {
			// Beyond the stream's end: 2.10 begins at the end instead.
			m.cursor = Cursor{Sequence: first.sequence - 1}
		}
		a.at = m.cursor
	}
	m.noteCreated(f)
	if m.blind && m.endsBehind(now, a) {
		return
	}
	a.sess.counted(now, f.Pending, a.at.Sequence)
	if a.overlaps {
		m.passedTail(now, a, f.Pending)
	}
	if m.edge > 0 && a.sess.snapshot && f.Pending == 0 && m.number > 0 {
		m.snapshotDone()
		m.restart(now, a)
		return
	}
	a.expects = a.overlaps && a.at.known() && f.Pending > 0 && f.DeliveredStream+1 >= a.at.overlap()
	if (m.number == 0 || !a.expects) && !m.blind {
		m.pin(now, a)
		return
	}
	if m.number == 0 && !m.pinned(now, a) {
		return
	}
	m.prove(now, a)
}

// endsBehind is for a stream that ends behind the cursor, as the create's answer
// tells: it is another one, which needs no STREAM.INFO. One that starts at the end
// says where that is; servers that begin at the end of a stream that is too short do,
// too.
func (m *Machine) endsBehind(now time.Duration, a *attempt) bool {
	end := min(a.at.Sequence, m.tailOf(a))
	switch {
	case a.skips && a.exact.Sequence < end:
	case a.overlaps && a.exact.Sequence+1 < end:
	default:
		return false
	}
	m.streamReset(now, a, StreamFacts{Last: a.exact.Sequence}, true)
	return true
}

// noteCreated keeps what a consumer's facts say of the stream's content.
func (m *Machine) noteCreated(f ConsumerFacts) {
	if m.number == 0 || m.phase == Replacing {
		m.pending = f.Pending
	}
	if m.number == 0 {
		m.end.empty = f.Pending == 0 && !f.Paused
	}
}

// restart makes the attempt's consumer anew, with another start.
func (m *Machine) restart(now time.Duration, a *attempt) {
	if a.made != nil {
		a.made.held = false
	}
	m.anew(now, a, nil)
}
