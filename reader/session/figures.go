package session

import "time"

// Figures are what Status shows; they are counted where the rules decide.
type Figures struct {
	Replaced   map[Cause]uint64
	API        map[API]uint64
	Missed     uint64
	Duplicates uint64
	Gaps       uint64
	Pulls      uint64
	LastError  error
}

func (f *Figures) init() {
	f.Replaced, f.API = map[Cause]uint64{}, map[API]uint64{}
}

// View is a look at the machine for Status; maps are the machine's own and must
// be copied under the driver's lock.
type View struct {
	Phase      Phase
	Since      time.Duration
	Connected  bool
	Paused     bool
	WaitingAck bool
	Full       bool
	Idle       bool // nothing waits, and nothing came for a heartbeat

	Number     int
	Consumer   string
	Inbox      string
	Created    time.Duration
	LastAnswer time.Duration

	Stream        string
	StreamCreated int64
	Cursor        Cursor
	Pending       uint64
	Orphans       int

	Attempt    int
	NextAt     time.Duration
	BudgetLeft time.Duration
	Figures    *Figures
}

// View looks at the machine.
func (m *Machine) View(now time.Duration) View {
	v := View{
		Phase: m.phase, Since: m.since, Connected: m.connected, Paused: m.paused, WaitingAck: m.waitingAcks,
		Full: m.full, Idle: m.pending == 0, Stream: m.cfg.Stream, StreamCreated: m.created, Cursor: m.cursor,
		Pending: m.pending, Figures: &m.fig, Number: m.number,
	}
	if s := m.cur; s != nil {
		v.Idle = v.Idle && (s.lastMessage == 0 || now >= s.lastMessage+m.cfg.Heartbeat)
		v.Consumer, v.Inbox, v.Created, v.LastAnswer = s.consumer, s.inbox, s.created, s.lastAnswer
	}
	for _, l := range m.left.list {
		if !l.held {
			v.Orphans++
		}
	}
	if m.rec.on {
		v.Attempt = m.rec.tries
		if m.try == nil {
			v.NextAt = m.rec.nextAt
		}
		if t := m.cfg.Retry.TotalTimeout; t > 0 {
			v.BudgetLeft = max(m.rec.began+t-now, 0)
		}
	}
	return v
}
