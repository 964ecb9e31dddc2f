package session

import "fmt"

// checkBounds says whether more is buffered or asked for than Pull allows. It holds
// as long as the server sends no more than it was asked for; the probe's message and
// the heal pull's are the reserve beside the bounds.
func (m *Machine) checkBounds() error {
	if m.cur == nil || m.phase != Reading {
		return nil
	}
	if n := m.buf.msgs + m.cur.pulls.msgs; n > m.cfg.MaxMessages+2 {
		return fmt.Errorf("%d messages are buffered or asked for, at most %d are allowed", n, m.cfg.MaxMessages)
	}
	return nil
}

// check says which invariant of the machine does not hold.
func (m *Machine) check() error {
	n := len(m.left.list)
	if !m.ended() {
		n += m.mayExist()
	}
	if n > maxConsumers {
		return fmt.Errorf("%d consumers may exist, at most %d are allowed", n, maxConsumers)
	}
	if m.cur != nil {
		for _, l := range m.left.list {
			if l.name == m.cur.consumer && !m.cur.gone && !m.ended() {
				return fmt.Errorf("the cleanup would delete %s, which is in use", l.name)
			}
		}
	}
	if m.phase == Opening && m.cur != nil || (m.phase == Reading || m.phase == Silent) && m.cur == nil {
		return fmt.Errorf("phase %d with session %v", m.phase, m.cur)
	}
	if m.recs > 0 && (m.phase == Opening || m.phase == Replacing) != m.rec.on {
		return fmt.Errorf("phase %d with recovery on=%v", m.phase, m.rec.on)
	}
	if m.ended() && (m.try != nil || len(m.wishes) > 0) {
		return fmt.Errorf("an ended reader makes an attempt or owes an answer to Replace")
	}
	return nil
}
