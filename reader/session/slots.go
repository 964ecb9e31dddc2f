package session

import "time"

// How many API requests may be in flight (rule 16): a server drops without an
// answer what comes too fast.
const (
	linkSlots   = 64 // of one connection
	streamSlots = 16 // of one stream on it
)

// LateHold is how long a request that is waited for no longer keeps its stream's
// slot without an answer: the server may only be behind with it, and one more would
// lengthen what it is behind with. An answer of the same kind and stream to a request
// that was sent later ends it: the server is past it.
const LateHold = 4 * time.Second

// Ticket is one API request that wants its turn; ID is of no other request of the
// connection.
type Ticket struct {
	ID     uint64
	Reader uint64
	Stream string
	API    API
}

// slots grants API requests their turn: first come, first served while there is
// room, else round-robin over the readers that wait.
type slots struct {
	holds  map[uint64]*slot // by ticket
	used   map[string]use   // per stream
	active int              // slots held by requests that are waited for
	order  uint64           // the last slot granted
	turn   uint64           // the last turn given
	others line             // what changes something: creates, deletes
	infos  line             // what only asks
	away   bool             // the connection is down: nothing is granted
	rounds
	window
}

// slot is a place among the requests in flight.
type slot struct {
	Ticket
	at    time.Duration // when it was granted
	order uint64
	late  bool // nobody waits for its answer any more
	gates bool // it holds back what changes something
}

// use counts the slots of one stream.
type use struct{ active, late int }

// Acquire asks for a slot. It is granted at once, or by a later call that tells so.
func (s *slots) Acquire(now time.Duration, t Ticket) (granted bool) {
	if s.holds == nil {
		s.holds, s.used = map[uint64]*slot{}, map[string]use{}
	}
	s.turn++
	s.lineOf(t.API).join(t, s.turn)
	return len(s.serve(now)) > 0 // nobody else can go because of one who came
}

// Answered gives a slot back whose request was answered, and tells which tickets are
// granted by that.
func (s *slots) Answered(now time.Duration, ticket uint64) (granted []uint64) {
	h := s.holds[ticket]
	if h == nil {
		return nil
	}
	s.window.answered(h.at, now)
	for id, o := range s.holds {
		if o.late && o.order < h.order && o.Stream == h.Stream && o.API.Asks() == h.API.Asks() {
			s.free(id)
		}
	}
	s.free(ticket)
	return s.serve(now)
}

// Late notes that a request is waited for no longer. Its stream's slot stays taken,
// for LateHold at most; the connection has one more. So streams whose server does not
// answer take nothing from the others.
func (s *slots) Late(now time.Duration, ticket uint64) (granted []uint64) {
	h := s.holds[ticket]
	if h == nil || h.late {
		return nil
	}
	h.late = true
	s.active--
	u := s.used[h.Stream]
	u.active, u.late = u.active-1, u.late+1
	s.used[h.Stream] = u
	s.ungate(h)
	return s.serve(now)
}

// Ungate ends the wait of others for the answer of a request that only asks; see
// GateHold.
func (s *slots) Ungate(now time.Duration, ticket uint64) (granted []uint64) {
	if h := s.holds[ticket]; h != nil {
		s.ungate(h)
	}
	return s.serve(now)
}

// Abandon is for a request that ends without an answer, whether it waits for its
// slot or has it.
func (s *slots) Abandon(now time.Duration, ticket uint64) (granted []uint64) {
	if s.holds[ticket] != nil {
		s.free(ticket)
	} else if !s.others.leave(ticket) {
		s.infos.leave(ticket)
	}
	return s.serve(now)
}

func (s *slots) lineOf(api API) *line {
	if api.Asks() {
		return &s.infos
	}
	return &s.others
}

// room says whether a stream's request may go. A stream has a quarter of what the
// connection has.
func (s *slots) room(stream string) bool {
	u, limit := s.used[stream], s.window.limit()
	return s.active < limit && u.active < max(limit*streamSlots/linkSlots, 1) && u.active+u.late < streamSlots
}

// free takes a slot back.
func (s *slots) free(ticket uint64) {
	h := s.holds[ticket]
	delete(s.holds, ticket)
	u := s.used[h.Stream]
	if h.late {
		u.late--
	} else {
		u.active--
		s.active--
	}
	if s.used[h.Stream] = u; u == (use{}) {
		delete(s.used, h.Stream)
	}
	s.ungate(h)
}

func (s *slots) ungate(h *slot) {
	if h.gates {
		h.gates = false
		s.rounds.over(min(s.others.n, s.window.limit()))
	}
}

// serve grants all that may go.
func (s *slots) serve(now time.Duration) (granted []uint64) {
	for !s.away {
		other, waits := s.others.next(s.room)
		info, asks := s.infos.next(s.room)
		l, stream := &s.others, other
		switch {
		case asks && s.rounds.mayAsk(waits, s.window.limit()):
			l, stream = &s.infos, info
		case !waits || s.rounds.gated():
			return granted
		}
		t := l.pop(stream, &s.turn)
		s.order++
		h := &slot{Ticket: t, at: now, order: s.order, gates: t.API.Asks()}
		s.holds[t.ID] = h
		s.active++
		u := s.used[stream]
		u.active++
		s.used[stream] = u
		s.rounds.granted(h.gates)
		granted = append(granted, t.ID)
	}
	return granted
}
