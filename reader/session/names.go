package session

import (
	"strconv"
	"time"
)

// leftover is a consumer of ours that the session in use does not need. It is
// known from the moment its create was sent.
type leftover struct {
	name     string
	made     Create
	recovery int           // the recovery it was made in
	creates  int           // sent for it
	answered bool          // it was seen: a 10014 means it is gone
	touched  time.Duration // the last create or pull sent for it
	pulled   bool          // a pull was sent: it cannot be created again as it was
	held     bool          // a running attempt or recovery may still use it
	session  int           // the session it served, 0 none

	tries  int
	absent int // requests that were answered: it does not exist
	next   time.Duration
	req    RequestID
	told   bool // orphan_left was told

	stays     bool          // a delete of it was denied or not answered: deleting it makes no room
	softer    bool          // the next request tells it to lapse instead
	shortened bool          // it was told to lapse
	lapseBy   time.Duration // by then it should have
	unsure    bool          // under Config's Name: another reader may hold the name by now
}

// maxConsumers is how many consumers of one reader may exist at a time: the one
// in use and two that may or may not have been made (rule 10).
const maxConsumers = 3

// newName gives a name no other consumer has: names count attempts.
func (m *Machine) newName(attempt int) string {
	return m.cfg.Prefix + "-" + m.cfg.ID + "-" + strconv.Itoa(attempt)
}

// pickName gives the consumer name of an attempt. Within one recovery unanswered
// creates alternate between two names with the very same configuration, which the
// server answers as if asked once (two, because a name hangs while its node is
// down); to one while a leftover of an earlier recovery counts. ok is false when
// there is room for none: the session in use must be bound anew.
func (m *Machine) pickName(a *attempt, c Create) (l *leftover, ok bool) {
	same, others := m.left.sameAs(c, m.rec.id)
	limit := 2
	if others > 0 || !m.rec.on {
		limit = 1
	}
	if len(same) >= limit {
		return oldest(same), true
	}
	if len(m.left.list)+m.mayExist() >= maxConsumers {
		return nil, false
	}
	c.Name = m.newName(a.n)
	l = &leftover{name: c.Name, made: c, recovery: m.rec.id, held: true}
	m.left.list = append(m.left.list, l)
	return l, true
}

// mayExist counts the session's own consumer, also one that went with its stream.
func (m *Machine) mayExist() int {
	if m.cur != nil && m.cur.strayed {
		return 1
	}
	return m.inUse()
}

// inUse counts the session's own consumer.
func (m *Machine) inUse() int {
	if m.cur == nil || m.cur.gone {
		return 0
	}
	return 1
}

// sameAs gives the leftovers of this recovery that were made with the same
// configuration and were never pulled from, and counts the others.
func (ls *leftovers) sameAs(c Create, recovery int) (same []*leftover, others int) {
	for _, l := range ls.list {
		made := l.made
		made.Name = c.Name
		if l.recovery == recovery && made == c && l.held && !l.pulled && !l.shortened {
			same = append(same, l)
			continue
		}
		others++
	}
	return same, others
}

func oldest(ls []*leftover) *leftover {
	o := ls[0]
	for _, l := range ls[1:] {
		if l.touched < o.touched {
			o = l
		}
	}
	return o
}

// ownerUnknown says that a leftover of Config's Name may be somebody else's: its
// create was not answered, or it was ours when its session was last heard of. A name
// held by another owner is never deleted (rule 11).
func (m *Machine) ownerUnknown(l *leftover) bool {
	return m.cfg.Name != "" && (l.unsure || !l.answered)
}

// identify asks whose a leftover is before it is deleted.
func (ls *leftovers) identify(m *Machine, l *leftover) {
	l.req = m.request(Effect{API: APIConsumerInfo, Consumer: l.name}, func(now time.Duration, a Answer) {
		l.req = 0
		switch {
		case a.Err == nil && a.Consumer.Owner == m.cfg.ID:
			l.unsure, l.answered = false, true
			l.next = now
		case a.Err == nil:
			ls.gone(m, l, "its name is another reader's")
		case isCode(a.Err, codeStreamNotFound), isCode(a.Err, codeConsumerNotFound) && m.certainlyGone(now, l):
			ls.gone(m, l, "")
		default:
			ls.tellLeft(m, l, a.Err)
			l.next = now + m.deletePause(l, a.Err)
		}
	})
}
