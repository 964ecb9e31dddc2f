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

	tries int
	next  time.Duration
	req   RequestID
	told  bool // orphan_left was told
	stays bool // a delete of it was denied or not answered: deleting it makes no room
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
	if len(m.left.list)+m.inUse() >= maxConsumers {
		return nil, false
	}
	c.Name = m.newName(a.n)
	l = &leftover{name: c.Name, made: c, recovery: m.rec.id, held: true}
	m.left.list = append(m.left.list, l)
	return l, true
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
		if l.recovery == recovery && made == c && l.held && !l.pulled {
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
