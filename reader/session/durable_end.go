package session

import "time"

// giveBack gives back what a durable sent and nobody was handed, behind an ask: at
// that request a server of 2.10 looks for pulls that nobody waits for any more. One
// that it has not missed yet would cost a message: 2.10.7 takes what is given back for
// it, finds nobody, and forgets the message until its ack_wait has passed.
func (m *Machine) giveBack(now time.Duration) {
	switch {
	case m.cfg.private():
	case m.cur == nil || !m.connected || m.asks.denied.holds(now) || m.buf.msgs == 0:
		m.do(Effect{Do: DoGiveBack})
	default:
		m.giving = m.request(Effect{API: APIConsumerInfo, Consumer: m.cur.consumer}, func(time.Duration, Answer) { m.given() })
	}
}

// given gives back what waited for the ask, whatever came of that.
func (m *Machine) given() {
	if m.giving != 0 {
		m.giving = 0
		m.do(Effect{Do: DoGiveBack})
	}
}
