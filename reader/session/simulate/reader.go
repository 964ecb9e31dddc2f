package simulate

import (
	"fmt"
	"slices"
	"time"

	"github.com/an-open-reader/nats-reader/reader/session"
	"github.com/an-open-reader/nats-reader/reader/session/simulate/model"
)

// reader is one reader: its rules, the driver that performs them, its caller, and
// what is known of it for the verdict.
type reader struct {
	w   *world
	n   int
	cfg Reader
	id  string
	m   *session.Machine

	link     session.Link
	linkWake time.Duration
	bytesIn  uint64
	pinging  bool

	conn          *conn   // nil: not connected
	conns         []*conn // that the server knows of
	closedForGood bool

	subs     []int // attempts whose inbox is subscribed
	draining []int
	held     map[int]session.Delivery
	open     []session.RequestID // under way
	looks    []session.Effect    // STREAM.INFO that waits for an earlier one to be over
	fx       []session.Effect
	wake     time.Duration // a Tick is planned; 0 none

	caller caller
	ledger ledger
	tally  tally

	tickets int             // Replace calls
	madeAt  time.Duration   // when it last asked for its durable to be made
	late    map[string]bool // consumers whose last create was done when its answer was not wanted any more
}

func newReader(w *world, n int) *reader {
	r := &reader{w: w, n: n, cfg: w.plan.Readers[n], id: "id", held: map[int]session.Delivery{}}
	c := r.cfg.config()
	c.Inbox = "_INBOX.r"
	if n > 0 {
		r.id = fmt.Sprintf("id%d", n)
	}
	c.ID = r.id
	r.m = session.New(c)
	r.conn = &conn{}
	r.conns = []*conn{r.conn}
	r.conn.down.rate = r.rate(0)
	r.ledger.begin(r)
	return r
}

func inboxSubject(attempt int) string { return fmt.Sprintf("_INBOX.r.%d.*", attempt) }

// start opens the reader.
func (r *reader) start() {
	r.ledger.opening(r)
	r.input("start", func() { r.m.Start(r.w.now) })
}

// input gives the machine something and does what it says.
func (r *reader) input(line string, give func()) {
	r.w.write(r, line)
	give()
	r.perform()
}

// perform does what the machine says, and plans its next Tick.
func (r *reader) perform() {
	for {
		r.fx = append(r.fx[:0], r.m.Effects()...)
		if len(r.fx) == 0 {
			break
		}
		for i := range r.fx {
			r.do(&r.fx[i])
		}
	}
	r.rearm()
}

func (r *reader) rearm() {
	at, ok := r.m.Wake()
	if !ok || r.wake > 0 && r.wake <= at {
		return
	}
	at = max(at, r.w.now)
	r.wake = max(at, 1)
	r.w.agenda.add(at, false, true, tick{r, at})
}

type tick struct {
	r  *reader
	at time.Duration
}

// Fire is the machine's own clock.
func (t tick) Fire() {
	r := t.r
	if r.wake != max(t.at, 1) {
		return
	}
	r.wake = 0
	r.tally.ticked(r)
	r.m.Tick(r.w.now)
	r.perform()
}

func (r *reader) do(e *session.Effect) {
	w := r.w
	switch e.Do {
	case session.DoSubscribe:
		attempt := e.Attempt
		r.subs = append(r.subs, attempt)
		r.toServer(func(c *conn) { r.subscribeOn(c, attempt) })
	case session.DoUnsubscribe:
		r.unsubscribe(e.Attempt)
	case session.DoDrain:
		r.drain(e.Attempt)
	case session.DoPull:
		r.pull(e)
	case session.DoRequest:
		r.request(*e)
	case session.DoCancel:
		r.open = slices.DeleteFunc(r.open, func(id session.RequestID) bool { return id == e.Request })
		r.unlook(e.Request)
	case session.DoPing:
		r.ping()
	case session.DoSuspect:
		r.suspect(e.Timeout)
	case session.DoEcho:
		r.suspect(e.Timeout)
		r.echo()
	case session.DoProven:
		r.link.Proven(w.now)
	case session.DoEvent:
		r.event(&e.Event)
	case session.DoAcceptHeld:
		d := r.held[e.Attempt]
		delete(r.held, e.Attempt)
		r.accept(d)
	case session.DoDropHeld:
		delete(r.held, e.Attempt)
	case session.DoOpened:
		r.ledger.opened(r, e)
	case session.DoRaise:
		r.tally.raised++
	case session.DoEnd:
		r.ledger.ended(r, e.Err)
		r.caller.end(r, e.Err)
	case session.DoGiveBack:
		r.giveBackAll()
	case session.DoDone:
		r.tally.done++
		r.leave()
	}
}

