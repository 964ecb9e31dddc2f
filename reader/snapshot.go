package reader

import (
	"time"

	"github.com/an-open-reader/nats-reader/reader/session"
)

// Status gives a consistent snapshot. It takes two short locks and never waits
// for the connection.
func (r *Reader) Status() Status {
	r.take.Lock()
	defer r.take.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	v := r.rules.View(now)
	s := Status{
		State: r.state(v), Since: r.wall(v.Since), Stream: v.Stream,
		Session: SessionStatus{Number: v.Number, Consumer: v.Consumer, Inbox: v.Inbox, Created: r.wall(v.Created), LastAnswer: r.wall(v.LastAnswer)},
		Cursor:  v.Cursor.Sequence, Position: r.passed.sequence, Delivered: r.passed.count, Bytes: r.passed.bytes,
		Pending: v.Pending, Buffered: len(r.ready) + len(r.batch) - r.at,
		Replaced: map[Cause]uint64{}, Missed: v.Figures.Missed, DuplicatesDropped: v.Figures.Duplicates, Gaps: v.Figures.Gaps,
		Pulls: v.Figures.Pulls, APIRequests: map[string]uint64{}, Orphans: v.Orphans,
		Retry:         RetryStatus{Attempt: v.Attempt, NextAt: r.wall(v.NextAt), BudgetLeft: v.BudgetLeft},
		StreamCreated: stamp(v.StreamCreated), EventsDropped: r.dropped,
	}
	for c, n := range v.Figures.Replaced {
		s.Replaced[c] = n
	}
	for a, n := range v.Figures.API {
		s.APIRequests[string(a)] = n
	}
	if err := v.Figures.LastError; err != nil {
		s.LastError = err.Error()
	}
	return s
}

// wall turns an offset of the reader's clock into a time; 0 is the zero time.
func (r *Reader) wall(at time.Duration) time.Time {
	if at == 0 {
		return time.Time{}
	}
	return r.base.Add(at)
}

func (r *Reader) state(v session.View) State {
	switch {
	case r.over != nil:
		return StateClosed
	case !v.Connected:
		return StateDisconnected
	}
	switch v.Phase {
	case session.Opening:
		return StateOpening
	case session.Silent, session.Replacing:
		return StateRecovering
	case session.Ending, session.Done:
		return StateClosed
	case session.Reading:
	}
	switch {
	case v.Paused:
		return StatePaused
	case v.WaitingAck:
		return StateWaitingAcks
	case v.Full:
		return StateBufferFull
	case v.Idle:
		return StateIdle
	}
	return StateReading
}

// Position gives the place of the last message handed to the caller; FromPosition
// goes on after it. Before the first message it is where the reader began.
func (r *Reader) Position() Position {
	r.take.Lock()
	defer r.take.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.rules.View(r.now())
	p := Position{Stream: v.Stream, StreamCreated: stamp(r.passed.created), Sequence: r.passed.sequence, Time: r.passed.time}
	if r.passed.count == 0 {
		p.Sequence, p.Time, p.StreamCreated = r.start.Sequence, stamp(r.start.Time), stamp(r.born)
	}
	return p
}
