package session

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"
	"time"
)

// legal are the phases that may follow one another within one input.
var legal = map[Phase][]Phase{
	Opening:   {Reading, Ending, Done},
	Reading:   {Silent, Replacing, Ending, Done},
	Silent:    {Reading, Replacing, Ending, Done},
	Replacing: {Reading, Ending, Done},
	Ending:    {Done},
}

// chaos gives a machine inputs in no sensible order: answers to anything, messages
// and statuses for any inbox, disconnects in the middle of everything.
type chaos struct {
	t    *testing.T
	r    *rand.Rand
	m    *Machine
	seed int64
	now  time.Duration

	phase    Phase
	open     map[RequestID]Effect
	inboxes  map[int]bool
	tokens   map[int]uint64
	buffered int
	instant  int // requests since the clock moved
	tickets  int
	done     int
	log      []string
}

func newChaos(t *testing.T, seed int64) *chaos {
	c := &chaos{t: t, seed: seed, r: rand.New(rand.NewSource(seed)), open: map[RequestID]Effect{}, inboxes: map[int]bool{}, tokens: map[int]uint64{}}
	cfg := Config{
		Stream: "S", Prefix: "r", ID: "id", Inbox: "_INBOX.r", APIPrefix: "$JS.API.",
		Start: StartKind(c.r.Intn(6)), StartSequence: 5, StartTime: 50,
		StopAtEnd: c.r.Intn(4) == 0, OnError: OnError(c.r.Intn(3)), OnMissed: OnMissed(c.r.Intn(2)), OnReset: OnReset(c.r.Intn(3)),
		WaitForStream: c.r.Intn(2) == 0, StreamGrace: time.Duration(c.r.Intn(4)) * time.Second,
		Retry:       Policy{Initial: 200 * time.Millisecond, Max: 2 * time.Second, Multiplier: 2, Jitter: 0.2, AttemptTimeout: 2 * time.Second},
		MaxMessages: 1 + c.r.Intn(20), MaxBytes: 10000, Expires: 30 * time.Second, Heartbeat: 2 * time.Second, Inactive: 10 * time.Second,
		Rand: c.r.Float64,
	}
	switch c.r.Intn(6) {
	case 0:
		cfg.Durable = "D"
	case 1:
		cfg.Name = "mine"
	case 2:
		cfg.Subjects = []string{"a"}
	case 3:
		cfg.Retry.TotalTimeout, cfg.Retry.MaxAttempts = 20*time.Second, 5
	}
	c.m = New(cfg)
	return c
}

func (c *chaos) fail(format string, v ...any) {
	c.t.Helper()
	for _, l := range c.log[max(0, len(c.log)-60):] {
		c.t.Log(l)
	}
	c.t.Fatalf("seed %d at %v: %s", c.seed, c.now, fmt.Sprintf(format, v...))
}

func (c *chaos) note(format string, v ...any) {
	c.log = append(c.log, fmt.Sprintf("%v %s", c.now, fmt.Sprintf(format, v...)))
}

// perform takes the effects and looks at what must always hold.
func (c *chaos) perform() (n int) {
	for {
		effects := append([]Effect(nil), c.m.Effects()...)
		if len(effects) == 0 {
			break
		}
		n += len(effects)
		for _, e := range effects {
			if line := effectLine(e); line != "" {
				c.note("  %s", line)
			}
			c.effect(e)
		}
	}
	if now := c.m.phase; now != c.phase {
		// More than one step may lie within an input, such as silent to reading.
		if !reaches(c.phase, now) {
			c.fail("phase %s became %s", phaseNames[c.phase], phaseNames[now])
		}
		c.phase = now
	}
	if err := c.m.check(); err != nil {
		c.fail("%v", err)
	}
	if c.instant > 24 {
		c.fail("%d requests at one instant", c.instant)
	}
	return n
}

func reaches(from, to Phase) bool {
	seen, next := map[Phase]bool{}, []Phase{from}
	for len(next) > 0 {
		p := next[0]
		next = next[1:]
		for _, q := range legal[p] {
			if q == to {
				return true
			}
			if !seen[q] {
				seen[q] = true
				next = append(next, q)
			}
		}
	}
	return false
}

