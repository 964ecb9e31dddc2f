package model

import (
	"math/bits"
	"slices"
	"time"
)

// Policy is where a consumer begins.
type Policy int

// The deliver policies.
const (
	All Policy = iota
	New
	Last
	LastPerSubject
	BySequence
	ByTime
)

// Config is what a consumer is made with. Two are the same where == says so.
type Config struct {
	Policy        Policy
	Sequence      uint64
	Time          int64
	Filter        uint64 // a bit for each subject; 0 is none, Everything a single one of every subject
	Explicit      bool   // acks; else none
	Durable       bool
	Push          bool
	Memory        bool
	Inactive      time.Duration
	AckWait       time.Duration
	MaxAckPending int
	MaxWaiting    int
	MaxBatch      int
	MaxBytes      int
	MaxExpires    time.Duration
	PauseUntil    time.Duration
	Group         string // priority group
	Pinned        bool   // its policy is pinned_client
	Owner         string
	Description   string
	Unknown       string // a field that no server knows
	SubjectFilter uint64 // the filter that the request's subject names, 0 none
}

// Everything is a filter that takes every subject.
const Everything = ^uint64(0)

// several says that a consumer has more than one filter.
func (cfg *Config) several() bool {
	return cfg.Filter != Everything && bits.OnesCount64(cfg.Filter) > 1
}

// What the server fills in.
const (
	defaultInactive   = 5 * time.Second
	defaultMaxWaiting = 512
	defaultAckWait    = 30 * time.Second
	defaultAckPending = 1000
)

// Consumer is one consumer of a stream.
type Consumer struct {
	Name   string
	Config Config
	Away   bool // its node is down: it answers nothing

	s       *Server
	st      *Stream
	asked   Config // as the create said it
	born    int
	gone    bool
	next    uint64   // the stream sequence to look at next
	dseq    uint64   // delivered.stream_seq
	cseq    uint64   // delivered.consumer_seq
	pending int64    // messages that wait, as the server counts
	told    uint64   // how many its last message said to wait, or the answer to its create
	listed  []uint64 // what is left of a last_per_subject snapshot, some of it removed
	pulls   []*waiting
	active  time.Duration
	spread  time.Duration // added to the threshold
	pauseBy time.Duration
	acks    acks
	fetched []fetched
	pinned  bool // a client has the priority group to itself
}

func (c *Consumer) matches(subject int) bool {
	return c.Config.Filter == 0 || c.Config.Filter&(1<<subject) != 0
}

// lapsed says that nobody pulled for longer than the threshold. A server looks at
// it now and then: between one and two thresholds after the last sign of life.
func (c *Consumer) lapsed() bool {
	if c.Config.Inactive == 0 {
		return false
	}
	idle := c.s.now() - c.active - c.Config.Inactive - c.spread
	if idle <= 0 {
		return false
	}
	c.prune()
	if len(c.pulls) > 0 {
		return false
	}
	late := min(c.Config.Inactive, 10*time.Second) * time.Duration(c.born%5) / 5
	return idle > late
}

// drawSpread draws what is added to the threshold of a consumer that is no durable:
// a tenth of a second to one.
func (c *Consumer) drawSpread() {
	if c.Config.Durable {
		return
	}
	c.s.draws++
	c.spread = 100*time.Millisecond + time.Duration(c.s.draws*7%10)*90*time.Millisecond
}

// prune forgets pulls behind which nobody is subscribed.
func (c *Consumer) prune() {
	kept := c.pulls[:0]
	for _, p := range c.pulls {
		if c.s.h.Interest(p.inbox) {
			kept = append(kept, p)
			continue
		}
		p.done = true
	}
	c.pulls = kept
}

// begin sets a new consumer to its start.
func (c *Consumer) begin() {
	st := c.st
	end := st.last + 1
	switch c.Config.Policy {
	case All:
		c.next = st.first
	case New:
		c.next = end
	case Last:
		c.next = c.lastMatch()
	case LastPerSubject:
		c.listed = c.lastOfEach()
		c.next = end
		if len(c.listed) > 0 {
			c.dseq = c.listed[0] - 1
			c.count()
			return
		}
	case BySequence:
		c.next = max(c.Config.Sequence, st.first)
		if c.s.Clamps {
			c.next = min(c.next, end)
		}
	case ByTime:
		c.next = end
		for m := range st.Messages {
			if m.Time >= c.Config.Time {
				c.next = m.Sequence
				break
			}
		}
	}
	c.dseq = c.next - 1
	c.count()
}

// lastMatch is the last message of the filter, or the end.
func (c *Consumer) lastMatch() uint64 {
	for seq := c.st.last; seq >= c.st.first && seq > 0; seq-- {
		if m := c.st.at(seq); m != nil && c.matches(m.Subject) {
			return seq
		}
	}
	if c.st.held == 0 && c.st.last > 0 && !c.s.LastOfPurged {
		return c.st.last
	}
	return c.st.last + 1
}

func (c *Consumer) lastOfEach() (all []uint64) {
	seen := uint64(0)
	for seq := c.st.last; seq >= c.st.first && seq > 0; seq-- {
		if m := c.st.at(seq); m != nil && c.matches(m.Subject) && seen&(1<<m.Subject) == 0 {
			seen |= 1 << m.Subject
			all = append(all, seq)
		}
	}
	slices.Reverse(all)
	return all
}

// sseq is the sequence that a server holds for the next one.
func (c *Consumer) sseq() uint64 {
	if len(c.listed) > 0 {
		return c.dseq + 1
	}
	return c.next
}

