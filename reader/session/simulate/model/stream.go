package model

import (
	"slices"
	"time"
)

// Retention is what removes a message.
type Retention int

// The retentions. Work-queue and interest streams remove what was acknowledged.
const (
	Limits Retention = iota
	Interest
	WorkQueue
)

var retentionNames = []string{"limits", "interest", "workqueue"}

func (r Retention) String() string { return retentionNames[r] }

// Message is what a stream stores. A subject is a number below 64.
type Message struct {
	Sequence uint64
	Time     int64
	Subject  int
	Size     int
	gone     bool
}

// Stream is one stream of a server.
type Stream struct {
	Name         string
	Created      int64
	Retention    Retention
	Mirror       bool
	MaxConsumers int           // 0: the era's
	MaxMessages  int           // 0: no bound; the oldest goes first
	MaxInactive  time.Duration // of its consumers, 0 no bound

	s         *Server
	first     uint64 // of what it holds, or last+1
	last      uint64
	lastTime  int64
	msgs      []Message // by sequence, from base on
	base      uint64
	held      int
	consumers []*Consumer
}

// Server is a nats-server with its streams.
type Server struct {
	Era
	h       Host
	Streams []*Stream
	births  int
	draws   int
}

// NewServer makes a server without streams.
func NewServer(h Host, era Era) *Server { return &Server{Era: era, h: h} }

// AddStream makes a stream, empty, whose first message will have the sequence first.
func (s *Server) AddStream(st *Stream, first uint64) *Stream {
	st.s, st.first, st.last, st.base = s, first, first-1, first
	s.Streams = append(s.Streams, st)
	return st
}

// Stream gives a stream by its name, nil if there is none.
func (s *Server) Stream(name string) *Stream {
	for _, st := range s.Streams {
		if st.Name == name {
			return st
		}
	}
	return nil
}

// DeleteStream removes a stream with its consumers.
func (s *Server) DeleteStream(name string) {
	i := slices.IndexFunc(s.Streams, func(st *Stream) bool { return st.Name == name })
	if i < 0 {
		return
	}
	st := s.Streams[i]
	s.Streams = slices.Delete(s.Streams, i, i+1)
	for len(st.consumers) > 0 {
		st.drop(st.consumers[0])
	}
}

// Publish stores a message and serves who waits for it. On an interest stream
// nothing is kept that no consumer wants.
func (st *Stream) Publish(at int64, subject, size int) uint64 {
	st.last++
	st.lastTime = at
	st.msgs = append(st.msgs, Message{Sequence: st.last, Time: at, Subject: subject, Size: size})
	st.held++
	if st.held == 1 {
		st.first = st.last
	}
	wanted := false
	for _, c := range st.consumers {
		if c.matches(subject) {
			wanted = true
			c.pending++ // also of one that begins farther on
		}
	}
	if st.Retention == Interest && !wanted {
		st.Remove(st.last)
	}
	if st.MaxMessages > 0 && st.held > st.MaxMessages {
		st.Remove(st.first)
	}
	for _, c := range st.consumers {
		c.serve()
	}
	return st.last
}

// at gives the message of a sequence, nil if the stream does not hold it.
func (st *Stream) at(sequence uint64) *Message {
	if sequence < st.base || sequence > st.last {
		return nil
	}
	if m := &st.msgs[sequence-st.base]; !m.gone {
		return m
	}
	return nil
}

// Messages gives what the stream holds, in order.
func (st *Stream) Messages(yield func(Message) bool) {
	for i := range st.msgs {
		if !st.msgs[i].gone && !yield(st.msgs[i]) {
			return
		}
	}
}

// First and Last are the bounds of a stream's sequences.
func (st *Stream) First() uint64 { return st.first }

// Last is the sequence of the last message that was stored.
func (st *Stream) Last() uint64 { return st.last }

// Holds says whether the stream has the message of a sequence.
func (st *Stream) Holds(sequence uint64) bool { return st.at(sequence) != nil }

// Remove deletes one message.
func (st *Stream) Remove(sequence uint64) {
	m := st.at(sequence)
	if m == nil {
		return
	}
	m.gone = true
	st.held--
	for _, c := range st.consumers {
		c.removed(m)
	}
	st.trim()
}

// trim moves the first sequence to the first message held.
func (st *Stream) trim() {
	for st.first <= st.last && st.at(st.first) == nil {
		st.first++
	}
	if n := st.first - st.base; n > 256 {
		st.msgs = slices.Delete(st.msgs, 0, int(n))
		st.base = st.first
	}
}

