package session

import (
	"fmt"
	"math/rand"
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

func TestAnyInputInAnyOrder(t *testing.T) {
	seeds := int64(1000)
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
