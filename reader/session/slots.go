package session

import "slices"

// How many API requests may be in flight (rule 16): a server drops without an
// answer what comes too fast.
const (
	linkSlots   = 64 // of one connection
	streamSlots = 16 // of one stream on it
)

// slots grants API requests their turn: first come, first served while there is
// room, else round-robin over the readers that wait.
type slots struct {
	holds   map[uint64]string        // ticket to stream, of those that hold a slot
	used    map[string]int           // slots held per stream
	waiting map[string][]*slotWaiter // per stream, by turn
	turn    uint64                   // the last turn given
}

// slotWaiter is a reader that waits for slots of a stream.
type slotWaiter struct {
	reader  uint64
	turn    uint64 // the lowest is next
	tickets []uint64
}

// Acquire asks for a slot for one API request of a reader on a stream. It is
// granted at once, or by a later Release or Abandon; ticket is the request's own
// number, of no other request of the connection.
func (s *slots) Acquire(reader uint64, stream string, ticket uint64) (granted bool) {
	if s.holds == nil {
		s.holds, s.used, s.waiting = map[uint64]string{}, map[string]int{}, map[string][]*slotWaiter{}
	}
	if s.room(stream) {
		s.grant(stream, ticket)
		return true
	}
	for _, w := range s.waiting[stream] {
		if w.reader == reader {
			w.tickets = append(w.tickets, ticket)
			return false
		}
	}
	s.line(stream, &slotWaiter{reader: reader, tickets: []uint64{ticket}})
	return false
}

// Release gives a slot back and tells which tickets are granted by that.
func (s *slots) Release(ticket uint64) (granted []uint64) {
	stream, ok := s.holds[ticket]
	if !ok {
		s.forget(ticket)
		return nil
	}
	delete(s.holds, ticket)
	if s.used[stream]--; s.used[stream] == 0 {
		delete(s.used, stream)
	}
	for {
		stream, ok := s.next()
		if !ok {
			return granted
		}
		granted = append(granted, s.serve(stream))
	}
}

// Abandon is for a request that is not wanted any more, whether it waits for its
// slot or was granted it meanwhile; it tells which tickets are granted by that.
func (s *slots) Abandon(ticket uint64) (granted []uint64) { return s.Release(ticket) }

func (s *slots) room(stream string) bool {
	return len(s.holds) < linkSlots && s.used[stream] < streamSlots
}

func (s *slots) grant(stream string, ticket uint64) {
	s.holds[ticket] = stream
	s.used[stream]++
}

// line puts a reader at the end of the turns.
func (s *slots) line(stream string, w *slotWaiter) {
	s.turn++
	w.turn = s.turn
	s.waiting[stream] = append(s.waiting[stream], w)
}

// next gives the stream whose first reader has waited longest for its turn, of
// those with room.
func (s *slots) next() (stream string, ok bool) {
	first := uint64(0)
	for name, ws := range s.waiting {
		if s.room(name) && (!ok || ws[0].turn < first) {
			stream, first, ok = name, ws[0].turn, true
		}
	}
	return stream, ok
}

// serve grants the first reader of a stream its oldest ticket; if it has more, its
// next turn comes after everybody else's.
func (s *slots) serve(stream string) (ticket uint64) {
	w := s.waiting[stream][0]
	s.remove(stream, 0)
	ticket = w.tickets[0]
	s.grant(stream, ticket)
	if w.tickets = w.tickets[1:]; len(w.tickets) > 0 {
		s.line(stream, w)
	}
	return ticket
}

func (s *slots) forget(ticket uint64) {
	for stream, ws := range s.waiting {
		for i, w := range ws {
			at := slices.Index(w.tickets, ticket)
			if at < 0 {
				continue
			}
			if w.tickets = slices.Delete(w.tickets, at, at+1); len(w.tickets) == 0 {
				s.remove(stream, i)
			}
			return
		}
	}
}

func (s *slots) remove(stream string, i int) {
	ws := slices.Delete(s.waiting[stream], i, i+1)
	if len(ws) == 0 {
		delete(s.waiting, stream)
		return
	}
	s.waiting[stream] = ws
}
