package session

import (
	"errors"
	"fmt"
	"time"
)

// lapseSpread is what a server adds to the inactive threshold of a consumer that is
// no durable: 0.1 to 1 s, drawn anew at each update.
const lapseSpread = time.Second

// lapseOverdue is when a consumer that was told to lapse should have, and something
// keeps it: a pull on an earlier connection that the server takes for alive. Where it is
// in the way a delete is tried again, which may be permitted by now.
const lapseOverdue = 2 * lapseSpread

// shorten tells a consumer of ours that cannot be deleted to lapse: an update with
// the shortest inactive threshold and all else as it was made, which every server
// takes and counts from at once. It needs the permission to create only, and removes
// nothing that somebody pulls from (rule 10).
func (m *Machine) shorten(made Create, answer func(now time.Duration, ans Answer)) RequestID {
	made.Lapse = true
	return m.request(Effect{API: APIConsumerUpdate, Consumer: made.Name, Create: made}, answer)
}

// undeletable says that a delete was denied or not answered: another one is not
// likely to do better.
func undeletable(err error) bool {
	return errors.Is(err, ErrDenied) || errors.Is(err, ErrNoAnswer)
}

func lapsesSoon(name string) error {
	return fmt.Errorf("consumer %s cannot be deleted: it was told to lapse and is still there", name)
}

// shortens says whether a leftover can still be told to lapse.
func (l *leftover) shortens() bool { return !l.shortened && l.made.Name != "" }

// toldToLapse notes that the server took the update.
func (m *Machine) toldToLapse(now time.Duration, l *leftover) {
	l.shortened, l.answered, l.held, l.pulled, l.touched = true, true, false, false, now
	l.lapseBy = now + lapseOverdue
	l.next = m.lapses(l)
}

// lapsing gives the leftover that was told to lapse first.
func (ls *leftovers) lapsing() (first *leftover) {
	for _, l := range ls.list {
		if l.shortened && (first == nil || l.touched < first.touched) {
			first = l
		}
	}
	return first
}

// soften tells a leftover to lapse that a delete did not remove.
func (ls *leftovers) soften(m *Machine, l *leftover) {
	l.softer = false
	l.req = m.shorten(l.made, func(now time.Duration, ans Answer) {
		l.req = 0
		switch {
		case ans.Err == nil:
			m.toldToLapse(now, l)
			if m.ended() {
				ls.drop(l)
			}
		case isCode(ans.Err, codeStreamNotFound), isCode(ans.Err, codeConsumerAbsent) && m.certainlyGone(now, l):
			ls.gone(m, l, "")
		case errors.Is(ans.Err, ErrNoAnswer), isCode(ans.Err, codeConsumerAbsent):
			l.next = now + m.deletePause(l, ans.Err)
		default:
			// Neither is permitted, or the server cannot change it.
			l.made = Create{}
			ls.leave(m, l)
		}
	})
}

// leave lets a leftover lapse by itself where nothing else is left to do.
func (ls *leftovers) leave(m *Machine, l *leftover) {
	if l.next = m.lapses(l); m.ended() {
		ls.drop(l)
	}
}

// noteLevel keeps the API level that a consumer's metadata names.
func (m *Machine) noteLevel(f *ConsumerFacts) {
	if f != nil && f.Level > 0 {
		m.level = f.Level
	}
}
