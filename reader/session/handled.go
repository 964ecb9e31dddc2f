package session

// handled is up to where the messages of a durable are done with, as far as this
// reader alone can tell: where every delivery since a look at the durable came here,
// and which of them its caller has acknowledged. A durable that was deleted is made
// again behind them. It never claims too much: as soon as a consumer sequence does not
// come here, because another reader has got it or it was lost, what follows is left to
// the next look. An ack that is lost on its way counts: its message was handled.
type handled struct {
	on    bool
	next  uint64                // the consumer sequence whose turn it is
	top   uint64                // every delivery up to this stream sequence came here or was acknowledged before
	open  map[uint64]int64      // of these what is not acknowledged: by stream sequence, when it was stored
	order []uint64              // the stream sequences of open, and some that are acknowledged, in order
	ahead map[uint64]overtaking // came before their turn, by consumer sequence
}

// overtaking is a message that came before its turn.
type overtaking struct {
	sequence uint64
	time     int64
	acked    bool
}

// Bounds of what is kept; beyond them the next look tells.
const (
	maxHandledOpen  = 1 << 16
	maxHandledAhead = 1 << 10
)

// begin takes a look at the durable. While something is delivered and not
// acknowledged, only what was counted before can be counted on.
func (h *handled) begin(f ConsumerFacts) {
	switch {
	case h.on && f.DeliveredConsumer >= h.next:
		// What was delivered is on its way, or went elsewhere: that will be seen.
	case f.AckPending == 0:
		*h = handled{on: true, next: f.DeliveredConsumer + 1, top: f.DeliveredStream, open: map[uint64]int64{}, ahead: map[uint64]overtaking{}}
	case f.DeliveredConsumer+1 < h.next:
		h.on = false // perhaps another durable of that name
	}
}

// deliver counts a message that came here. Those of two inboxes may overtake each
// other.
func (h *handled) deliver(d Delivery) {
	switch {
	case !h.on:
	case d.ConsumerSeq < h.next, len(h.ahead) >= maxHandledAhead, len(h.open) >= maxHandledOpen:
		h.on = false
	case d.ConsumerSeq > h.next:
		h.ahead[d.ConsumerSeq] = overtaking{sequence: d.Sequence, time: d.Time}
	default:
		e, ok := overtaking{sequence: d.Sequence, time: d.Time}, true
		for ok {
			delete(h.ahead, h.next)
			h.count(e)
			e, ok = h.ahead[h.next]
		}
	}
}

func (h *handled) count(e overtaking) {
	h.next++
	if e.sequence <= h.top {
		return // sent again: it is still open, or it was acknowledged
	}
	h.top = e.sequence
	if !e.acked || len(h.order) > 0 {
		h.order = append(h.order, e.sequence)
	}
	if !e.acked {
		h.open[e.sequence] = e.time
	}
}

// acked counts what its caller is done with. The time tells a message from that of
// another stream with its sequence.
func (h *handled) acked(sequence, consumerSeq uint64, time int64) {
	if e, ok := h.ahead[consumerSeq]; ok && e.sequence == sequence && e.time == time {
		e.acked = true
		h.ahead[consumerSeq] = e
	}
	if at, ok := h.open[sequence]; !ok || at != time {
		return
	}
	delete(h.open, sequence)
	for len(h.order) > 0 {
		if _, open := h.open[h.order[0]]; open {
			return
		}
		h.order = h.order[1:]
	}
}

// floor is the stream sequence up to which every message is done with.
func (h *handled) floor() uint64 {
	if len(h.order) > 0 {
		return h.order[0] - 1
	}
	return h.top
}

// Acked notes that the caller acknowledged a message of a durable, or wants it never
// to be sent again.
func (m *Machine) Acked(sequence, consumerSeq uint64, time int64) {
	if !m.ended() {
		m.handled.acked(sequence, consumerSeq, time)
	}
}

// noteFloor keeps up to where every message of the durable was acknowledged: where
// it is made again if it is deleted.
func (m *Machine) noteFloor(f ConsumerFacts) {
	m.raiseFloor()
	m.handled.begin(f)
	if f.AckPending == 0 {
		m.floor = max(m.floor, f.DeliveredStream)
		return
	}
	m.floor = max(m.floor, f.AckFloor)
}

// raiseFloor adds what was acknowledged since the last look; not where the stream can
// not be looked at, which may be another one.
func (m *Machine) raiseFloor() {
	if !m.blind {
		m.floor = max(m.floor, m.handled.floor())
	}
}
