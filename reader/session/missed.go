package session

import (
	"errors"
	"slices"
	"time"
)

// doubtfulJump is what a filtered reader in use passed over and retention may have
// taken. The jump of the stream sequence alone says nothing: other subjects lie
// between. Retention has the time to take something only while the server waits for
// us, so a jump counts behind a full buffer, or where fewer messages wait than were
// counted before. Whether it did, only the stream's first sequence tells, which no
// message and no heartbeat carries: the stream is looked at, once for all that came
// together within Expires (rule 8).
type doubtfulJump struct {
	passed []passedOver
	next   time.Duration // no look before that
	req    RequestID
}

// briefly is how long a full buffer of a reader that has caught up counts for nothing.
const briefly = 100 * time.Millisecond

// passedOver is what lies between two messages.
type passedOver struct {
	span
	fewer bool // the server counted fewer than it should have
}

// maxPassed is how many of them are told apart; more are taken together.
const maxPassed = 64

// readyAhead is how many messages a server may have had ready before what it then
// found gone: 2.10.7 holds one for each of several filters, and sends it although it
// was removed meanwhile.
func (m *Machine) readyAhead() int {
	if len(m.cfg.Subjects) < 2 || m.passing.dated {
		return 0
	}
	return len(m.cfg.Subjects)
}

// passOver notes what lies between the cursor and the next message. before is how
// many waited behind the message at the cursor.
func (m *Machine) passOver(now time.Duration, s *Session, gone span, before uint64, d Delivery) {
	fewer := d.Pending+1 < before
	switch {
	case !m.cfg.filtered():
		m.miss(gone, "")
	case s.waited == 0 && !fewer:
	default:
		m.jump.add(passedOver{gone, fewer})
		m.lookAtJump(now)
	}
}

func (j *doubtfulJump) add(p passedOver) {
	if len(j.passed) < maxPassed {
		j.passed = append(j.passed, p)
		return
	}
	last := &j.passed[maxPassed-1]
	last.to, last.fewer = p.to, last.fewer || p.fewer
}

// waits says that a look is to be made.
func (j *doubtfulJump) waits() bool { return len(j.passed) > 0 && j.req == 0 }

// lookAtJump asks for the stream's first sequence when that is due.
func (m *Machine) lookAtJump(now time.Duration) {
	j := &m.jump
	switch {
	case !j.waits() || m.phase != Reading || !m.connected:
	case m.unseen.holds(now):
		j.tell(m, func(p passedOver) uint64 { return p.counted() })
	case now >= j.next:
		j.look(m, now)
	}
}

func (j *doubtfulJump) look(m *Machine, now time.Duration) {
	asked := len(j.passed)
	j.next = now + m.cfg.Expires
	j.req = m.request(Effect{API: APIStreamInfo}, func(_ time.Duration, ans Answer) {
		j.req = 0
		switch {
		case errors.Is(ans.Err, ErrDenied):
			j.tell(m, func(p passedOver) uint64 { return p.counted() })
		case ans.Err != nil:
			// It is looked at again.
		case m.created != 0 && ans.Stream.Created != m.created:
			j.passed = nil // the session will find that out by itself
		default:
			later := slices.Clone(j.passed[asked:])
			j.passed = j.passed[:asked]
			j.tell(m, func(p passedOver) uint64 { return min(p.to, max(ans.Stream.First, 1)-1) })
			j.passed = later
		}
	})
}

// counted is up to where something was missed by the server's count alone.
func (p passedOver) counted() uint64 {
	if p.fewer {
		return p.to
	}
	return 0
}

// tell tells what was passed over, each up to a sequence, and forgets it.
func (j *doubtfulJump) tell(m *Machine, upTo func(passedOver) uint64) {
	for _, p := range j.passed {
		m.missUpTo(p.from, upTo(p))
	}
	j.passed = nil
}

// forgetLook forgets a look at a session that is not in use any more; what was passed
// over stays to be looked at.
func (j *doubtfulJump) forgetLook(m *Machine) {
	m.cancel(j.req)
	j.req = 0
}

// missUpTo tells bounds of what a filtered reader missed; each sequence is told once.
func (m *Machine) missUpTo(from, to uint64) {
	if from = max(from, m.missedTo+1); to >= from {
		m.missedTo = to
		m.miss(span{from, to}, "at most: other subjects included")
	}
}

// missBounds tells, for a reader of a part of the stream, what may have gone before
// its turn at a replacement: the stream begins beyond the cursor.
func (m *Machine) missBounds(a *attempt) {
	if a.overlaps && a.informed && m.cfg.filtered() && a.facts.First > 0 {
		m.missUpTo(m.cursor.Sequence+1, a.facts.First-1)
	}
}

// miss tells what retention took before its turn.
func (m *Machine) miss(s span, text string) {
	if s.to < s.from {
		return
	}
	m.fig.Missed += s.count()
	m.tell(Event{Kind: KindMissed, From: s.from, To: s.to, Count: s.count(), Text: text})
}
