package session

import (
	"container/heap"
	"fmt"
	"math/rand"
	"testing"
	"time"
)

// world is a reader, a server and the wire between them under virtual time.
type world struct {
	t    *testing.T
	r    *rand.Rand
	seed int64
	now  time.Duration
	due  agenda
	seq  int

	ticks    int // since the clock moved
	m        *Machine
	server   *server
	inactive time.Duration
	stamp    int64 // time of the last message: unique, in order of publishing

	epoch    int  // of the connection
	up       bool // the client thinks so
	clientOn map[int]bool
	draining map[int]bool
	open     map[RequestID]bool

	apiDown, apiLost, apiError, mute, frozen, stalled time.Duration
	over                                              time.Duration // the last fault's end
	dropMessages                                      int

	held     map[int]Delivery
	buffered int
	got      []int64
	requests int
	failed   error
	log      []string
}

const wire = time.Millisecond

func newWorld(t *testing.T, seed int64) *world {
	w := &world{
		t: t, seed: seed, r: rand.New(rand.NewSource(seed)), up: true, stamp: 1000, inactive: 30 * time.Second,
		clientOn: map[int]bool{}, draining: map[int]bool{}, open: map[RequestID]bool{}, held: map[int]Delivery{},
	}
	w.server = &server{
		w: w, newer: w.r.Intn(2) == 0, level: []int{0, 1, 4, 5}[w.r.Intn(4)], created: 100, first: 1,
		times: map[uint64]int64{}, consumers: map[string]*consumer{}, interest: map[int]bool{},
	}
	for range w.r.Intn(20) {
		w.server.publish()
	}
	cfg := Config{
		Stream: "S", Prefix: "r", ID: "id", Inbox: "_INBOX.r", APIPrefix: "$JS.API.", WaitForStream: true,
		Retry:       Policy{Initial: 200 * time.Millisecond, Max: 2 * time.Second, Multiplier: 2, Jitter: 0.2, AttemptTimeout: 2 * time.Second},
		MaxMessages: 1 + w.r.Intn(40), MaxBytes: 200 + w.r.Intn(4000), Expires: 30 * time.Second, Heartbeat: 2 * time.Second, Inactive: w.inactive,
		Rand: w.r.Float64,
	}
	if w.r.Intn(5) == 0 {
		cfg.Name = "mine"
	}
	w.m = New(cfg)
	return w
}

func (w *world) at(at time.Duration, do func()) {
	w.seq++
	heap.Push(&w.due, entry{max(at, w.now), w.seq, do})
}

func (w *world) note(format string, v ...any) {
	w.log = append(w.log, fmt.Sprintf("%s %s", clock(w.now), fmt.Sprintf(format, v...)))
}

func (w *world) fail(format string, v ...any) {
	w.t.Helper()
	for _, l := range w.log[max(0, len(w.log)-120):] {
		w.t.Log(l)
	}
	w.t.Fatalf("seed %d at %s (newer=%v level=%d %s): %s", w.seed, clock(w.now), w.server.newer, w.server.level, w.m.cfg.Name, fmt.Sprintf(format, v...))
}

func (w *world) status(attempt int, st Status) {
	if st.Code == 100 && w.mute > w.now {
		return
	}
	if !w.server.interest[attempt] {
		return
	}
	w.toClient(func() {
		if !w.clientOn[attempt] {
			return
		}
		if st.Code != 100 {
			w.note("status %d #%d %d %s", attempt, st.Token, st.Code, st.Text)
		}
		w.m.Status(w.now, attempt, st)
	})
}

func (w *world) message(attempt int, d Delivery) {
	if w.dropMessages > 0 {
		w.dropMessages--
		w.note("lost on the wire: %d to %d", d.Sequence, attempt)
		return
	}
	w.toClient(func() {
		if !w.clientOn[attempt] {
			return
		}
		v := w.m.Deliver(w.now, attempt, d)
		w.note("msg %d seq=%d cseq=%d time=%d: %s", attempt, d.Sequence, d.ConsumerSeq, d.Time, verdictNames[v])
		switch v {
		case Accept:
			w.accept(d)
		case Hold:
			w.held[attempt] = d
		case Drop:
		}
	})
}

func (w *world) accept(d Delivery) {
	if n := len(w.got); n > 0 && w.got[n-1] >= d.Time {
		w.fail("message of time %d was accepted after %d: twice, or out of order", d.Time, w.got[n-1])
	}
	w.got = append(w.got, d.Time)
	w.buffered++
	w.at(max(w.now+time.Duration(w.r.Intn(30))*time.Millisecond, w.stalled), w.take)
}

func (w *world) take() {
	if w.stalled > w.now {
		w.at(w.stalled, w.take)
		return
	}
	w.buffered--
	w.m.Took(w.now, 1, messageSize)
	w.perform()
}

func (w *world) perform() {
	for {
		effects := append([]Effect(nil), w.m.Effects()...)
		if len(effects) == 0 {
			break
		}
		for _, e := range effects {
			if line := effectLine(e); line != "" {
				w.note("  %s", line)
			}
			w.effect(e)
		}
	}
	if err := w.m.check(); err != nil {
		w.fail("%v", err)
	}
}

func (w *world) effect(e Effect) {
	attempt := e.Attempt
	switch e.Do {
	case DoSubscribe:
		w.clientOn[attempt] = true
		w.toServer(func() { w.server.interest[attempt] = true })
	case DoUnsubscribe:
		delete(w.clientOn, attempt)
		w.toServer(func() { delete(w.server.interest, attempt) })
	case DoDrain:
		w.draining[attempt] = true
		w.toServer(func() {
			delete(w.server.interest, attempt)
			w.toClient(func() {
				delete(w.clientOn, attempt)
				w.m.Drained(w.now, attempt)
			})
		})
	case DoPull:
		w.toServer(func() { w.server.pull(e.Consumer, attempt, e.Pull) })
	case DoRequest:
		w.request(e)
	case DoCancel:
		delete(w.open, e.Request)
	case DoAcceptHeld:
		w.accept(w.held[attempt])
	case DoEnd:
		w.failed = e.Err
	}
}

// run lets time pass.
func (w *world) run(until time.Duration) {
	for w.m.phase != Done {
		at, ok := w.m.Wake()
		at = max(at, w.now)
		if len(w.due) > 0 && (!ok || w.due[0].at <= at) {
			if w.due[0].at > until {
				break
			}
			e := heap.Pop(&w.due).(entry)
			w.now = e.at
			e.do()
			continue
		}
		if !ok || at > until {
			break
		}
		if at > w.now {
			w.now, w.ticks = at, 0
		}
		if w.ticks++; w.ticks > 100 {
			w.fail("the machine wants to be woken at once, for ever")
		}
		w.m.Tick(w.now)
		w.perform()
	}
	w.now = max(w.now, until)
}