// Purge removes what lies below a sequence; one beyond the end moves the end.
func (st *Stream) Purge(below uint64) {
	for seq := st.first; seq <= st.last && seq < below; seq++ {
		if m := st.at(seq); m != nil {
			m.gone = true
			st.held--
			for _, c := range st.consumers {
				c.removed(m)
			}
		}
	}
	st.first = max(st.first, min(below, st.last+1))
	if below > st.last+1 {
		st.last, st.first, st.base, st.msgs = below-1, below, below, nil
	}
	st.trim()
	for _, c := range st.consumers {
		c.count()
		c.purged(st.first)
	}
}

// PurgeSubject removes what a subject has below a sequence (0: all), but its last few
// (keep). What waits is counted before a consumer moves, so that one which passes over
// messages counts too many. It gives what durables will not send, or not again, though
// the stream still holds it, and what another consumer passes over without a sign: it
// was stored after a message behind which nothing waited.
func (st *Stream) PurgeSubject(subject int, below uint64, keep int) (passed, forgotten []uint64) {
	var all []uint64
	for m := range st.Messages {
		if m.Subject == subject && (below == 0 || m.Sequence < below) {
			all = append(all, m.Sequence)
		}
	}
	for _, seq := range all[:max(len(all)-keep, 0)] {
		st.Remove(seq)
	}
	left := st.last + 1 // the first one that the subject still has
	for m := range st.Messages {
		if m.Subject == subject {
			left = m.Sequence
			break
		}
	}
	for _, c := range st.consumers {
		cfg := &c.Config
		one, part := cfg.Filter == 1<<subject, cfg.Filter&(1<<subject) != 0
		switch {
		case one, part && cfg.several() && st.s.PassesOver:
			for _, u := range c.acks.list {
				if u.sequence < left && st.Holds(u.sequence) {
					forgotten = append(forgotten, u.sequence)
				}
			}
			for seq := c.next; seq < left; seq++ {
				switch m := st.at(seq); {
				case m == nil, !c.matches(m.Subject):
				case c.Config.Durable:
					passed = append(passed, seq)
				case c.told == 0:
					forgotten = append(forgotten, seq)
				}
			}
			c.purged(left)
		case st.s.PurgesOne:
		case part, cfg.Filter == 0:
			c.purged(st.first)
		}
	}
	return passed, forgotten
}

// RollBack forgets the newest messages, as a restored backup does; consumers that
// were ahead of the end go on behind it.
func (st *Stream) RollBack(n uint64) {
	n = min(n, st.last-(st.base-1))
	st.last -= n
	for _, m := range st.msgs[len(st.msgs)-int(n):] {
		if !m.gone {
			st.held--
		}
	}
	st.msgs = st.msgs[:len(st.msgs)-int(n)]
	st.first = min(st.first, st.last+1)
	st.lastTime = 0
	if len(st.msgs) > 0 {
		st.lastTime = st.msgs[len(st.msgs)-1].Time
	}
	st.trim()
	for _, c := range st.consumers {
		c.rolledBack()
	}
}

// Restart is a server that was stopped and comes up with its store: waiting pulls
// are gone, consumers in memory too, and idle ones live their threshold anew.
func (s *Server) Restart() {
	for _, st := range s.Streams {
		for _, c := range slices.Clone(st.consumers) {
			for _, p := range c.pulls {
				p.done = true
			}
			c.pulls, c.fetched = nil, nil
			c.active = s.h.Now()
			if c.Config.Memory {
				st.forget(c)
			}
		}
	}
}

// forget removes a consumer without a word to anybody.
func (st *Stream) forget(c *Consumer) {
	if i := slices.Index(st.consumers, c); i >= 0 {
		st.consumers = slices.Delete(st.consumers, i, i+1)
	}
	c.gone = true
}

// drop deletes a consumer: every waiting pull is told.
func (st *Stream) drop(c *Consumer) {
	st.forget(c)
	for _, p := range c.pulls {
		p.done = true
		if !c.Away {
			c.s.h.Status(p.inbox, p.Token, Status{Code: 409, Text: "Consumer Deleted"})
		}
	}
	c.pulls = nil
}

// Drop deletes a consumer by its name.
func (st *Stream) Drop(name string) {
	if c := st.Consumer(name); c != nil {
		st.drop(c)
	}
}

// Consumer gives a consumer by its name, nil if it does not exist or has lapsed.
func (st *Stream) Consumer(name string) *Consumer {
	for _, c := range st.consumers {
		if c.Name != name {
			continue
		}
		if c.lapsed() {
			st.forget(c)
			return nil
		}
		return c
	}
	return nil
}

// Consumers gives those that have not lapsed.
func (st *Stream) Consumers() []*Consumer {
	for i := 0; i < len(st.consumers); {
		if c := st.consumers[i]; c.lapsed() {
			st.forget(c)
			continue
		}
		i++
	}
	return st.consumers
}

// Now is the host's time.
func (s *Server) now() time.Duration { return s.h.Now() }
