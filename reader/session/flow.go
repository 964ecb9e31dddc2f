package session

import (
	"math"
	"time"
)

// flow is how fast messages come while more of them wait, and how long one of them may
// be on its way. Over a slow link all that a server says stands behind the messages
// that were pulled before it: heartbeats, answers of the API, a PONG.
type flow struct {
	busy  time.Duration // in which messages were owed and waited for
	bytes int           // that came in it
	rate  int           // of the last measure, in bytes a second; 0 unknown
	gaps  time.Duration // between answers and the messages behind them, whether owed or not
	heard int           // bytes that came in them
	least int           // what the link carries at least, in bytes a second: all of a message comes behind the answer before it; 0 unknown
	heavy int           // the size of the largest message lately
}

const (
	measureBytes  = 128 << 10        // so many tell a rate: of fewer the round trip is the larger part
	firstWindow   = 1 << 20          // bytes that may be out before a rate is known
	slowestRate   = 64 << 10         // bytes a second of the slowest link that a first message is waited for on
	briefTransit  = time.Second      // a message that takes less is not waited for
	transitMax    = 60 * time.Second // nor one that takes longer
	transitUnseen = 4 * time.Second  // nor, for longer than this, one that nothing tells of
	handover      = 200 * time.Millisecond
)

// came counts a message that was owed for a time; waited says that the server had it.
func (f *flow) came(size int, owed time.Duration, waited bool) {
	if size > f.heavy {
		f.heavy = size
	} else {
		f.heavy -= (f.heavy - size) >> 8
	}
	if waited {
		f.busy, f.bytes = f.busy+owed, f.bytes+size
	}
	f.gaps, f.heard = f.gaps+owed, f.heard+size
	if f.heard >= measureBytes {
		f.least = perSecond(f.heard, f.gaps)
		f.gaps, f.heard = 0, 0
	}
}

// measure renews the rate when enough has come to tell one.
func (f *flow) measure() {
	if f.bytes < measureBytes {
		return
	}
	f.rate = perSecond(f.bytes, f.busy)
	f.busy, f.bytes = 0, 0
}

func perSecond(bytes int, d time.Duration) int {
	return int(min(float64(bytes)/max(d.Seconds(), 1e-9)+1, math.MaxInt32))
}

// window bounds what pulls may have out at a time, in bytes: what comes within two
// heartbeats. More would make a queue that everything else has to wait behind, and a
// server cuts off who does not take it (its write_deadline).
func (f *flow) window(heartbeat time.Duration) int {
	if f.rate == 0 {
		return firstWindow
	}
	return int(min(2*heartbeat.Seconds()*float64(f.rate), math.MaxInt32))
}

// transit is how long one message may be on its way, at half the rate that was
// measured. 0 is not worth waiting for.
func (f *flow) transit() time.Duration {
	rate := max(slowestRate, f.least/2)
	if f.rate > 0 {
		rate = max(f.rate/2, 1)
	}
	d := time.Duration(float64(f.heavy) / float64(rate) * float64(time.Second))
	if d < briefTransit {
		return 0
	}
	return min(d, transitMax)
}

// transit is that of the flow. Where nothing is known of the link, and of no message that
// waits, a dead link is more likely than a message on its way over a slow one: so long
// that it is noticed within the time a reader may be deaf. A slow one is then made anew
// once, and the message is known to wait.
func (m *Machine) transit() time.Duration {
	d := m.flow.transit()
	proving := m.try != nil && m.try.step == proving && !m.try.nothing
	if m.flow.rate > 0 || m.flow.least > 0 || m.pending > 0 || m.phase == Opening || proving {
		return d
	}
	return min(d, transitUnseen)
}

// renew is for another connection: a link that was fast says nothing of the next one.
func (f *flow) renew() {
	f.busy, f.bytes = 0, 0
	f.gaps, f.heard, f.least = 0, 0, 0
	if f.transit() == 0 {
		f.rate = 0
	}
}

// overdue says whether an answer that was due at a time is certain not to come. Where
// one message may take long to arrive the answer can be behind it: it is certain when
// the PONG of a PING that was sent since then is here, or the message would be.
func (m *Machine) overdue(now, due time.Duration) bool {
	if now < due {
		return false
	}
	transit := m.transit()
	switch {
	case transit == 0:
		return true
	case m.pinged < due:
		m.pinged = now
		m.do(Effect{Do: DoEcho, Timeout: transit})
	}
	return now >= m.certainAt(due)
}

// certainAt is when to look at an answer that is due at a time.
func (m *Machine) certainAt(due time.Duration) time.Duration {
	switch {
	case m.pinged < due:
		return due
	case m.pong >= due:
		return m.pongAt + handover
	}
	return due + m.transit()
}

// Pong is the answer to the PING of DoEcho that was sent at a time. The messages that
// the server sent before it were given to the machine; an answer of the API may be on
// its way here from another goroutine.
func (m *Machine) Pong(now, sent time.Duration) {
	if sent > m.pong {
		m.pong, m.pongAt = sent, now
	}
}
