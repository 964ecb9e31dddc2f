package session

import (
	"strconv"
	"time"
)

// Phase is the life of a reader as a whole. Whether it is connected is told apart:
// a reader keeps its phase while the connection is away.
type Phase int

// The phases, each left by one named transition only.
const (
	Opening   Phase = iota // no session was ever proven; Open waits
	Reading                // the session in use answers
	Silent                 // the session in use owes an answer and is being asked about
	Replacing              // the session in use is silent or condemned; attempts are made
	Ending                 // nothing more is accepted; what we left on the server is being removed
	Done                   // nothing is left to do
)

// Machine is the rules of a reader. It holds no clock, goroutine or connection:
// every input comes with its time, every deed is an Effect. It is not safe for
// concurrent use; the driver owns it.
type Machine struct {
	cfg   Config
	phase Phase
	since time.Duration

	started     bool // before Start only the state of the connection is noted
	connected   bool
	connectedAt time.Duration

	cur    *Session // in use; nil before the first proof
	number int      // sessions proven so far
	try    *attempt // running attempt to make a new one
	rec    recovery
	recs   int // recoveries so far, wishes included
	pace   pace
	wishes []int // Replace calls that wait for the running attempt

	cursor  Cursor
	unread  bool // nothing was accepted yet
	start   origin
	created int64  // when the stream was created, 0 unknown
	tail    uint64 // the highest sequence the stream is known to have reached, messages read aside
	edge    uint64 // last sequence of the snapshot (FromLastPerSubject), 0 none

	jump      doubtfulJump
	missedTo  uint64 // bounds of what a filtered reader missed were told up to here
	workQueue bool   // a durable's stream: it must be read from its beginning
	floor     uint64 // a durable's: everything up to here was acknowledged
	handled   handled
	madeAt    uint64 // where this reader made the durable, or may have, until the stream was looked at; 0 elsewhere
	which     which
	made      bool // it did

	limits  Limits
	level   int // the server's API level, as consumers tell it; 0 unknown
	pending uint64
	passing passing
	buf     buffer
	flow    flow
	pinged  time.Duration // when the last PING of DoEcho went out
	pong    time.Duration // when the newest of those that were answered did
	pongAt  time.Duration // when that was answered
	end     end
	asks    questions
	left    leftovers
	away    outage

	attempts int
	nextReq  RequestID
	reqs     map[RequestID]*request
	giving   RequestID // the ask before a durable's messages are given back; 0 none
	looked   bool      // the stream was looked at before the first create
	blind    bool      // STREAM.INFO is not permitted
	unseen   denial

	full, paused, waitingAcks, large bool

	crowded, caughtUp spell // the buffer is full; nothing waits

	fullAt    time.Duration // since when the buffer is full
	pauseTill time.Duration // when the pause is over by itself, 0 unknown

	fig     Figures
	effects []Effect
}

// New makes the machine of a reader that is connected and has not begun.
func New(cfg Config) *Machine {
	m := &Machine{cfg: cfg, connected: true, reqs: map[RequestID]*request{}, end: end{on: cfg.StopAtEnd}, unread: true}
	m.start = origin{kind: cfg.Start, sequence: cfg.StartSequence, time: cfg.StartTime}
	if cfg.Start == StartPosition {
		m.cursor, m.created = cfg.Cursor, cfg.Created
		if cfg.Cursor.known() {
			m.tail = cfg.Cursor.Sequence // else the place was waited for, not read
		}
		m.start.kind = StartPosition
	}
	m.fig.init()
	return m
}

// Start opens the reader.
func (m *Machine) Start(now time.Duration) {
	if m.ended() {
		return
	}
	m.since, m.started = now, true
	m.begin(now, CauseOpening, false, nil)
	if m.connected {
		m.attemptNow(now)
	}
	m.settle(now)
}

// enterReading is the way back to a healthy session: a proof or a heal. Both start
// the budget anew; nothing else does.
func (m *Machine) enterReading(now time.Duration) {
	if m.phase >= Ending || m.cur == nil {
		panic("session: reading without a session")
	}
	m.phase, m.since = Reading, now
	m.rec = recovery{}
}

// enterSilent is for a session that owes an answer.
func (m *Machine) enterSilent(now time.Duration) {
	if m.phase != Reading {
		panic("session: silent out of " + strconv.Itoa(int(m.phase)))
	}
	m.phase, m.since = Silent, now
}