func (c *chaos) effect(e Effect) {
	if !c.m.connected && (e.Do == DoPull || e.Do == DoRequest) {
		c.fail("sent while disconnected: %s", effectLine(e))
	}
	switch e.Do {
	case DoSubscribe:
		if c.inboxes[e.Attempt] {
			c.fail("inbox %d is subscribed twice", e.Attempt)
		}
		c.inboxes[e.Attempt] = true
	case DoUnsubscribe, DoDrain:
		if !c.inboxes[e.Attempt] {
			c.fail("inbox %d is unsubscribed twice", e.Attempt)
		}
		delete(c.inboxes, e.Attempt)
	case DoPull:
		if !c.inboxes[e.Attempt] {
			c.fail("a pull to inbox %d, which is not subscribed", e.Attempt)
		}
		c.tokens[e.Attempt] = e.Pull.Token
	case DoRequest:
		c.open[e.Request] = e
		c.instant++
		if c.r.Intn(4) > 0 {
			c.m.Sent(c.now, e.Request)
		}
	case DoCancel:
		delete(c.open, e.Request)
	case DoAcceptHeld:
		c.buffered++
	case DoDone:
		if c.done++; c.done > 1 {
			c.fail("done twice")
		}
		if len(c.inboxes) > 0 || len(c.open) > 0 {
			c.fail("done with inboxes %v and requests %v", c.inboxes, c.open)
		}
	}
}

// tick moves the clock to where the machine wants it, or a bit.
func (c *chaos) tick() {
	at, ok := c.m.Wake()
	if ok && at <= c.now {
		for range 20 {
			c.m.Tick(c.now)
			c.perform()
			if at, ok = c.m.Wake(); !ok || at > c.now {
				break
			}
		}
		if ok && at <= c.now {
			c.fail("the machine wants to be woken at once, for ever: at %v", at)
		}
		return
	}
	step := time.Duration(c.r.Intn(3000)) * time.Millisecond
	if ok && c.r.Intn(2) == 0 {
		step = at - c.now
	}
	if ok && c.now+step > at {
		step = at - c.now
	}
	if step > 0 {
		c.now, c.instant = c.now+step, 0
	}
	c.m.Tick(c.now)
}

func (c *chaos) input() {
	switch c.r.Intn(16) {
	case 0, 1, 2, 3:
		c.tick()
	case 4, 5, 6:
		c.answer()
	case 7, 8:
		c.deliver()
	case 9, 10:
		c.status()
	case 11:
		if c.buffered > 0 {
			n := 1 + c.r.Intn(c.buffered)
			c.buffered -= n
			c.m.Took(c.now, n, n*100)
		}
	case 12:
		c.connection()
	case 13:
		c.wish()
	case 14:
		subjects := []string{"other", "$JS.API.CONSUMER.MSG.NEXT.S.D", "$JS.API.STREAM.INFO.S", fmt.Sprintf("_INBOX.r.%d.*", c.r.Intn(9))}
		if c.m.cur != nil {
			subjects = append(subjects, c.m.pullSubject(c.m.cur.consumer))
		}
		if c.r.Intn(4) == 0 {
			c.m.Denied(c.now, subjects[c.r.Intn(len(subjects))], "")
		}
	case 15:
		c.m.Drained(c.now, c.r.Intn(9))
	}
	c.perform()
}

func (c *chaos) pick() (Effect, bool) {
	ids := []RequestID{}
	for id := range c.open {
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return Effect{}, false
	}
	slices.Sort(ids)
	return c.open[ids[c.r.Intn(len(ids))]], true
}

func (c *chaos) answer() {
	e, ok := c.pick()
	if !ok {
		return
	}
	delete(c.open, e.Request)
	ans := c.randomAnswer(e)
	c.note("answer %d %+v", e.Request, ans)
	c.m.Answer(c.now, e.Request, ans)
}

func (c *chaos) randomAnswer(e Effect) Answer {
	errs := []error{
		ErrNoResponders, ErrNoAnswer, ErrDenied, &APIError{404, 10014, "consumer not found"}, &APIError{404, 10059, "stream not found"},
		&APIError{503, 10008, "unavailable"}, &APIError{400, 10026, "limit"}, &APIError{400, 10148, "exists"}, &APIError{400, 10204, "invalid reset"},
	}
	if c.r.Intn(4) == 0 {
		return Answer{Err: errs[c.r.Intn(len(errs))]}
	}
	last := uint64(c.r.Intn(30))
	switch e.API {
	case APIStreamInfo:
		return Answer{Stream: &StreamFacts{Created: 100 + int64(c.r.Intn(10)/9), First: last / 2, Last: last, LastTime: int64(last) * 10, Limits: true, Mirror: c.r.Intn(20) == 0}}
	case APIConsumerCreate, APIConsumerInfo:
		f := &ConsumerFacts{Name: e.Consumer, DeliveredStream: last, Pending: uint64(c.r.Intn(3)), Paused: c.r.Intn(20) == 0, Level: c.r.Intn(6), Owner: "id"}
		if e.API == APIConsumerInfo && c.r.Intn(2) == 0 && c.m.cur != nil {
			f.DeliveredConsumer = c.m.cur.consumerSeq
		} else if c.r.Intn(10) == 0 {
			f.DeliveredConsumer = 3
		}
		return Answer{Consumer: f}
	case APIStreamNames:
		return Answer{Names: []string{"S"}}
	}
	return Answer{Done: true}
}

