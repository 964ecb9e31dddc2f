package session

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A consumer of several filters can pass over messages that still wait: servers of 2.10
// (after 2.10.7) to 2.14 set it beyond them when the subjects of one of its filters are
// purged. Its own sequences stay contiguous; only its count of what waits tells.

// sign is how a consumer shows that messages which waited did not come.
type sign int

const (
	all   sign = iota // everything that waited is gone: what comes was stored later, or nothing comes
	fewer             // fewer wait than a delivery takes away
	wide              // messages wait, and the next one is farther off than any before
	signs
)

// learnt is how many messages tell how far apart those of a reader are by nature.
const learnt = 64

// count is what a consumer said to wait behind its last message, or when it was made.
type count struct {
	known bool
	fresh bool // nothing beyond the cursor came from it yet: it is where it was made to be
	waits uint64
	at    time.Duration // when that was heard
	cseq  uint64        // the consumer sequence it was told with
	sure  uint64        // up to here it is certain that nothing was passed over
}

// Bounds of the rest that a doubt takes after one that proved wrong: under retention
// messages that wait go all the time.
const (
	restMin = 10 * time.Second
	restMax = 10 * time.Minute
)

type rest struct {
	until, length time.Duration
}

// takes begins a rest, twice as long as the last one if that ended lately.
func (r *rest) takes(now time.Duration) {
	if r.length == 0 || now > r.until+restMax {
		r.length = restMin
	} else {
		r.length = min(2*r.length, restMax)
	}
	r.until = now + r.length
}

// passing is what a reader knows of consumers that pass over messages.
type passing struct {
	filters int  // of a durable, as the server tells
	sound   bool // the server is known to be free of the fault
	dated   bool // the server tells its version: it is 2.11 or newer
	clock   skew

	seen   int    // messages accepted
	widest uint64 // most sequences between two of them

	next  uint64 // what the condemned session went on with; 0: no doubt is open
	sign  sign
	tail  span   // where nothing came any more: what may have been passed over
	waits uint64 // and how much was said to wait

	rests [signs]rest
}

// noteServer keeps what an answer tells of the server.
func (p *passing) noteServer(sent, now time.Duration, f *ConsumerFacts) {
	p.sound, p.dated = passesNothing(f.Version), f.Version != ""
	p.filters = len(f.Filters)
	if f.At != 0 {
		p.clock.atMost(now, f.At-int64(sent))
	}
}

// passesNothing says that a server's version is known to be free of the fault: 2.14.10
// and 2.15 are. Before 2.11 none is told.
func passesNothing(version string) bool {
	var n [3]int
	for i, part := range strings.SplitN(strings.SplitN(version, "-", 2)[0], ".", 3) {
		v, err := strconv.Atoi(part)
		if err != nil {
			return false
		}
		n[i] = v
	}
	return n[0] > 2 || n[0] == 2 && (n[1] > 14 || n[1] == 14 && n[2] >= 10)
}

// doubted says whether a session's count is watched: a snapshot's falls by design.
func (m *Machine) doubted(s *Session) bool {
	return !m.passing.sound && !s.snapshot && max(len(m.cfg.Subjects), m.passing.filters) > 1
}

// counted begins the count of a consumer that was made with pending waiting.
func (s *Session) counted(now time.Duration, pending, cursor uint64) {
	s.count = count{known: true, fresh: true, waits: pending, at: now, sure: cursor}
}

// shown is what a message shows of those before it.
type shown [signs]bool

// doubt gives the first sign that does not rest.
func (p *passing) doubt(now time.Duration, by shown) (sign, bool) {
	for i, on := range by {
		if on && now >= p.rests[i].until {
			return sign(i), true
		}
	}
	return 0, false
}

// tally looks at the next message of a consumer and keeps its count: what was said to
// wait behind the last one must come before anything that is stored later, and a
// delivery takes one away.
func (m *Machine) tally(now time.Duration, s *Session, d Delivery) (by shown) {
	p, c := &m.passing, s.count
	if !m.doubted(s) {
		s.count.known = false
		return by
	}
	s.count = count{known: true, fresh: c.fresh && d.Sequence <= m.cursor.Sequence, waits: d.Pending, at: now, cseq: d.ConsumerSeq, sure: c.sure}
	if d.Pending == 0 || d.Sequence == c.sure+1 {
		s.count.sure = d.Sequence
	}
	later := p.clock.later(now, c.at, d.Time)
	if !c.known || c.waits == 0 || d.ConsumerSeq != c.cseq+1 || d.Sequence <= m.cursor.Sequence+1 {
		return by
	}
	by[all], by[fewer] = later, d.Pending+1 < c.waits
	by[wide] = !c.fresh && p.seen >= learnt && d.Sequence-m.cursor.Sequence-1 > 2*p.widest
	return by
}

