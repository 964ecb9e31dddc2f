package proxy

import (
	"slices"
	"sync"
)

// selection is what the parameters common to faults on single frames choose.
type selection struct {
	conn glob
	sid  string

	nth, every, limit uint64

	mu          sync.Mutex
	seen, fired uint64
}

func newSelection(a *arguments) *selection {
	return &selection{
		conn: argument[glob](a, "conn"), sid: argument[string](a, "sid"),
		nth: argument[uint64](a, "nth"), every: argument[uint64](a, "every"), limit: argument[uint64](a, "limit"),
	}
}

// covers tells whether the frame is of the connection and subscription meant. A connection whose name is
// asked for and not yet known is not covered.
func (s *selection) covers(c *conn, f *frame) bool {
	if s.sid != "" && s.sid != string(f.sid) {
		return false
	}
	return c.named(s.conn)
}

// fires counts one matching frame and tells whether the fault fires on it: on the nth, and with every on
// each so-many-th from there; with neither on each; limit times at most.
func (s *selection) fires() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.limit > 0 && s.fired >= s.limit {
		return false
	}
	s.seen++
	first, step := s.nth, s.every
	if first == 0 {
		first = max(step, 1)
		step = first
	}
	due := s.seen == first || (step > 0 && s.seen > first && (s.seen-first)%step == 0)
	if due {
		s.fired++
	}
	return due
}

// unfired takes a firing back that came to nothing.
func (s *selection) unfired() {
	s.mu.Lock()
	s.fired--
	s.mu.Unlock()
}

func (s *selection) hasFired() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fired > 0
}

// spent tells that the limit is reached.
func (s *selection) spent() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.limit > 0 && s.fired >= s.limit
}

// withDefault returns parameters with the default of one of them told differently, for a fault that
// computes it.
func withDefault(parameters []Parameter, name, words string) []Parameter {
	out := slices.Clone(parameters)
	for i := range out {
		if out[i].Name == name {
			out[i].Words += "; " + words
		}
	}
	return out
}