// unsubscribe ends an inbox; what a durable was sent is delivered first.
func (r *reader) unsubscribe(attempt int) {
	if !slices.Contains(r.subs, attempt) {
		r.fail("driver", "inbox %d is unsubscribed twice", attempt)
		return
	}
	in := inboxOf(r.n, attempt)
	if r.cfg.Durable == "" || r.conn == nil {
		r.forget(attempt)
		r.toServer(func(c *conn) { c.unsubscribe(in) })
		return
	}
	r.draining = append(r.draining, attempt)
	r.forgetSub(attempt)
	r.toServer(func(c *conn) {
		c.unsubscribe(in)
		r.toClient(c, overhead, func() { r.forget(attempt) })
	})
}

// drain unsubscribes and tells when all that came before was delivered.
func (r *reader) drain(attempt int) {
	if !slices.Contains(r.subs, attempt) {
		r.m.Drained(r.w.now, attempt)
		return
	}
	in := inboxOf(r.n, attempt)
	r.draining = append(r.draining, attempt)
	r.forgetSub(attempt)
	r.toServer(func(c *conn) {
		c.unsubscribe(in)
		r.toClient(c, overhead, func() {
			r.forget(attempt)
			r.input(fmt.Sprintf("drained %d", attempt), func() { r.m.Drained(r.w.now, attempt) })
		})
	})
}

func (r *reader) forgetSub(attempt int) {
	r.subs = slices.DeleteFunc(r.subs, func(a int) bool { return a == attempt })
}

func (r *reader) forget(attempt int) {
	r.forgetSub(attempt)
	r.draining = slices.DeleteFunc(r.draining, func(a int) bool { return a == attempt })
}

func (r *reader) listens(attempt int) bool {
	return slices.Contains(r.subs, attempt) || slices.Contains(r.draining, attempt)
}

// leave ends the reader's part of the connection.
func (r *reader) leave() {
	for _, id := range slices.Clone(r.subs) {
		if r.cfg.Durable != "" {
			continue
		}
		r.fail("left behind", "a closed reader is still subscribed to inbox %d", id)
	}
}

// message is one that arrived.
func (r *reader) message(attempt int, d model.Delivery) {
	if !r.listens(attempt) {
		return
	}
	w := r.w
	got := session.Delivery{Sequence: d.Sequence, ConsumerSeq: d.ConsumerSeq, Time: d.Time, Pending: d.Pending, Size: d.Size}
	w.writeMessage(r, attempt, got)
	r.tally.pulls = r.tally.pulls[:0]
	switch r.m.Deliver(w.now, attempt, got) {
	case session.Accept:
		r.accept(got)
	case session.Hold:
		r.held[attempt] = got
	case session.Drop:
		if r.cfg.Durable != "" {
			r.giveBack(d.Sequence)
		}
	}
	if r.m.Busy() {
		r.perform()
	}
}

func (r *reader) status(attempt int, st session.Status) {
	if !r.listens(attempt) {
		return
	}
	r.w.writeStatus(r, attempt, st)
	if st.Code == 503 {
		r.tally.reasoned(r.m.View(r.w.now).Consumer)
	}
	r.m.Status(r.w.now, attempt, st)
	r.perform()
}

func (r *reader) accept(d session.Delivery) {
	r.ledger.accepted(r, d)
	r.caller.put(r, d)
}
