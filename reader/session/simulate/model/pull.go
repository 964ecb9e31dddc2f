package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Pull is a request for messages. Token names it among those of its inbox.
type Pull struct {
	Token     uint64
	Batch     int
	MaxBytes  int
	Expires   time.Duration
	Heartbeat time.Duration
	NoWait    bool
	Group     string
	Pin       string
}

// ParsePull reads the body of a pull as a server does.
func ParsePull(body string) (p Pull, err error) {
	body = strings.TrimSpace(body)
	if n, err := strconv.Atoi(body); err == nil {
		return Pull{Batch: n}, nil
	}
	if !strings.HasPrefix(body, "{") {
		return Pull{Batch: 1}, nil
	}
	type JSApiConsumerGetNextRequest struct { // the name is part of the server's words
		Expires   time.Duration `json:"expires"`
		Batch     int           `json:"batch"`
		MaxBytes  int           `json:"max_bytes"`
		NoWait    bool          `json:"no_wait"`
		Heartbeat time.Duration `json:"idle_heartbeat"`
		Group     string        `json:"group"`
		Pin       string        `json:"id"`
	}
	var r JSApiConsumerGetNextRequest
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		return p, err
	}
	return Pull{Batch: r.Batch, MaxBytes: r.MaxBytes, Expires: r.Expires, Heartbeat: r.Heartbeat, NoWait: r.NoWait, Group: r.Group, Pin: r.Pin}, nil
}

// waiting is a pull that is not over.
type waiting struct {
	Pull
	c      *Consumer
	inbox  Inbox
	until  time.Duration // 0: for ever
	beat   time.Duration // when the next heartbeat is due
	served bool
	done   bool
}

// PullRaw is a pull as it arrives, in a body that need not make sense.
func (s *Server) PullRaw(stream, name string, in Inbox, token uint64, body string) {
	p, err := ParsePull(body)
	p.Token = token
	s.pull(stream, name, in, p, err)
}

// Pull is a request for messages that arrived.
func (s *Server) Pull(stream, name string, in Inbox, p Pull) { s.pull(stream, name, in, p, nil) }

func (s *Server) pull(stream, name string, in Inbox, p Pull, malformed error) {
	var c *Consumer
	if st := s.Stream(stream); st != nil {
		c = st.Consumer(name)
	}
	if c == nil || c.Away {
		if s.NoResponders {
			s.h.Status(in, p.Token, Status{Code: 503})
		}
		return
	}
	refuse := func(code int, format string, v ...any) {
		s.h.Status(in, p.Token, Status{Code: code, Text: fmt.Sprintf(format, v...)})
	}
	if p.Heartbeat > 0 && p.Heartbeat*2 > p.Expires && malformed == nil {
		malformed = errors.New("heartbeat value too large")
	}
	cfg := &c.Config
	switch {
	case cfg.Push:
		refuse(409, "Consumer is push based")
	case malformed != nil:
		refuse(400, "Bad Request - %v", malformed)
	case cfg.MaxBatch > 0 && p.Batch > cfg.MaxBatch:
		refuse(409, "Exceeded MaxRequestBatch of %d", cfg.MaxBatch)
	case cfg.MaxExpires > 0 && p.Expires > cfg.MaxExpires:
		refuse(409, "Exceeded MaxRequestExpires of %v", cfg.MaxExpires)
	case cfg.MaxBytes > 0 && p.MaxBytes > cfg.MaxBytes:
		refuse(409, "Exceeded MaxRequestMaxBytes of %v", cfg.MaxBytes)
	case s.Groups && cfg.Group != "" && p.Group == "":
		refuse(400, "Bad Request - Priority Group missing")
	case s.Groups && c.pinned && p.Pin != "":
		// A client that is pinned knows its id, and no script has one.
		refuse(423, "Nats-Pin-Id mismatch")
	default:
		c.take1(in, p)
	}
}

// take1 takes a pull that is in order.
func (c *Consumer) take1(in Inbox, p Pull) {
	now := c.s.now()
	c.active = now
	end := func(code int, text string) { c.s.h.Status(in, p.Token, Status{Code: code, Text: text}) }
	if len(c.pulls) >= c.Config.MaxWaiting {
		c.prune()
	}
	if p.NoWait {
		switch n := c.claimed(); {
		case c.visible() == 0 && p.Expires == 0:
			end(404, "No Messages")
			return
		case c.visible() > 0 && c.visible() < n:
			end(408, "Requests Pending")
			return
		}
	}
	if len(c.pulls) >= c.Config.MaxWaiting {
		if p.Heartbeat == 0 || !c.s.MutesWaiting {
			end(409, "Exceeded MaxWaiting")
		}
		return
	}
	w := &waiting{Pull: p, c: c, inbox: in, beat: now + p.Heartbeat}
	w.Batch = max(w.Batch, 1)
	if p.Expires != 0 {
		w.until = now + p.Expires
	}
	c.pulls = append(c.pulls, w)
	c.serve()
	if !w.done {
		w.arm()
	}
}

