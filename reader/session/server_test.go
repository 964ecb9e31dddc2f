package session

import (
	"slices"
	"time"
)

// server is a model of what a nats-server does with one stream, as far as the rules
// of a reader rest on it (SERVER-ANSWERS). It acts at once; the way to it and back
// is the world's.
type server struct {
	w       *world
	newer   bool // 2.11 or later: 503 to a pull on nothing, starts in the future
	level   int
	missing bool // the stream does not exist
	created int64
	first   uint64
	last    uint64
	times   map[uint64]int64 // of the messages it holds

	consumers map[string]*consumer
	slots     int          // consumers allowed; 0 without a bound
	interest  map[int]bool // subscribed inboxes, by attempt
}

type consumer struct {
	made      Create
	next      uint64 // stream sequence to look at next
	delivered uint64 // stream sequence of the last message sent
	cseq      uint64
	pulls     []*waiting
	active    time.Duration
}

type waiting struct {
	Pull
	attempt int
	until   time.Duration
	beat    time.Duration // last sign of life
}

func (s *server) publish() int64 {
	s.w.stamp++
	s.last++
	s.times[s.last] = s.w.stamp
	if s.first == 0 || len(s.times) == 1 {
		s.first = s.last
	}
	for _, c := range s.consumers {
		s.serve(c)
	}
	return s.w.stamp
}

// recreate makes the stream anew, empty, at a first sequence.
func (s *server) recreate(at uint64) {
	s.dropAll()
	s.missing = false
	s.w.stamp++
	s.created, s.first, s.last, s.times = s.w.stamp, at, at-1, map[uint64]int64{}
}

func (s *server) dropAll() {
	for name := range s.consumers {
		s.drop(name)
	}
}

func (s *server) drop(name string) {
	c := s.consumers[name]
	delete(s.consumers, name)
	for _, q := range c.pulls {
		s.w.status(q.attempt, Status{Token: q.Token, Code: 409, Text: "Consumer Deleted"})
	}
}

// purge removes what lies below a sequence.
func (s *server) purge(below uint64) {
	for seq := range s.times {
		if seq < below {
			delete(s.times, seq)
		}
	}
	s.first = max(s.first, min(below, s.last+1))
}

func (s *server) pending(c *consumer) (n uint64) {
	for seq := range s.times {
		if seq >= c.next {
			n++
		}
	}
	return n
}

func (s *server) find(name string) *consumer {
	c := s.consumers[name]
	if c != nil && len(c.pulls) == 0 && s.w.now-c.active > s.w.inactive {
		delete(s.consumers, name)
		return nil
	}
	return c
}

// pull is a request for messages that arrived.
func (s *server) pull(name string, attempt int, q Pull) {
	c := s.find(name)
	if c == nil || s.missing {
		if s.newer {
			s.w.status(attempt, Status{Token: q.Token, Code: 503})
		}
		return
	}
	c.active = s.w.now
	p := &waiting{Pull: q, attempt: attempt, until: s.w.now + q.Expires, beat: s.w.now}
	c.pulls = append(c.pulls, p)
	s.serve(c)
	s.watch(c, p)
}

// watch sends a pull's heartbeats and its end.
func (s *server) watch(c *consumer, p *waiting) {
	s.w.at(min(p.beat+p.Heartbeat, p.until), func() {
		if !slices.Contains(c.pulls, p) {
			return
		}
		if s.w.frozen > s.w.now {
			s.w.at(s.w.frozen, func() { s.watch(c, p) })
			return
		}
		if !s.interest[p.attempt] {
			s.end(c, p)
			return
		}
		c.active = s.w.now
		switch {
		case s.w.now >= p.until:
			s.end(c, p)
			s.w.status(p.attempt, Status{Token: p.Token, Code: 408, Text: "Request Timeout", PendingMessages: p.Batch, PendingBytes: p.MaxBytes, HasPending: true})
			return
		case s.w.now >= p.beat+p.Heartbeat:
			p.beat = s.w.now
			s.w.status(p.attempt, Status{Token: p.Token, Code: 100, LastConsumer: c.cseq, LastStream: max(c.delivered, c.next-1), HasLast: true})
		}
		s.watch(c, p)
	})
}

func (s *server) end(c *consumer, p *waiting) {
	if i := slices.Index(c.pulls, p); i >= 0 {
		c.pulls = slices.Delete(c.pulls, i, i+1)
	}
	c.active = s.w.now
}

const messageSize = 100