// attempt names an inbox: mostly one that is in use.
func (c *chaos) attempt() (int, uint64) {
	switch {
	case c.r.Intn(8) == 0:
		return c.r.Intn(9), 1
	case c.m.try != nil && c.m.try.sess != nil && c.r.Intn(2) == 0:
		return c.m.try.sess.attempt, c.m.try.sess.consumerSeq + 1
	case c.m.cur != nil:
		return c.m.cur.attempt, c.m.cur.consumerSeq + 1
	}
	return 1, 1
}

func (c *chaos) deliver() {
	attempt, next := c.attempt()
	seq := c.m.cursor.Sequence + uint64(c.r.Intn(3))
	d := Delivery{Sequence: seq, ConsumerSeq: next, Time: int64(seq) * 10, Pending: uint64(c.r.Intn(3)), Size: 100}
	switch c.r.Intn(12) {
	case 0:
		d.ConsumerSeq += 2
	case 1:
		d.ConsumerSeq = 1
	case 2:
		d.Time = 7
	}
	v := c.m.Deliver(c.now, attempt, d)
	c.note("msg %d seq=%d cseq=%d: %s", attempt, d.Sequence, d.ConsumerSeq, verdictNames[v])
	if v == Accept {
		c.buffered++
	}
}

func (c *chaos) status() {
	attempt, next := c.attempt()
	rule := statusTable[c.r.Intn(len(statusTable))]
	if c.r.Intn(2) == 0 {
		rule = statusTable[0]
	}
	st := Status{Token: c.tokens[attempt], Code: rule.code, Text: rule.text, HasLast: rule.code == 100, LastConsumer: next - 1, LastStream: c.m.cursor.Sequence}
	if c.r.Intn(10) == 0 {
		st.LastConsumer++
	}
	if rule.inUse == limited {
		st.Text += " of 5"
	}
	c.note("status %d %d %s last=%d", attempt, st.Code, st.Text, st.LastConsumer)
	c.m.Status(c.now, attempt, st)
}

func (c *chaos) connection() {
	c.note("connection")
	switch {
	case !c.m.connected:
		c.m.Reconnected(c.now)
	case c.r.Intn(3) == 0:
		c.m.Disconnected(c.now)
	}
}

func (c *chaos) wish() {
	switch c.r.Intn(40) {
	case 0:
		c.m.Close(c.now, c.now+2*time.Second)
	case 1:
		c.m.OpenTimedOut(c.now, ErrNoAnswer)
	case 2, 3, 4:
		c.m.Unwish(c.now, c.r.Intn(c.tickets+1))
	case 5, 6, 7, 8:
		c.tickets++
		c.note("replace")
		c.m.Replace(c.now, c.tickets)
	}
}

func TestAnyInputInAnyOrder(t *testing.T) {
	seeds := int64(3000)
	if testing.Short() {
		seeds = 300
	}
	for seed := range seeds {
		c := newChaos(t, seed)
		c.m.Start(c.now)
		c.perform()
		for range 400 {
			c.input()
		}
		c.note("close")
		c.m.Close(c.now, c.now+2*time.Second)
		c.perform()
		for at, ok := c.m.Wake(); ok && c.m.phase != Done; at, ok = c.m.Wake() {
			c.now = max(c.now, at)
			c.instant = 0
			c.m.Tick(c.now)
			if c.perform() == 0 && c.m.phase != Done {
				if next, _ := c.m.Wake(); next <= c.now {
					c.fail("a closed reader wants to be woken at once, for ever")
				}
			}
		}
		if c.m.phase != Done {
			c.fail("a closed reader is %s", phaseNames[c.m.phase])
		}
	}
}

// TestNoLoopAtOneInstant: a server that answers everything at once, and everything
// wrong, is asked a bounded number of times before the clock moves.
func TestNoLoopAtOneInstant(t *testing.T) {
	for seed := range int64(500) {
		c := newChaos(t, seed)
		c.m.Start(c.now)
		c.perform()
		for range 20 {
			for n := 0; len(c.open) > 0; n++ {
				c.answer()
				c.perform()
				if at, ok := c.m.Wake(); ok && at <= c.now {
					c.tick()
					c.perform()
				}
			}
			at, ok := c.m.Wake()
			if !ok || c.m.phase == Done {
				break
			}
			if at > c.now {
				c.now, c.instant = at, 0
			}
			c.m.Tick(c.now)
			c.perform()
		}
	}
}
