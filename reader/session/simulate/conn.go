package simulate

import (
	"slices"
	"time"

	"github.com/an-open-reader/nats-reader/reader/session"
	"github.com/an-open-reader/nats-reader/reader/session/simulate/model"
)

// never is beyond every run.
const never = time.Duration(1) << 60

// conn is one TCP connection of a reader. The two sides need not agree on whether
// it lives.
type conn struct {
	subs   []model.Inbox // that the server knows of
	left   bool          // the client's side is closed
	closed bool          // the server's side is closed
	up     way
	down   way
}

// way is one direction of a connection.
type way struct {
	dark time.Duration // nothing moves until then
	last time.Duration // when the last frame arrives: the next one comes behind it
	rate int           // bytes a second; 0 is no bound
}

// arrival is when a frame that is sent now arrives.
func (y *way) arrival(now time.Duration, bytes int) time.Duration {
	at := max(now+wire, y.last, y.dark)
	if y.rate > 0 {
		at += time.Duration(bytes) * time.Second / time.Duration(y.rate)
	}
	y.last = at
	return at
}

func (c *conn) has(in model.Inbox) bool { return !c.closed && slices.Contains(c.subs, in) }

func (c *conn) unsubscribe(in model.Inbox) {
	c.subs = slices.DeleteFunc(c.subs, func(i model.Inbox) bool { return i == in })
}

// toServer sends a frame; it is lost where the server has closed the connection.
func (r *reader) toServer(do func(c *conn)) {
	c := r.conn
	if c == nil {
		return
	}
	at := c.up.arrival(r.w.now, 0)
	if at >= never {
		return
	}
	r.w.agenda.add(at, true, false, call(func() {
		if !c.closed {
			do(c)
		}
	}))
}

// toClient sends a frame of a size; it is lost where the client has left.
func (r *reader) toClient(c *conn, bytes int, do func()) {
	if c.closed {
		return
	}
	at := c.down.arrival(r.w.now, bytes)
	if at >= never {
		return
	}
	r.w.agenda.add(at, false, false, call(func() {
		if !c.left {
			r.bytesIn++
			do()
		}
	}))
}

// overhead is what a frame without a payload takes on the wire.
const overhead = 60

func (r *reader) sendMessage(c *conn, attempt int, d model.Delivery) {
	t := &r.w.trouble
	if t.swallow > 0 {
		t.swallow--
		r.w.fault(r.w.now)
		return
	}
	arrive := func() { r.message(attempt, d) }
	if t.swap > 0 {
		t.swap--
		behind := r.w.now + 3*wire
		r.w.later(behind, call(func() { r.toClient(c, d.Size+overhead, arrive) }))
		return
	}
	r.toClient(c, d.Size+overhead, arrive)
	if t.twice > 0 {
		t.twice--
		r.toClient(c, d.Size+overhead, arrive)
	}
}

func (r *reader) sendStatus(c *conn, attempt int, token uint64, st model.Status) {
	r.toClient(c, overhead, func() {
		r.status(attempt, session.Status{
			Token: token, Code: st.Code, Text: st.Text, LastConsumer: st.LastConsumer, LastStream: st.LastStream, HasLast: st.HasLast,
			PendingMessages: st.PendingMessages, PendingBytes: st.PendingBytes, HasPending: st.HasPending,
		})
	})
}

// lose ends the connection on the client's side. The server is told, or finds out
// later; a server that is told late goes on sending to nobody.
func (r *reader) lose(told bool, back time.Duration) {
	c, w := r.conn, r.w
	if c == nil || r.closedForGood {
		return
	}
	c.left = true
	r.conn = nil
	if told {
		at := w.now
		if c.up.dark > w.now {
			at = max(at, c.up.dark)
		}
		if at >= never {
			told = false
		} else {
			w.agenda.add(at, true, false, call(func() { r.drop(c) }))
		}
	}
	if !told {
		late := time.Duration(10+w.draw.IntN(110)) * time.Second
		w.agenda.add(w.now+late, true, false, call(func() { r.drop(c) }))
		if r.cfg.Durable != "" {
			// Until then a pull of ours takes what the next session waits for.
			w.fault(w.now + min(late, r.cfg.Expires))
		}
	}
	r.link.Disconnected(w.now)
	r.draining = r.draining[:0] // a drain is not taken up again
	r.input("disconnected", func() { r.m.Disconnected(w.now) })
	w.later(max(w.now+back, w.now+wire), call(r.dial))
}

// drop ends a connection on the server's side.
func (r *reader) drop(c *conn) {
	c.closed, c.subs = true, nil
	r.conns = slices.DeleteFunc(r.conns, func(o *conn) bool { return o == c })
}

// dial makes a new connection as soon as the server takes it; nats.go subscribes
// what was subscribed.
func (r *reader) dial() {
	w := r.w
	if r.conn != nil || r.closedForGood {
		return
	}
	if !w.reachable() {
		w.later(max(w.trouble.frozen, w.trouble.down)+2*wire, call(r.dial))
		return
	}
	c := &conn{}
	c.down.rate = r.rate(w.now)
	r.conn = c
	r.conns = append(r.conns, c)
	for _, attempt := range r.subs {
		r.subscribeOn(c, attempt)
	}
	r.link.Reconnected(w.now)
	r.input("reconnected", func() { r.m.Reconnected(w.now) })
}

func (r *reader) subscribeOn(c *conn, attempt int) {
	if r.w.isDenied("inbox") {
		r.refuse(c, inboxSubject(attempt), "Subscription")
		return
	}
	c.subs = append(c.subs, inboxOf(r.n, attempt))
}

// force is ForceReconnect: the client leaves a link that is dead.
func (r *reader) force() {
	if r.conn == nil {
		r.link.Reconnected(r.w.now)
		return
	}
	r.tally.forced++
	r.input("forced dead", func() { r.m.Forced(r.w.now, "dead") })
	r.lose(true, 50*time.Millisecond)
}
