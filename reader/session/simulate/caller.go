package simulate

import (
	"errors"
	"time"

	"github.com/an-open-reader/nats-reader/reader/session"
)

// caller is who calls Next: it takes messages out of the buffer at its own pace,
// and acknowledges those of a durable.
type caller struct {
	buffer  []session.Delivery
	busy    bool
	stalled time.Duration
	over    bool
}

func (c *caller) put(r *reader, d session.Delivery) {
	c.buffer = append(c.buffer, d)
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
	for _, d := range c.buffer {
		if r.cfg.Durable != "" {
			r.nak(d.Sequence)
		}
	}
	c.buffer = nil
}

func (r *reader) ack(d session.Delivery) {
	r.toServer(func(*conn) {
		if st := r.w.stream(); st != nil {
			if c := st.Consumer(r.cfg.Durable); c != nil {
				c.Ack(d.Sequence)
			}
		}
	})
}

func (r *reader) nak(sequence uint64) {
	r.toServer(func(*conn) {
		if st := r.w.stream(); st != nil {
			if c := st.Consumer(r.cfg.Durable); c != nil {
				c.Nak(sequence)
			}
		}
	})
}
