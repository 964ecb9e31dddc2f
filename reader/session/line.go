package session

import "slices"

// line is the requests that wait for a slot, by stream and reader. However many wait,
// one joins, goes and leaves at the same small cost.
type line struct {
	of      map[string][]*slotWaiter // per stream, by turn
	waiters map[seat]*slotWaiter
	seats   map[uint64]seat // by ticket
	n       int             // requests in all
}

type seat struct {
	stream string
	reader uint64
}

// slotWaiter is a reader that waits for slots of a stream. One whose requests have
// all left keeps its turn until it is its turn.
type slotWaiter struct {
	seat
	turn    uint64 // the lowest is next
	tickets []Ticket
}

// join puts a request behind its reader's others, or at the end of the turns.
func (l *line) join(t Ticket, turn uint64) {
	if l.of == nil {
		l.of, l.waiters, l.seats = map[string][]*slotWaiter{}, map[seat]*slotWaiter{}, map[uint64]seat{}
	}
	at := seat{t.Stream, t.Reader}
	w := l.waiters[at]
	if w == nil {
		w = &slotWaiter{seat: at, turn: turn}
		l.waiters[at], l.of[t.Stream] = w, append(l.of[t.Stream], w)
	}
	w.tickets = append(w.tickets, t)
	l.seats[t.ID] = at
	l.n++
}

// next gives the stream whose first reader has waited longest for its turn, of
// those with room.
func (l *line) next(room func(stream string) bool) (stream string, ok bool) {
	if l.n == 0 {
		return "", false
	}
	first := uint64(0)
	for name := range l.of {
		w := l.first(name)
		if w != nil && (!ok || w.turn < first) && room(name) {
			stream, first, ok = name, w.turn, true
		}
	}
	return stream, ok
}

// first gives the first reader of a stream that still wants something.
func (l *line) first(stream string) *slotWaiter {
	for len(l.of[stream]) > 0 {
		w := l.of[stream][0]
		if len(w.tickets) > 0 {
			return w
		}
		l.shift(stream)
		delete(l.waiters, w.seat)
	}
	delete(l.of, stream)
	return nil
}

// pop takes the first reader's oldest request of a stream; if it has more, its next
// turn comes after everybody else's.
func (l *line) pop(stream string, turn *uint64) Ticket {
	w := l.first(stream)
	t := w.tickets[0]
	l.forget(t.ID)
	w.tickets = w.tickets[1:]
	l.shift(stream)
	if len(w.tickets) == 0 {
		delete(l.waiters, w.seat)
		return t
	}
	*turn++
	w.turn = *turn
	l.of[stream] = append(l.of[stream], w)
	return t
}

// leave takes out a request that is not wanted any more.
func (l *line) leave(id uint64) bool {
	at, ok := l.seats[id]
	if !ok {
		return false
	}
	w := l.waiters[at]
	w.tickets = slices.DeleteFunc(w.tickets, func(t Ticket) bool { return t.ID == id })
	l.forget(id)
	return true
}

func (l *line) forget(id uint64) {
	delete(l.seats, id)
	if l.n--; l.n == 0 {
		*l = line{}
	}
}

// shift takes the first reader of a stream out.
func (l *line) shift(stream string) {
	if ws := l.of[stream]; len(ws) > 1 {
		ws[0] = nil
		l.of[stream] = ws[1:]
		return
	}
	delete(l.of, stream)
}
