package session

import "time"

// which tells the durable that is read from others of its name. Once one that is gone
// is made again, by whomever, an ack for the one before it would do harm: 2.10.22 takes
// an ack beyond what the new one has delivered as the word to begin behind it, and
// 2.10.7 may take it for the new one's floor. What lies between would not come again.
type which struct {
	born   int64 // when the durable that is read was created, 0 unknown
	voided int   // the last session whose messages are another durable's, 0 none
	gone   int   // the last session whose durable may be gone, or made again, until a look tells; 0 none
}

// deleted is the word that the durable of the sessions up to now is gone, or that a
// create for it is on its way. It may be wrong, or forged: until a look tells, nothing
// is acknowledged.
func (w *which) deleted(session int) { w.gone = max(w.gone, session) }

// another says that a durable is not the one that is read.
func (w *which) another(born int64) bool { return w.born != 0 && born != 0 && born != w.born }

// same says that a durable is the one that is read.
func (w *which) same(born int64) bool { return born != 0 && born == w.born }

// seen takes a look at the durable that is read from here on, and says whether it is
// another one than that of the sessions up to now: one that may be gone and does not
// tell when it was created counts as another.
func (w *which) seen(born int64, session int) (another bool) {
	unknown := w.born == 0 || born == 0
	if another = w.another(born) || w.gone > 0 && unknown; another {
		w.voided = max(w.voided, session)
	}
	if born != 0 {
		w.born = born
	}
	w.gone = 0
	return another
}

// MayAck says whether a message that the session of that number brought can still be
// acknowledged. One that can not comes again.
func (m *Machine) MayAck(session int) bool { return session > max(m.which.voided, m.which.gone) }

// loseDoubted ends a session in use whose durable may be another one by now. It would
// read on, since pulls go by name, but nothing that it brings could be acknowledged: the
// same messages would come again for ever. For that reason it does not heal either.
func (m *Machine) loseDoubted(now time.Duration) {
	if m.cur != nil && !m.MayAck(m.number) {
		m.lose(now, CauseConsumerGone, false, nil)
	}
}
