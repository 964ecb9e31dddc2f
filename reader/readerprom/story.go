package readerprom

import (
	"slices"
	"sync"
	"time"

	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

// deafBounds are the upper bounds of the histogram of deafness, in seconds: a deleted consumer
// is replaced within milliseconds, lost answers take two heartbeats (4s by default) to notice.
var deafBounds = []float64{0.01, 0.05, 0.25, 1, 2.5, 5, 10, 20, 30, 60, 120, 300}

// story follows the events of one reader: how long it was deaf each time, and why it is now.
type story struct {
	mu      sync.Mutex
	since   time.Time    // of the deafness under way; zero: none
	why     reader.Event // what was heard last of why it does not read; no Kind: nothing
	count   uint64
	sum     time.Duration
	longest time.Duration
	within  [12]uint64 // how many were no longer than a bound
}

// history is a copy of a story.
type history struct {
	since   time.Time
	why     reader.Event
	count   uint64
	sum     time.Duration
	longest time.Duration
	within  map[float64]uint64
}

func (s *story) follows(e reader.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e.Kind {
	case session.KindSessionSilent, session.KindSessionLost, session.KindDisconnected:
		if s.since.IsZero() && e.Session > 0 {
			s.since = e.Time.Add(-e.Deaf)
		}
		s.why = e
	case session.KindReplaceFailed, session.KindStreamMissing, session.KindPermissionDenied, session.KindConsumerLimit:
		if s.why.Kind == "" && e.Session > 0 {
			return // it reads: an operator's replacement, or a request it can do without
		}
		s.why = e
	case session.KindSessionReplaced, session.KindSessionHealed:
		s.heard(e.Deaf)
		s.since, s.why = time.Time{}, reader.Event{}
	case session.KindSessionOpened, session.KindClosed, session.KindFailed:
		s.since, s.why = time.Time{}, reader.Event{}
	default:
	}
}

// heard counts one deafness. A replacement of a session that owed nothing had none.
func (s *story) heard(deaf time.Duration) {
	if deaf <= 0 {
		return
	}
	s.count++
	s.sum += deaf
	s.longest = max(s.longest, deaf)
	for i, bound := range deafBounds {
		if deaf.Seconds() <= bound {
			s.within[i]++
		}
	}
}

func (s *story) now() history {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := history{since: s.since, why: s.why, count: s.count, sum: s.sum, longest: s.longest, within: map[float64]uint64{}}
	for i, n := range s.within {
		h.within[deafBounds[i]] = n
	}
	return h
}

// requests are the kinds of JetStream API requests that a reader sends.
var requests = []string{
	string(session.APIStreamNames), string(session.APIStreamInfo), string(session.APIConsumerCreate), string(session.APIConsumerUpdate),
	string(session.APIConsumerInfo), string(session.APIConsumerDelete), string(session.APIConsumerReset), string(session.APIMessageGet),
}

// states are those of a reader, in the order of its life.
var states = []reader.State{
	reader.StateOpening, reader.StateReading, reader.StateIdle, reader.StatePaused, reader.StateWaitingAcks,
	reader.StateBufferFull, reader.StateRecovering, reader.StateDisconnected, reader.StateClosed,
}

// withOthers are the known words, and those that a status has beside them.
func withOthers[K ~string](known []K, counted map[K]uint64) []K {
	all := slices.Clone(known)
	for k := range counted {
		if !slices.Contains(all, k) {
			all = append(all, k)
		}
	}
	return all
}