// visible is what waits for a pull to come: nothing of a paused consumer's counts
// before its time.
func (c *Consumer) visible() int {
	if c.paused() {
		return 0
	}
	n := int(c.waits())
	for _, u := range c.acks.list {
		if u.waits {
			n++
		}
	}
	return n
}

// claimed is what earlier pulls may take.
func (c *Consumer) claimed() (n int) {
	c.prune()
	for _, p := range c.pulls {
		n += p.Batch
	}
	return n
}

// arm asks for the pull's next heartbeat or its end.
func (p *waiting) arm() {
	switch {
	case p.Heartbeat > 0 && (p.until == 0 || p.beat < p.until):
		p.c.s.h.At(p.beat, p)
	case p.until != 0:
		p.c.s.h.At(p.until, p)
	}
}

// Fire is the pull's heartbeat, or its end.
func (p *waiting) Fire() {
	c, h := p.c, p.c.s.h
	if p.done {
		return
	}
	now := h.Now()
	if !h.Interest(p.inbox) {
		c.end(p)
		return
	}
	if p.until != 0 && now >= p.until {
		c.active = max(c.active, p.until)
		c.end(p)
		c.tell(p, Status{Code: 408, Text: "Request Timeout", HasPending: true})
		return
	}
	if p.Heartbeat > 0 && now >= p.beat {
		p.beat = now + p.Heartbeat
		c.tell(p, Status{Code: 100, Text: "Idle Heartbeat", HasLast: true})
		if len(c.listed) > 0 {
			c.serve()
		}
	}
	if !p.done {
		p.arm()
	}
}

// tell sends a status to a pull, with what such a status says of pull or consumer.
func (c *Consumer) tell(p *waiting, st Status) {
	if c.Away {
		return
	}
	if st.HasPending {
		st.PendingMessages, st.PendingBytes = p.Batch, p.MaxBytes
	}
	if st.HasLast {
		st.LastConsumer, st.LastStream = c.cseq, max(c.dseq, c.sseq()-1)
	}
	c.s.h.Status(p.inbox, p.Token, st)
}

func (c *Consumer) end(p *waiting) {
	p.done = true
	c.active = c.s.now()
	if i := slices.Index(c.pulls, p); i >= 0 {
		c.pulls = slices.Delete(c.pulls, i, i+1)
	}
}

// serve sends what waits to the pulls in turn. It skips what the filter hides even
// when nothing is sent, as a server does while a pull waits.
func (c *Consumer) serve() {
	for len(c.pulls) > 0 && !c.Away {
		m, n := c.take()
		if m == nil {
			break
		}
		p := c.forSize(m.Size)
		if p == nil {
			return
		}
		c.sent(m, n)
		c.give(p, m, n)
	}
	c.endNoWait()
}

// forSize gives the next pull that a message fits into.
func (c *Consumer) forSize(size int) *waiting {
	for len(c.pulls) > 0 {
		p := c.pulls[0]
		switch {
		case p.until != 0 && c.s.now() >= p.until:
			c.active = max(c.active, p.until)
			c.end(p)
			c.tell(p, Status{Code: 408, Text: "Request Timeout", HasPending: true})
		case p.MaxBytes > 0 && size > p.MaxBytes:
			c.end(p)
			c.tell(p, Status{Code: 409, Text: "Message Size Exceeds MaxBytes", HasPending: true})
		case !c.s.h.Interest(p.inbox):
			c.end(p)
		default:
			return p
		}
	}
	return nil
}

// give sends a message to a pull, which is over or waits behind the others.
func (c *Consumer) give(p *waiting, m *Message, deliveries int) {
	bounded := p.MaxBytes > 0
	if bounded {
		if p.MaxBytes -= m.Size; p.MaxBytes == 0 {
			p.Batch = 1
		}
	}
	p.Batch--
	p.served = true
	c.pinned = c.Config.Pinned && c.s.Groups
	c.told = c.waits()
	c.s.h.Message(p.inbox, p.Token, Delivery{Consumer: c, Sequence: m.Sequence, ConsumerSeq: c.cseq, Deliveries: deliveries,
		Time: m.Time, Pending: c.told, Size: m.Size})
	c.pulls = c.pulls[1:]
	if p.Batch > 0 {
		p.beat = c.s.now() + p.Heartbeat
		c.pulls = append(c.pulls, p)
		return
	}
	p.done = true
	c.active = c.s.now()
	if bounded {
		c.tell(p, Status{Code: 409, Text: "Batch Completed", HasPending: true})
	}
}

// endNoWait ends the pulls that do not wait, now that nothing is left to send. At
// the limit of unacknowledged messages a bare one stays, and is told nothing.
func (c *Consumer) endNoWait() {
	if c.paused() {
		return
	}
	full := c.Config.Explicit && c.acks.open() >= c.Config.MaxAckPending && c.visible() > 0
	for _, p := range slices.Clone(c.pulls) {
		if !p.NoWait || full || p.Expires != 0 && !p.served {
			continue
		}
		c.end(p)
		c.active = c.s.now()
		if p.served && !c.s.ShortNoWait {
			c.tell(p, Status{Code: 408, Text: "Request Timeout", HasPending: true})
			continue
		}
		c.tell(p, Status{Code: 404, Text: "No Messages"})
	}
}