// waits is how many messages a consumer says to wait.
func (c *Consumer) waits() uint64 { return uint64(max(c.pending, 0)) }

// count makes the number of waiting messages anew.
func (c *Consumer) count() {
	c.pending = 0
	for _, seq := range c.listed {
		if seq >= c.sseq() && c.st.at(seq) != nil {
			c.pending++
		}
	}
	for seq := max(c.next, c.st.first); seq <= c.st.last; seq++ {
		if m := c.st.at(seq); m != nil && c.matches(m.Subject) {
			c.pending++
		}
	}
}

// removed notes that the stream does not hold a message any more.
func (c *Consumer) removed(m *Message) {
	c.acks.removed(c, m.Sequence)
	if m.Sequence >= c.sseq() && c.matches(m.Subject) {
		c.pending--
	}
}

// purged moves a consumer to the first message that a purge left.
func (c *Consumer) purged(first uint64) {
	c.next, c.dseq = max(c.next, first), max(c.dseq, first-1)
	c.acks.purged(c, first)
}

// recount makes the count of what waits right, as far as a server does that when it is
// asked about a consumer.
func (c *Consumer) recount() {
	left := int64(c.st.last) - int64(c.sseq()) + 1
	switch {
	case c.pending <= 0:
	case c.s.CountBounded:
		c.pending = max(min(c.pending, int64(c.st.held), left), 0)
	case left <= 0, c.pending > int64(c.st.held):
		c.count()
	}
}

// rolledBack brings a consumer back to the stream's end.
func (c *Consumer) rolledBack() {
	c.fetched = nil
	end := c.st.last
	c.next = min(c.next, end+1)
	c.dseq = min(c.dseq, end)
	c.listed = slices.DeleteFunc(c.listed, func(seq uint64) bool { return seq > end })
	c.acks.rolledBack(end)
	c.count()
}

// SetBack is a killed server whose consumer forgot its last n deliveries.
func (c *Consumer) SetBack(n uint64) {
	c.fetched = nil
	n = min(n, c.cseq)
	for ; n > 0 && c.dseq >= c.st.first && c.dseq > 0; c.dseq-- {
		if m := c.st.at(c.dseq); m != nil && c.matches(m.Subject) {
			c.cseq--
			n--
		}
	}
	c.next = c.dseq + 1
	c.listed = nil
	c.acks.rolledBack(c.dseq)
	c.count()
}

// PassOver has a consumer leave out the next message, which no server does: a test of
// who would notice.
func (c *Consumer) PassOver() { c.next = c.st.last + 2 }

// take gives the next message to send, nil if none waits.
func (c *Consumer) take() (m *Message, deliveries int) {
	if c.paused() {
		return nil, 0
	}
	if c.Config.Explicit {
		if seq, n, ok := c.acks.again(); ok {
			if m := c.st.at(seq); m != nil {
				return m, n
			}
			c.acks.drop(seq)
			return c.take()
		}
		if c.acks.open() >= c.Config.MaxAckPending {
			return nil, 0
		}
	}
	if len(c.listed) > 0 {
		if m := c.st.at(c.listed[0]); m != nil {
			return m, 1
		}
		// What was removed is passed over, but not before the server looks again.
		c.dseq++
		if c.s.Level > 0 {
			c.dseq = c.listed[0]
		}
		c.listed = c.listed[1:]
		return nil, 0
	}
	if c.s.Prefetches && c.Config.several() {
		return c.prefetched(), 1
	}
	for c.next <= c.st.last {
		if m := c.st.at(c.next); m != nil && c.matches(m.Subject) {
			return m, 1
		}
		c.next++
		if c.s.SkipsTold && c.next > c.dseq+1 {
			c.dseq = c.next - 1
		}
	}
	c.pending = 0
	return nil, 0
}

// sent notes that a message went out.
func (c *Consumer) sent(m *Message, deliveries int) {
	c.cseq++
	if deliveries > 1 {
		c.acks.sent(c, m.Sequence, deliveries)
		return
	}
	switch {
	case len(c.listed) > 0:
		c.listed = c.listed[1:]
	case len(c.fetched) > 0:
		c.next, c.fetched[0].msg = c.fetched[0].next, nil
	default:
		c.next = m.Sequence + 1
	}
	c.dseq = m.Sequence
	c.pending--
	if c.Config.Explicit {
		c.acks.sent(c, m.Sequence, deliveries)
	}
}

func (c *Consumer) paused() bool { return c.pauseBy > c.s.now() }

// Pause holds a consumer until a time.
func (c *Consumer) Pause(until time.Duration) {
	c.pauseBy = until
	if until > c.s.now() {
		c.s.h.At(until, unpause{c})
		return
	}
	c.serve()
}

type unpause struct{ c *Consumer }

func (u unpause) Fire() {
	if !u.c.gone && !u.c.paused() {
		u.c.serve()
	}
}

// Waiting is how many pulls wait.
func (c *Consumer) Waiting() int {
	c.prune()
	return len(c.pulls)
}

// EndPulls ends every waiting pull with a status, or, of code 0, silently.
func (c *Consumer) EndPulls(st Status) {
	for _, p := range c.pulls {
		p.done = true
		if st.Code != 0 {
			if st.HasPending {
				st.PendingMessages, st.PendingBytes = p.Batch, p.MaxBytes
			}
			c.s.h.Status(p.inbox, p.Token, st)
		}
	}
	c.pulls = nil
	c.active = c.s.now()
}
