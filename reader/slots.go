package reader

import (
	"context"
	"time"

	"github.com/an-open-reader/nats-reader/reader/session"
)

// slot is the place of one API request among those in flight on a connection.
type slot struct {
	link   *link
	ticket uint64
	gate   *time.Timer // nil: it holds nothing back
	given  bool        // it was given back
}

// slot waits for a slot for one API request of a reader.
func (l *link) slot(ctx context.Context, key uint64, stream string, api session.API) (*slot, error) {
	l.mu.Lock()
	l.tickets++
	s := &slot{link: l, ticket: l.tickets}
	granted := l.rules.Acquire(l.now(), session.Ticket{ID: s.ticket, Reader: key, Stream: stream, API: api})
	var ready chan struct{}
	if !granted {
		ready = make(chan struct{})
		l.waiting[s.ticket] = ready
	}
	l.mu.Unlock()
	if !granted {
		select {
		case <-ready:
		case <-ctx.Done():
			s.release()
			return nil, ctx.Err()
		}
	}
	if api.Asks() {
		s.gate = time.AfterFunc(session.GateHold, func() { s.change(l.rules.Ungate) })
	}
	return s, nil
}

// answered gives the slot back: the server is done with the request.
func (s *slot) answered() {
	s.given = true
	s.change(s.link.rules.Answered)
}

// late keeps the slot of a request that nobody waits for any more.
func (s *slot) late() { s.change(s.link.rules.Late) }

// release gives the slot back if nothing else did.
func (s *slot) release() {
	if s.gate != nil {
		s.gate.Stop()
	}
	if !s.given {
		s.given = true
		s.change(s.link.rules.Abandon)
	}
}

// change tells the rules what became of the request, and wakes whoever got a slot by
// that.
func (s *slot) change(f func(now time.Duration, ticket uint64) []uint64) {
	l := s.link
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.waiting, s.ticket)
	l.grant(f(l.now(), s.ticket))
}

// grant wakes the tickets that got a slot; the lock is held.
func (l *link) grant(tickets []uint64) {
	for _, t := range tickets {
		if ready := l.waiting[t]; ready != nil {
			delete(l.waiting, t)
			close(ready)
		}
	}
}
