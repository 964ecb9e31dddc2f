package model

import (
	"slices"
	"time"
)

// unacked is a message that was sent and not yet acknowledged.
type unacked struct {
	sequence   uint64
	cseq       uint64 // as it was sent
	deliveries int
	due        time.Duration // when it is sent again
	waits      bool          // it is to be sent again
}

// acks are what a consumer with explicit acks keeps of what it sent.
type acks struct {
	list  []unacked // by sequence
	floor uint64    // everything up to here is acknowledged
	cseq  uint64    // the same, as a consumer sequence
	armed bool
}

func (a *acks) open() int { return len(a.list) }

func (a *acks) find(sequence uint64) int {
	return slices.IndexFunc(a.list, func(u unacked) bool { return u.sequence == sequence })
}

func (a *acks) drop(sequence uint64) {
	if i := a.find(sequence); i >= 0 {
		a.list = slices.Delete(a.list, i, i+1)
	}
}

// removed takes a message that the stream does not hold any more for acknowledged.
func (a *acks) removed(c *Consumer, sequence uint64) {
	if i := a.find(sequence); i >= 0 {
		u := a.list[i]
		a.drop(sequence)
		a.acked(c, u)
	}
}

func (a *acks) rolledBack(end uint64) {
	a.list = slices.DeleteFunc(a.list, func(u unacked) bool { return u.sequence > end })
	a.floor = min(a.floor, end)
}

// purged forgets what lies below the first message that a purge left.
func (a *acks) purged(c *Consumer, first uint64) {
	if !c.Config.Explicit {
		return
	}
	if a.floor < first {
		a.floor = first - 1
		for _, u := range slices.Clone(a.list) {
			if u.sequence < first {
				a.drop(u.sequence)
				a.cseq = max(a.cseq, u.cseq)
			}
		}
	}
	if len(a.list) == 0 && !c.s.PurgesOne {
		a.floor, a.cseq = c.next-1, c.cseq
	}
}

// again gives a message that is to be sent again.
func (a *acks) again() (sequence uint64, deliveries int, ok bool) {
	for _, u := range a.list {
		if u.waits {
			return u.sequence, u.deliveries + 1, true
		}
	}
	return 0, 0, false
}

func (a *acks) sent(c *Consumer, sequence uint64, deliveries int) {
	due := c.s.now() + c.Config.AckWait
	if i := a.find(sequence); i >= 0 {
		a.list[i].deliveries, a.list[i].due, a.list[i].waits = deliveries, due, false
		if c.s.FloorSticks {
			a.list[i].cseq = c.cseq
		}
	} else {
		a.list = append(a.list, unacked{sequence: sequence, cseq: c.cseq, deliveries: deliveries, due: due})
	}
	a.arm(c)
}

// acked moves the floor: to the next open one where the lowest was acknowledged.
func (a *acks) acked(c *Consumer, u unacked) {
	switch {
	case len(a.list) == 0:
		a.floor, a.cseq = c.dseq, c.cseq
	case u.cseq == a.cseq+1:
		a.floor, a.cseq = u.sequence, u.cseq
		for _, o := range a.list {
			if o.sequence > u.sequence {
				a.floor, a.cseq = o.sequence-1, o.cseq-1
				break
			}
		}
	}
}

// arm has the consumer look when the first message is overdue.
func (a *acks) arm(c *Consumer) {
	if a.armed {
		return
	}
	first := time.Duration(-1)
	for _, u := range a.list {
		if !u.waits && (first < 0 || u.due < first) {
			first = u.due
		}
	}
	if first >= 0 {
		a.armed = true
		c.s.h.At(first, ackTimer{c})
	}
}

type ackTimer struct{ c *Consumer }

func (t ackTimer) Fire() {
	c := t.c
	c.acks.armed = false
	if c.gone {
		return
	}
	for i := range c.acks.list {
		if u := &c.acks.list[i]; u.due <= c.s.now() {
			u.waits = true
		}
	}
	c.acks.arm(c)
	c.serve()
}

// Harm is what an ack did that was meant for another consumer of a name: nothing from
// From to To is sent any more, or nobody can tell that it was not acknowledged.
type Harm struct{ From, To uint64 }

// Ack takes an acknowledgement that names a consumer and what it told of the message:
// on a work-queue or interest stream it removes the message.
func (s *Server) Ack(stream, name string, sequence, cseq uint64) (h Harm) {
	c, _, ok := s.find(stream, name)
	if c == nil || !ok {
		return h
	}
	if sequence >= c.next {
		// It was delivered by another consumer of that name.
		switch {
		case s.AckBounded:
			return h
		case s.AckSkips:
			h = Harm{c.next, sequence}
			c.next, c.dseq = sequence+1, sequence
		}
	}
	i := c.acks.find(sequence)
	switch {
	case i >= 0:
		u := c.acks.list[i]
		c.acks.drop(sequence)
		c.acks.acked(c, u)
	case s.FloorSticks:
		// What matches nothing moves the floor, too.
		before := c.acks.floor
		if c.acks.acked(c, unacked{sequence: sequence, cseq: cseq}); c.acks.floor > before && len(c.acks.list) > 0 {
			h = Harm{before + 1, c.acks.floor}
		}
	}
	if c.st.Retention != Limits && !c.wantedByOthers(sequence) {
		c.st.Remove(sequence)
	}
	c.serve()
	return h
}

func (c *Consumer) wantedByOthers(sequence uint64) bool {
	if c.st.Retention == WorkQueue {
		return false
	}
	return slices.ContainsFunc(c.st.consumers, func(o *Consumer) bool {
		return o != c && (o.next <= sequence || o.acks.find(sequence) >= 0)
	})
}

// Nak has a message sent again at once.
func (s *Server) Nak(stream, name string, sequence uint64) {
	c, _, ok := s.find(stream, name)
	if c == nil || !ok {
		return
	}
	if i := c.acks.find(sequence); i >= 0 {
		c.acks.list[i].waits = true
		c.serve()
	}
}

// InProgress gives a message its ack_wait anew.
func (s *Server) InProgress(stream, name string, sequence uint64) {
	c, _, ok := s.find(stream, name)
	if c == nil || !ok {
		return
	}
	if i := c.acks.find(sequence); i >= 0 {
		c.acks.list[i].due = s.now() + c.Config.AckWait
	}
}