// serve sends what waits to the pulls in turn.
func (s *server) serve(c *consumer) {
	for c.next <= s.last && len(c.pulls) > 0 {
		stamp, held := s.times[c.next]
		if !held {
			c.next++
			continue
		}
		p := c.pulls[0]
		if !s.interest[p.attempt] {
			s.end(c, p)
			continue
		}
		if p.MaxBytes > 0 && p.MaxBytes < messageSize {
			s.end(c, p)
			s.w.status(p.attempt, Status{Token: p.Token, Code: 409, Text: "Message Size Exceeds MaxBytes", PendingMessages: p.Batch, PendingBytes: p.MaxBytes, HasPending: true})
			continue
		}
		c.cseq++
		c.delivered = c.next
		c.next++
		p.beat = s.w.now
		s.w.message(p.attempt, Delivery{Sequence: c.delivered, ConsumerSeq: c.cseq, Time: stamp, Pending: s.pending(c), Size: messageSize})
		p.Batch--
		bounded := p.MaxBytes > 0
		p.MaxBytes = max(p.MaxBytes-messageSize, 0)
		if p.Batch == 0 {
			s.end(c, p)
			if bounded {
				s.w.status(p.attempt, Status{Token: p.Token, Code: 409, Text: "Batch Completed", PendingBytes: p.MaxBytes, HasPending: true})
			}
			continue
		}
		c.pulls = append(c.pulls[1:], p)
	}
}

// api does a request; ok is false where a server does not answer at all.
func (s *server) api(e Effect) (a Answer, ok bool) {
	if s.missing {
		return Answer{Err: &APIError{404, 10059, "stream not found"}}, true
	}
	c := s.find(e.Consumer)
	switch e.API {
	case APIStreamInfo:
		return Answer{Stream: &StreamFacts{Created: s.created, First: s.first, Last: s.last, LastTime: s.times[s.last], Limits: true}}, true
	case APIConsumerCreate:
		return s.create(e.Consumer, e.Create), true
	case APIConsumerInfo:
		if c != nil {
			return Answer{Consumer: s.facts(e.Consumer, c)}, true
		}
	case APIConsumerDelete:
		if c != nil {
			s.drop(e.Consumer)
			return Answer{Done: true}, true
		}
	case APIMessageGet:
		if at, there := s.times[e.Sequence]; there && e.Sequence >= s.first && e.Sequence <= s.last {
			return Answer{Message: &MessageFacts{Sequence: e.Sequence, Time: at}}, true
		}
		return Answer{Err: &APIError{404, 10037, "no message found"}}, true
	case APIConsumerReset:
		if s.level < 4 {
			return a, false
		}
		if c != nil && c.made.Start != StartSequence && c.made.Start != StartAll {
			return Answer{Err: &APIError{400, 10204, "invalid reset"}}, true
		}
		if c != nil {
			c.next, c.cseq, c.delivered = e.Sequence, 0, e.Sequence-1
			return Answer{Done: true}, true
		}
	}
	return Answer{Err: &APIError{404, 10014, "consumer not found"}}, true
}

func (s *server) facts(name string, c *consumer) *ConsumerFacts {
	return &ConsumerFacts{Name: name, DeliveredConsumer: c.cseq, DeliveredStream: c.delivered, Pending: s.pending(c), Level: s.level, Owner: "id"}
}

func (s *server) create(name string, made Create) Answer {
	if c := s.find(name); c != nil {
		if c.made != made {
			return Answer{Err: &APIError{400, 10148, "consumer already exists"}}
		}
		return Answer{Consumer: s.facts(name, c)}
	}
	if s.slots > 0 && len(s.consumers) >= s.slots {
		return Answer{Err: &APIError{400, 10026, "maximum consumers limit reached"}}
	}
	c := &consumer{made: made, next: s.start(made), active: s.w.now}
	c.delivered = c.next - 1
	s.consumers[name] = c
	return Answer{Consumer: s.facts(name, c)}
}

func (s *server) start(made Create) uint64 {
	switch made.Start {
	case StartNew:
		return s.last + 1
	case StartSequence:
		if made.Sequence > s.last+1 && !s.newer {
			return s.last + 1
		}
		return max(made.Sequence, s.first)
	case StartTime:
		for seq := s.first; seq <= s.last; seq++ {
			if t, held := s.times[seq]; held && t >= made.Time {
				return seq
			}
		}
		return s.last + 1
	}
	return max(s.first, 1)
}