// enterReplacing begins a recovery.
func (m *Machine) enterReplacing(now time.Duration, cause Cause, failure bool, err error) {
	if m.phase != Reading && m.phase != Silent {
		panic("session: replacing out of " + strconv.Itoa(int(m.phase)))
	}
	m.phase, m.since = Replacing, now
	m.begin(now, cause, failure, err)
}

// enterEnding stops everything that reads; what is left on the server is removed.
func (m *Machine) enterEnding(now time.Duration) {
	if m.phase >= Ending {
		panic("session: ending twice")
	}
	m.phase, m.since = Ending, now
}

// ended says that no input changes what the reader delivers any more.
func (m *Machine) ended() bool { return m.phase >= Ending }

// Wake gives the earliest time at which Tick has something to do.
func (m *Machine) Wake() (time.Duration, bool) {
	w := wake{}
	if m.phase == Ending {
		w.at(m.left.by)
	}
	for _, r := range m.reqs {
		if r.deadline > 0 {
			w.at(m.certainAt(r.deadline))
		}
	}
	if m.connected {
		m.wakeConnected(&w)
	}
	if m.rec.on && m.cfg.Retry.TotalTimeout > 0 && !m.ended() {
		w.at(m.rec.began + m.cfg.Retry.TotalTimeout)
	}
	return w.t, w.set
}

func (m *Machine) wakeConnected(w *wake) {
	m.left.wake(m, w)
	if m.ended() {
		return
	}
	if m.try != nil {
		m.try.wake(m, w)
	} else if m.rec.on {
		w.at(m.rec.nextAt)
	}
	if s := m.cur; s != nil {
		if t, ok := s.silentAt(m.cfg.Heartbeat, m.connectedAt); ok && m.phase == Reading {
			w.at(m.certainAt(t))
		}
		if s.pauseTill > 0 {
			w.at(s.pauseTill)
		}
		if m.jump.waits() && m.phase == Reading {
			w.at(m.jump.next)
		}
		if m.paused && m.pauseTill > 0 {
			w.at(m.pauseTill)
		}
		if t, ok := s.pulls.lapses(2 * m.cfg.Heartbeat); ok && m.phase == Reading {
			w.at(m.certainAt(t))
		}
	}
}

type wake struct {
	t   time.Duration
	set bool
}

func (w *wake) at(t time.Duration) {
	if !w.set || t < w.t {
		w.t, w.set = t, true
	}
}

// Tick does what is due at now.
func (m *Machine) Tick(now time.Duration) {
	m.expireRequests(now)
	if m.phase == Done {
		return
	}
	if m.rec.on && !m.ended() && m.cfg.Retry.TotalTimeout > 0 && now >= m.rec.began+m.cfg.Retry.TotalTimeout {
		m.giveUp(now, "total timeout "+m.cfg.Retry.TotalTimeout.String())
	}
	if m.connected {
		m.tickAttempt(now)
		m.tickSession(now)
		m.left.tick(m, now)
	}
	m.settle(now)
}

// tickAttempt ends an attempt whose proof is overdue and begins the next one.
func (m *Machine) tickAttempt(now time.Duration) {
	if m.ended() {
		return
	}
	if a := m.try; a != nil {
		a.tick(m, now)
	}
	if m.try == nil && m.rec.on && now >= m.rec.nextAt {
		m.attemptNow(now)
	}
}

// tickSession is the watchdog of the session in use (rule 2).
func (m *Machine) tickSession(now time.Duration) {
	s := m.cur
	if s == nil || m.ended() {
		return
	}
	if t, ok := s.silentAt(m.cfg.Heartbeat, m.connectedAt); ok && m.phase == Reading && m.overdue(now, t) {
		m.fallSilent(now)
	}
	if t, ok := s.pulls.lapses(2 * m.cfg.Heartbeat); ok && m.phase == Reading && m.overdue(now, t) {
		s.pulls.lapse(t, 2*m.cfg.Heartbeat) // those due later may yet be answered
		m.pull(now)
	}
	m.endPause(now, s)
	m.lookAtJump(now)
	if s.pauseTill > 0 && now >= s.pauseTill {
		s.pauseTill = 0
		m.pull(now)
	}
}
