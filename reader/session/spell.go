package session

import "time"

// spell is a state that comes and goes with every message where a reader is at the head
// of a busy stream, or its caller as fast as the stream. It is told when it begins, and
// anew only after it was over for a heartbeat.
type spell struct {
	told bool
	over time.Duration // since when it is over; 0: it lasts
}

// on says whether the state's beginning is to be told.
func (s *spell) on(now, heartbeat time.Duration) bool {
	begins := !s.told || s.over > 0 && now >= s.over+heartbeat
	s.told, s.over = true, 0
	return begins
}

func (s *spell) off(now time.Duration) {
	if s.told && s.over == 0 {
		s.over = max(now, 1)
	}
}
