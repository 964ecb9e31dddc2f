package simulate

import (
	"fmt"
	"slices"
	"time"

	"github.com/an-open-reader/nats-reader/reader/session"
	"github.com/an-open-reader/nats-reader/reader/session/simulate/model"
)

// pull publishes a pull, unless its inbox is gone.
func (r *reader) pull(e *session.Effect) {
	w := r.w
	if r.conn == nil {
		r.fail("driver", "a pull is sent while disconnected")
		return
	}
	if !slices.Contains(r.subs, e.Attempt) {
		r.fail("driver", "a pull asks for answers on inbox %d, which is not subscribed", e.Attempt)
		return
	}
	r.tally.pulled(r)
	attempt, q, consumer, subject := e.Attempt, e.Pull, e.Consumer, e.Subject
	r.toServer(func(c *conn) {
		if w.isDenied("pull") {
			r.refuse(c, subject, "Publish")
			return
		}
		if w.trouble.off > w.now {
			if w.server.NoResponders {
				w.Status(inboxOf(r.n, attempt), q.Token, model.Status{Code: 503})
			}
			return
		}
		w.server.Pull(streamName, consumer, inboxOf(r.n, attempt), model.Pull{
			Token: q.Token, Batch: q.Batch, MaxBytes: q.MaxBytes, Expires: q.Expires, Heartbeat: q.Heartbeat,
		})
	})
}

// refuse is the server's word that a subject is not permitted.
func (r *reader) refuse(c *conn, subject, what string) {
	text := fmt.Sprintf("Permissions Violation for %s to %q", what, subject)
	r.toClient(c, overhead, func() {
		r.input("denied "+subject, func() { r.m.Denied(r.w.now, subject, text) })
	})
}

func (w *world) isDenied(what string) bool { return w.trouble.denied[what] > w.now }

// ping asks for a PONG, one at a time.
func (r *reader) ping() {
	if r.pinging || r.conn == nil {
		return
	}
	r.pinging = true
	r.toServer(func(c *conn) {
		r.toClient(c, 6, func() { r.link.Pong(r.w.now) })
	})
	// The next PING may go out when this one is answered, or its connection is.
	r.w.later(r.w.now+2*wire, call(func() { r.pinging = false }))
}

// suspect asks whether the link is dead.
func (r *reader) suspect(transit time.Duration) {
	if r.link.Suspect(r.w.now, r.bytesIn, transit) {
		r.ping()
	}
	r.rearmLink()
}

// echo asks for a PONG that the rules want to hear of.
func (r *reader) echo() {
	if r.conn == nil {
		return
	}
	sent := r.w.now
	r.toServer(func(c *conn) {
		r.toClient(c, 6, func() {
			r.link.Pong(r.w.now)
			r.input(fmt.Sprintf("pong age=%s", r.w.now-sent), func() { r.m.Pong(r.w.now, sent) })
		})
	})
}

func (r *reader) rearmLink() {
	at, ok := r.link.Wake()
	if !ok || r.linkWake > 0 && r.linkWake <= at {
		return
	}
	at = max(at, r.w.now)
	r.linkWake = at
	r.w.later(at, call(func() {
		if r.linkWake != at {
			return
		}
		r.linkWake = 0
		if r.link.Tick(r.w.now, r.bytesIn) {
			r.force()
		}
		r.rearmLink()
	}))
}

// rate is what the way to the client carries now, in bytes a second.
func (r *reader) rate(now time.Duration) int {
	if r.cfg.slowUntil > now {
		return r.cfg.slowRate
	}
	return 0
}
