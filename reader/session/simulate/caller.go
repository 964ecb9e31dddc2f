package simulate

import (
	"errors"
	"time"

	"github.com/an-open-reader/nats-reader/reader/session"
)

// caller is who calls Next: it takes messages out of the buffer at its own pace,
// and acknowledges those of a durable.
type caller struct {
	buffer  []taken
	busy    bool
	stalled time.Duration
	over    bool
	closed  bool     // by its caller: what comes for a durable is given back
	returns []uint64 // what is given back once the rules say so
	gives   bool     // they have said so
}

// taken is a message with the number of the session that brought it.
type taken struct {
	session.Delivery
	session int
}

func (c *caller) put(r *reader, d session.Delivery) {
	c.buffer = append(c.buffer, taken{d, r.m.Session()})
	if !c.busy {
		c.busy = true
		r.w.later(max(r.w.now+r.cfg.Slow, c.stalled), takes{r})
	}
}

type takes struct{ r *reader }

// Fire hands out what a call of NextBatch would.
func (t takes) Fire() {
	r := t.r
	c, w := &r.caller, r.w
	if c.stalled > w.now {
		w.later(c.stalled, t)
		return
	}
	n := min(len(c.buffer), 1+w.draw.IntN(8))
	if n == 0 {
		c.busy = false
		return
	}
	bytes := 0
	for _, d := range c.buffer[:n] {
		bytes += d.Size
		if r.cfg.Durable != "" {
			r.ack(d)
		}
	}
	c.buffer = append(c.buffer[:0], c.buffer[n:]...)
	if !c.over {
		w.writeTook(r, n, bytes)
		r.m.Took(w.now, n, bytes)
		r.perform()
	}
	if c.busy = len(c.buffer) > 0; c.busy {
		w.later(w.now+time.Duration(n)*r.cfg.Slow+wire, t)
	}
}

// end is what the end of a reader does to what was not handed out: closing forgets
// it, every other end hands it out.
func (c *caller) end(r *reader, err error) {
	c.over = true
	if !errors.Is(err, session.ErrClosed) {
		return
	}
	c.closed = true
	for _, d := range c.buffer {
		if r.cfg.Durable != "" {
			r.giveBack(d.Sequence)
		}
	}
	c.buffer = nil
}

// giveBack naks a message that no caller will see; at the end the rules say when.
func (r *reader) giveBack(sequence uint64) {
	if c := &r.caller; c.closed && !c.gives {
		c.returns = append(c.returns, sequence)
		return
	}
	r.nak(sequence)
}

// giveBackAll is the rules' word that a closed reader's messages may be given back.
func (r *reader) giveBackAll() {
	c := &r.caller
	c.gives = true
	for _, sequence := range c.returns {
		r.nak(sequence)
	}
	c.returns = nil
}

// ack acknowledges a message, unless the rules say that it comes again.
func (r *reader) ack(d taken) {
	if !r.m.MayAck(d.session) {
		return
	}
	w, sent := r.w, r.w.now
	w.writeAcked(r, d.Delivery)
	r.m.Acked(d.Sequence, d.ConsumerSeq, d.Time)
	r.toServer(func(*conn) {
		h := w.server.Ack(streamName, r.cfg.Durable, d.Sequence, d.ConsumerSeq)
		if w.maker != r.n || sent < r.madeAt {
			// It was sent before this reader could know that the durable is another one.
			w.harmed = append(w.harmed, told{w.journal.generation, h.From, h.To})
		}
	})
}

func (r *reader) nak(sequence uint64) {
	r.toServer(func(*conn) { r.w.server.Nak(streamName, r.cfg.Durable, sequence) })
}