// passedOver judges a private session's next message: one that lies beyond messages
// which waited is not accepted, and a new consumer from the cursor tells whether they
// are still there (rule 9).
func (m *Machine) passedOver(now time.Duration, s *Session, d Delivery) bool {
	p, c := &m.passing, s.count
	by := m.tally(now, s, d)
	if d.Sequence <= m.cursor.Sequence {
		return false
	}
	if p.next > 0 {
		m.settleDoubt(now, d.Sequence)
	}
	shown, doubted := p.doubt(now, by)
	if !doubted {
		p.seen++
		p.widest = max(p.widest, d.Sequence-m.cursor.Sequence-1)
		return false
	}
	p.next, p.sign = d.Sequence, shown
	m.condemnFor(now, fmt.Errorf("consumer %s: %d messages waited after %d, then %d came with %d behind it",
		s.consumer, c.waits, m.cursor.Sequence, d.Sequence, d.Pending))
	return true
}

func (m *Machine) condemnFor(now time.Duration, why error) {
	if m.phase == Replacing {
		m.condemnSilently(now, CausePassedOver)
		return
	}
	m.condemn(now, CausePassedOver, false, why)
}

// settleDoubt ends a doubt by the first message of the new session: the same as before
// means that what waited is gone, and such doubts rest.
func (m *Machine) settleDoubt(now time.Duration, sequence uint64) {
	p := &m.passing
	if sequence >= p.next {
		p.rests[p.sign].takes(now)
	} else {
		p.rests = [signs]rest{}
	}
	p.next, p.tail = 0, span{}
}

// passedAll is a heartbeat of a consumer that stands beyond the cursor with all
// received, though messages waited.
func (m *Machine) passedAll(now time.Duration, s *Session, st Status) bool {
	c, p := s.count, &m.passing
	if !m.doubted(s) || !c.known || c.waits == 0 || !st.HasLast || st.LastConsumer != c.cseq ||
		st.LastStream <= m.cursor.Sequence || now < p.rests[all].until {
		return false
	}
	if !m.cfg.private() {
		s.count.known = false
		p.rests[all].takes(now)
		m.missAbout(span{m.cursor.Sequence + 1, st.LastStream}, c.waits)
		return false
	}
	p.next, p.sign = st.LastStream+1, all
	p.tail, p.waits = span{c.sure + 1, st.LastStream}, c.waits
	m.condemnFor(now, fmt.Errorf("consumer %s: %d messages waited after %d, and it went on to %d without them",
		s.consumer, c.waits, m.cursor.Sequence, st.LastStream))
	return true
}

// passedTail ends a doubt of a consumer that nothing came from: the new one knows
// whether anything waits behind the cursor.
func (m *Machine) passedTail(now time.Duration, a *attempt, pending uint64) {
	p := &m.passing
	if p.tail.to == 0 {
		return
	}
	if a.exact.Sequence < a.at.Sequence && pending > 0 {
		pending-- // the overlap
	}
	if pending == 0 {
		p.rests[all].takes(now)
		m.missAbout(p.tail, p.waits)
		p.next = 0
	}
	p.tail = span{}
}

// miscounted is the ask's word that nothing waits where the consumer's last message
// said otherwise: what it counts too much was passed over on the way here, where it
// cannot be read in order any more.
func (m *Machine) miscounted(s *Session, f *ConsumerFacts) {
	c := s.count
	if !m.doubted(s) || !c.known || c.waits == 0 || f.Pending > 0 || f.Paused || f.DeliveredConsumer != c.cseq {
		return
	}
	s.count.waits, s.count.sure = 0, m.cursor.Sequence
	m.missAbout(span{c.sure + 1, m.cursor.Sequence}, c.waits)
}

// tellPassed tells what a durable passed over: it cannot be made anew.
func (m *Machine) tellPassed(now time.Duration, s *Session, d Delivery) {
	c := s.count
	by := m.tally(now, s, d)
	by[wide] = false // that is asked of a new consumer only
	if shown, doubted := m.passing.doubt(now, by); doubted {
		m.passing.rests[shown].takes(now)
		m.missAbout(span{m.cursor.Sequence + 1, d.Sequence - 1}, c.waits)
	}
}

// missAbout tells messages that were said to wait and did not come: somewhere in a
// span, and not more than waits.
func (m *Machine) missAbout(s span, waits uint64) {
	if s.to < s.from {
		return
	}
	n := min(s.count(), waits)
	m.fig.Missed += n
	m.tell(Event{Kind: KindMissed, From: s.from, To: s.to, Count: n, Text: "at most: they waited, and were removed or passed over by the server"})
}
