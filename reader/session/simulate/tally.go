package simulate

import (
	"time"

	"github.com/an-open-reader/nats-reader/reader/session"
)

// tally counts what a reader does, and looks at its rate.
type tally struct {
	requests  int
	times     []time.Duration // of the last requests
	pulls     []time.Duration // of the last pulls
	refused   map[string]time.Duration
	events    map[session.Kind]int
	forced    int
	raised    int
	done      int
	mostFast  int // requests in 100 ms
	mostSlow  int // in 10 s
	mostPulls int // pulls in 100 ms
	consumers int
	ticks     int
	tickedAt  time.Duration
}

// Bounds of what a reader may ask, whatever happens to it. At the default clocks a
// failing attempt takes a pause of 200 ms, then twice that, up to 2 s.
const (
	mostAtOnce   = 20 // requests within 100 ms: a stream re-created twice, read by name from its snapshot
	mostIn10s    = 60
	mostPullsIn  = 10 // pulls within 100 ms without a message
	mostOfReader = 3
)

func within(times []time.Duration, now, span time.Duration) (kept []time.Duration) {
	i := 0
	for i < len(times) && times[i] < now-span {
		i++
	}
	return times[i:]
}

// requested notes an API request.
func (t *tally) requested(r *reader, e *session.Effect) {
	now := r.w.now
	t.requests++
	t.times = append(within(t.times, now, 10*time.Second), now)
	fast := len(within(t.times, now, 100*time.Millisecond))
	t.mostFast, t.mostSlow = max(t.mostFast, fast), max(t.mostSlow, len(t.times))
	if fast > mostAtOnce {
		r.fail("rate", "%d API requests within 100ms", fast)
	}
	if len(t.times) > mostIn10s && r.cfg.Retry.Max >= defaultRetry.Max {
		r.fail("rate", "%d API requests within 10s", len(t.times))
	}
	if at, ok := t.refused[string(e.API)+e.Consumer]; ok && at == now && r.m.View(now).Phase < session.Ending {
		r.fail("two at one instant", "%s %s is asked again at the instant of its refusal", e.API, e.Consumer)
	}
}

// answered notes an answer.
func (t *tally) answered(r *reader, e *session.Effect, err error) {
	if err == nil {
		return
	}
	if a, ok := err.(*session.APIError); ok && (a.ErrCode == 10101 || a.ErrCode == 10153) {
		return // asked again with what the stream takes
	}
	if e.Consumer == r.cfg.Durable && e.API == session.APIConsumerInfo && r.m.View(r.w.now).Phase == session.Silent {
		return // the ask; an attempt begins with the same question
	}
	if t.refused == nil {
		t.refused = map[string]time.Duration{}
	}
	t.refused[string(e.API)+e.Consumer] = r.w.now
}

// reasoned forgets the refusal of a question about a consumer: a 503 that comes at the
// instant of the refusal is a reason of its own to ask. It ends the pull that asked, so
// that it comes once and makes no loop.
func (t *tally) reasoned(consumer string) {
	delete(t.refused, string(session.APIConsumerInfo)+consumer)
}

// pulled notes a pull.
func (t *tally) pulled(r *reader) {
	now := r.w.now
	t.pulls = append(within(t.pulls, now, 100*time.Millisecond), now)
	t.mostPulls = max(t.mostPulls, len(t.pulls))
	if len(t.pulls) > mostPullsIn {
		r.fail("rate", "%d pulls within 100ms", len(t.pulls))
	}
}

// created counts the reader's consumers on the server.
func (t *tally) created(r *reader) {
	n := r.owned()
	for _, st := range r.w.server.Streams {
		for _, c := range st.Consumers() {
			if c.Config.Owner == r.id && r.late[c.Name] {
				n-- // made when nobody waited for it any more, after a delete of its name
			}
		}
	}
	if n > mostOfReader {
		r.fail("consumers", "%d consumers of one reader are on the server", n)
	} else {
		t.consumers = max(t.consumers, n)
	}
}

// owned counts the consumers of a private reader.
func (r *reader) owned() (n int) {
	for _, st := range r.w.server.Streams {
		for _, c := range st.Consumers() {
			if c.Config.Owner == r.id {
				n++
			}
		}
	}
	return n
}

func (t *tally) event(e *session.Event) {
	if t.events == nil {
		t.events = map[session.Kind]int{}
	}
	t.events[e.Kind]++
}

// ticked looks for a machine that wants to be woken at once, for ever.
func (t *tally) ticked(r *reader) {
	if r.w.now > t.tickedAt {
		t.tickedAt, t.ticks = r.w.now, 0
	}
	if t.ticks++; t.ticks > 50 {
		r.fail("endless", "the machine wants to be woken at once, for ever")
	}
}
