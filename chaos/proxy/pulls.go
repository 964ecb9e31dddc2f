package proxy

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxPulls bounds the pulls that are known to wait on one inbox, as a consumer bounds them by default. The
// oldest is forgotten first.
const maxPulls = 512

// pull is a request for messages that waits at the server.
type pull struct {
	subject, reply string
	messages       int       // still to come
	bytes          int       // still to come; 0: without a bound
	ends           time.Time // by itself; zero: never
}

// pullRequest is the body of a pull.
type pullRequest struct {
	Batch    int           `json:"batch"`
	MaxBytes int           `json:"max_bytes"`
	Expires  time.Duration `json:"expires"`
}

// newPull reads a pull as the server does: a body may be JSON, a number, or nothing that says anything.
func newPull(f *frame, now time.Time) *pull {
	var r pullRequest
	body := bytes.TrimSpace(f.payload)
	if len(body) > 0 && body[0] == '{' {
		json.Unmarshal(body, &r) //nolint:errcheck // the server judges it; what was read counts
	} else if n, ok := number(body); ok {
		r.Batch = n
	}
	p := &pull{subject: string(f.subject), reply: string(f.reply), messages: max(r.Batch, 1), bytes: r.MaxBytes}
	if r.Expires > 0 {
		p.ends = now.Add(r.Expires)
	}
	return p
}

// pulled keeps a pull with its inbox.
func (s *subscription) pulled(p *pull, now time.Time) {
	s.pulls = true
	s.waiting = slices.DeleteFunc(s.waiting, func(q *pull) bool { return !q.ends.IsZero() && q.ends.Before(now) })
	if len(s.waiting) >= maxPulls {
		s.waiting = slices.Delete(s.waiting, 0, 1)
	}
	s.waiting = append(s.waiting, p)
}

// told follows what the server sends on the inbox of pulls: messages serve the waiting pulls in turn, and
// every status but 100 ends one.
func (s *subscription) told(f *frame, code int) {
	switch {
	case code == heartbeatCode:
		s.consumerSequence = headerNumber(f.headers, lastConsumer, s.consumerSequence)
		s.streamSequence = headerNumber(f.headers, lastStream, s.streamSequence)
	case code != 0:
		i := slices.IndexFunc(s.waiting, func(p *pull) bool { return p.reply == string(f.subject) })
		if i >= 0 {
			s.waiting = slices.Delete(s.waiting, i, i+1)
		}
	case isAck(f.reply):
		s.lastReply = append(s.lastReply[:0], f.reply...)
		if len(s.waiting) == 0 {
			return
		}
		p := s.waiting[0]
		p.messages--
		p.bytes = max(0, p.bytes-f.size-len(f.subject)-len(f.reply))
		if p.messages > 0 && len(s.waiting) == 1 {
			return
		}
		s.waiting = slices.Delete(s.waiting, 0, 1)
		if p.messages > 0 {
			s.waiting = append(s.waiting, p)
		}
	}
}

// delivery returns the sequences of the last delivery on the inbox, by a message or a heartbeat.
func (s *subscription) delivery() (consumer, stream uint64) {
	consumer, stream = s.consumerSequence, s.streamSequence
	if ack, ok := parseAck(string(s.lastReply)); ok && ack.consumerSequence > consumer {
		consumer, stream = ack.consumerSequence, max(stream, ack.streamSequence)
	}
	return consumer, stream
}

// waitingPull is a pull that waits, with what is known of its inbox.
type waitingPull struct {
	pull
	sid              string
	consumer, stream uint64 // the last delivery
}

// waitingPulls returns the pulls that wait, oldest first on each inbox.
func (k *knowledge) waitingPulls(now time.Time) (out []waitingPull) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, sub := range k.subs.bySID {
		if sub.forgotten {
			continue // the server would send nothing there
		}
		consumer, stream := sub.delivery()
		for _, p := range sub.waiting {
			if p.ends.IsZero() || now.Before(p.ends) {
				out = append(out, waitingPull{pull: *p, sid: sub.sid, consumer: consumer, stream: stream})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b waitingPull) int {
		if n := len(a.sid) - len(b.sid); n != 0 {
			return n
		}
		return strings.Compare(a.sid, b.sid)
	})
	return out
}

// coming describes a pull that the client has just sent.
func (k *knowledge) coming(f *frame, now time.Time) []waitingPull {
	p := newPull(f, now)
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []waitingPull
	k.subs.reached(p.reply, func(sub *subscription) {
		if sub.forgotten {
			return
		}
		consumer, stream := sub.delivery()
		out = append(out, waitingPull{pull: *p, sid: sub.sid, consumer: consumer, stream: stream})
	})
	return out
}

// answeredPull forgets a pull that the proxy has ended in the client's eyes.
func (k *knowledge) answeredPull(sid, reply string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	sub := k.subs.bySID[sid]
	if sub == nil {
		return
	}
	i := slices.IndexFunc(sub.waiting, func(p *pull) bool { return p.reply == reply })
	if i >= 0 {
		sub.waiting = slices.Delete(sub.waiting, i, i+1)
	}
}

// headerNumber reads a number of a header block, or returns otherwise.
func headerNumber(headers []byte, name string, otherwise uint64) uint64 {
	_, rest, found := bytes.Cut(headers, []byte("\r\n"+name+": "))
	if !found {
		return otherwise
	}
	value, _, _ := bytes.Cut(rest, []byte("\r\n"))
	n, err := strconv.ParseUint(string(value), 10, 64)
	if err != nil {
		return otherwise
	}
	return n
}
