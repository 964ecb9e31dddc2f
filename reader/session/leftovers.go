package session

import (
	"errors"
	"slices"
	"time"
)

// lapseGrace is what is added to InactiveThreshold before a consumer that nobody
// pulls from counts as gone: the server looks at its consumers now and then only.
const lapseGrace = 10 * time.Second

// leftovers are deleted after the proof or the heal, paced by the policy, until
// the server says so or they have lapsed; one that cannot be deleted is told to
// lapse soon (rule 10).
type leftovers struct {
	list []*leftover
	by   time.Duration // Ending: when we stop trying
}

func (ls *leftovers) find(name string) *leftover {
	for _, l := range ls.list {
		if l.name == name {
			return l
		}
	}
	return nil
}

func (ls *leftovers) drop(l *leftover) {
	if i := slices.Index(ls.list, l); i >= 0 {
		ls.list = slices.Delete(ls.list, i, i+1)
	}
}

// retire makes the consumer of a session that is no longer in use a leftover. Only a
// pull that waits would have told that the consumer was deleted, and a consumer that
// counts again what came may be another one of that name.
func (m *Machine) retire(now time.Duration, s *Session) {
	if !m.cfg.private() {
		return
	}
	if s.gone && !s.strayed {
		m.tell(Event{Kind: KindSessionRetired, Session: s.number, Consumer: s.consumer, Text: "its consumer was gone"})
		return
	}
	m.left.list = append(m.left.list, &leftover{
		name: s.consumer, answered: true, pulled: true, session: s.number,
		touched: max(s.lastAnswer, s.pulls.since, s.created), next: now,
		made: s.made, unsure: s.silent || s.condemned || s.recounts || !s.pulls.outstanding(),
	})
}

// release lets go of what attempts made: from now on it may be deleted.
func (m *Machine) release(now time.Duration) {
	for _, l := range m.left.list {
		if l.held && (m.try == nil || m.try.made != l) {
			l.held, l.next = false, now
		}
	}
}

// cleans says that leftovers are deleted: after the proof or the heal, and at the
// end. While a session is being made the API has better to do.
func (m *Machine) cleans(now time.Duration) bool {
	switch m.phase {
	case Reading, Silent:
		return true
	case Ending:
		return now < m.left.by
	case Opening, Replacing, Done:
	}
	return false
}

// tick deletes what is due, one request at a time.
func (ls *leftovers) tick(m *Machine, now time.Duration) {
	for _, l := range slices.Clone(ls.list) {
		if l.held {
			continue
		}
		if now >= m.lapses(l) && l.req == 0 {
			ls.gone(m, l, "it lapsed")
			continue
		}
		if l.req == 0 && now >= l.next && !ls.busy() && m.cleans(now) {
			ls.remove(m, now, l)
		}
	}
}

func (ls *leftovers) busy() bool {
	return slices.ContainsFunc(ls.list, func(l *leftover) bool { return l.req != 0 })
}

// wake is when the next delete is due, or one has lapsed: none while one is under way, whose answer
// or time-out comes first.
func (ls *leftovers) wake(m *Machine, w *wake) {
	if ls.busy() || !m.cleans(0) {
		return
	}
	for _, l := range ls.list {
		if !l.held {
			w.at(min(l.next, m.lapses(l)))
		}
	}
}

// lapses is when a leftover is gone by itself. An unsubscribe takes its pull off the
// server; a pull on an earlier connection, which the server may take for alive, keeps
// the consumer alive until it expires. Time before the end of an outage does not count.
func (m *Machine) lapses(l *leftover) time.Duration {
	idle, from := m.cfg.Inactive, l.touched
	switch {
	case l.shortened:
		idle = lapseSpread
	case l.pulled && m.connectedAt > l.touched:
		from += m.cfg.Expires
	}
	return max(from, m.away.until) + idle + lapseGrace
}

// certainlyGone says whether 10014 means that a consumer will not appear any more:
// one whose create was never answered may still be made by a server that is late.
// A reader that ends waits for that no longer than for any answer; what comes
// later lapses by itself.
func (m *Machine) certainlyGone(now time.Duration, l *leftover) bool {
	return l.answered || (m.phase == Ending && now >= l.touched+m.cfg.Retry.AttemptTimeout)
}

// remove asks the server to delete a leftover, or to let it lapse.
func (ls *leftovers) remove(m *Machine, now time.Duration, l *leftover) {
	l.tries++
	switch {
	case m.ownerUnknown(l) && m.asks.denied.holds(now):
		ls.tellLeft(m, l, errors.New("whose it is cannot be asked: it lapses by itself"))
		ls.leave(m, l)
	case m.ownerUnknown(l):
		ls.identify(m, l)
	case l.softer && l.shortens():
		ls.soften(m, l)
	default:
		ls.delete(m, l)
	}
}

func (ls *leftovers) delete(m *Machine, l *leftover) {
	l.req = m.request(Effect{API: APIConsumerDelete, Consumer: l.name}, func(now time.Duration, a Answer) {
		l.req = 0
		if a.Err == nil || isCode(a.Err, codeStreamNotFound) || isCode(a.Err, codeConsumerNotFound) && m.certainlyGone(now, l) {
			ls.gone(m, l, "")
			return
		}
		ls.tellLeft(m, l, a.Err)
		l.stays = undeletable(a.Err)
		l.softer = l.stays
		switch denied := errors.Is(a.Err, ErrDenied); {
		case denied && l.shortens():
			l.next = now
		case denied:
			ls.leave(m, l) // asking again changes nothing
		default:
			l.next = now + m.deletePause(l, a.Err)
		}
	})
}

// tellLeft tells once that a consumer of ours is left.
func (ls *leftovers) tellLeft(m *Machine, l *leftover, err error) {
	if l.told {
		return
	}
	l.told = true
	e := Event{Kind: KindOrphanLeft, Session: l.session, Consumer: l.name, Err: err, Code: codeOf(err)}
	if e.Code == codeConsumerNotFound {
		e.Err, e.Text = nil, "its create was not answered: it may still be made, and is asked for again"
	}
	m.tell(e)
}

// deletePause paces the deletes of one leftover. One that the server does not know,
// but may yet make, is asked for rarely: nobody pulls from it, so that it is gone
// InactiveThreshold after it was made, whether or not it is found before.
func (m *Machine) deletePause(l *leftover, err error) time.Duration {
	policy := m.cfg.Retry
	if (isCode(err, codeConsumerNotFound) || isCode(err, codeConsumerAbsent)) && m.phase != Ending {
		l.absent++
		policy.Initial = max(policy.Initial, m.cfg.Inactive/6)
		policy.Max = max(policy.Max, m.cfg.Inactive/3)
		return policy.Pause(l.absent, m.cfg.Rand())
	}
	return policy.Pause(l.tries, m.cfg.Rand())
}

// gone settles a leftover and tells it.
func (ls *leftovers) gone(m *Machine, l *leftover, text string) {
	ls.drop(l)
	if l.told {
		m.tell(Event{Kind: KindOrphanRemoved, Session: l.session, Consumer: l.name, Text: text})
	}
	if l.session > 0 {
		m.tell(Event{Kind: KindSessionRetired, Session: l.session, Consumer: l.name, Text: text})
	}
}
