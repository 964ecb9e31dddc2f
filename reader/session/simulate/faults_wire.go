package simulate

import (
	"time"

	"github.com/an-open-reader/nats-reader/reader/session"
	"github.com/an-open-reader/nats-reader/reader/session/simulate/model"
)

// wireFaults break what lies between client and server.
var wireFaults = []fault{
	{"drop the subscription", func(w *world, r *reader, _ time.Duration, _ int) {
		for _, c := range r.conns {
			if n := len(c.subs); n > 0 {
				c.subs = c.subs[:n-1]
			}
		}
	}},
	{"lose a message", func(w *world, _ *reader, _ time.Duration, n int) { w.trouble.swallow = 1 + n%3 }},
	{"a message twice", func(w *world, _ *reader, _ time.Duration, n int) { w.trouble.twice = 1 + n%3 }},
	{"messages out of order", func(w *world, _ *reader, _ time.Duration, n int) { w.trouble.swap = 1 + n%2 }},
	{"mute heartbeats", func(w *world, _ *reader, d time.Duration, _ int) { w.trouble.muted = w.now + d }},
	{"lose statuses", func(w *world, _ *reader, d time.Duration, _ int) { w.trouble.silent = w.now + d }},
	{"forge a status", func(w *world, r *reader, _ time.Duration, n int) {
		v := r.m.View(w.now)
		if v.Number == 0 || r.conn == nil {
			return
		}
		st := forged[n%len(forged)]
		attempt := r.newest()
		if attempt > 0 {
			r.sendStatus(r.conn, attempt, uint64(n/len(forged)%20), st)
		}
	}},
	{"cut the connection", func(w *world, r *reader, d time.Duration, n int) {
		if n%2 == 0 {
			d = 50 * time.Millisecond
		}
		r.lose(true, d)
	}},
	{"half-open", func(w *world, r *reader, d time.Duration, n int) {
		if n%2 == 0 {
			d = 50 * time.Millisecond
		}
		r.lose(false, d)
	}},
	{"nothing up", func(w *world, r *reader, d time.Duration, _ int) { r.darken(w.now+d, true, false) }},
	{"nothing down", func(w *world, r *reader, d time.Duration, _ int) { r.darken(w.now+d, false, true) }},
	{"nothing moves", func(w *world, r *reader, d time.Duration, _ int) { r.darken(w.now+d, true, true) }},
	{"the link is dead", func(w *world, r *reader, _ time.Duration, _ int) {
		r.darken(never, true, true)
		// Noticed by silence and a PING, and by that alone; where the link was slow, a
		// message may take twice as long as it took.
		var transit time.Duration
		if r.cfg.slowRate > 0 {
			transit = 2 * time.Duration(w.plan.LargeSize) * time.Second / time.Duration(r.cfg.slowRate)
		}
		w.fault(w.now + 2*r.cfg.Heartbeat + r.cfg.Expires/10 + 8*time.Second + transit)
	}},
	{"slow link", func(w *world, r *reader, d time.Duration, n int) {
		r.cfg.slowUntil, r.cfg.slowRate = w.now+d, max(2000+n%20000, w.plan.LargeSize/10)
		if c := r.conn; c != nil {
			c.down.rate = r.cfg.slowRate
		}
		w.later(w.now+d, call(func() {
			last := w.now
			for _, c := range r.conns {
				c.down.rate = 0
				if c.down.last < never {
					last = max(last, c.down.last)
				}
			}
			w.fault(last)
		}))
	}},
}

// darken stops what moves on the reader's connection.
func (r *reader) darken(until time.Duration, up, down bool) {
	c := r.conn
	if c == nil {
		return
	}
	if up {
		c.up.dark = max(c.up.dark, until)
	}
	if down {
		c.down.dark = max(c.down.dark, until)
	}
	if until < never && r.w.trouble.down < until && up && down {
		r.w.trouble.down = until // the way to the server, for new connections too
	}
}

// newest is the attempt that was subscribed last, 0 none.
func (r *reader) newest() int {
	if n := len(r.subs); n > 0 {
		return r.subs[n-1]
	}
	return 0
}

var forged = []model.Status{
	{Code: 404, Text: "No Messages"}, {Code: 408, Text: "Request Timeout", HasPending: true, PendingMessages: 1}, {Code: 408, Text: "Interest Expired"},
	{Code: 409, Text: "Leadership Change"}, {Code: 409, Text: "Exceeded MaxWaiting"}, {Code: 409, Text: "Consumer is push based"},
	{Code: 409, Text: "Exceeded MaxRequestBatch of 3"}, {Code: 409, Text: "Exceeded MaxRequestExpires of 4s"},
	{Code: 409, Text: "Exceeded MaxRequestMaxBytes of 5000"}, {Code: 409, Text: "Message Size Exceeds MaxBytes"},
	{Code: 409, Text: "Batch Completed"}, {Code: 400, Text: "Bad Request - no"}, {Code: 412, Text: "Required Api Level"},
	{Code: 423, Text: "Nats-Wrong-Pin-Id"}, {Code: 503}, {Code: 499, Text: "What"},
}

// requestFaults break the API.
var requestFaults = []fault{
	{"API away", func(w *world, _ *reader, d time.Duration, _ int) { w.trouble.apiDown = w.now + d }},
	{"API answers lost", func(w *world, _ *reader, d time.Duration, _ int) { w.trouble.apiLost = w.now + d }},
	{"API errors", func(w *world, _ *reader, d time.Duration, n int) {
		w.trouble.apiErr, w.trouble.apiDone = w.now+d, n%3 == 0
	}},
	{"API late", func(w *world, _ *reader, d time.Duration, n int) {
		w.trouble.apiSlow, w.trouble.lag = w.now+d, time.Duration(500+n%4000)*time.Millisecond
		w.fault(w.now + d + w.trouble.lag)
	}},
	{"no quorum", func(w *world, _ *reader, d time.Duration, _ int) { w.trouble.quorum = w.now + d }},
	{"JetStream off", func(w *world, _ *reader, d time.Duration, _ int) { w.trouble.off = w.now + d }},
	{"denied", func(w *world, r *reader, d time.Duration, n int) {
		what := deniable[n%len(deniable)]
		if w.trouble.denied == nil {
			w.trouble.denied = map[string]time.Duration{}
		}
		w.trouble.denied[what] = w.now + d
		if what == "inbox" {
			// A reload takes the subscription away at once, and says so.
			for _, c := range r.conns {
				for _, in := range c.subs {
					r.refuse(c, inboxSubject(attemptOf(in)), "Subscription")
				}
				c.subs = nil
			}
		}
	}},
}

var deniable = []string{
	"pull", "inbox", string(session.APIConsumerCreate), string(session.APIConsumerInfo), string(session.APIConsumerDelete),
	string(session.APIStreamInfo), string(session.APIMessageGet), string(session.APIConsumerReset),
}
