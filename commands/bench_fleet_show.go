package commands

import (
	"fmt"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/bench/fleet"
)

// fleetShow tells how far a fleet is: on a terminal in one line that is written over and over, elsewhere in a line for
// each thing that begins.
type fleetShow struct {
	*doctorShow
	p       *program
	quiet   bool
	text    string
	written time.Time
}

func (p *program) fleetShow(quiet bool) *fleetShow {
	return &fleetShow{doctorShow: p.doctorProgress(quiet), p: p, quiet: quiet}
}

func (s *fleetShow) told(t fleet.Progress) {
	begins := t.Text != s.text
	s.text = t.Text
	if s.to == nil {
		if begins && !s.quiet {
			s.p.note("%s", t.Text)
		}
		return
	}
	if !begins && t.Done < t.All && time.Since(s.written) < barEvery {
		return
	}
	s.written = time.Now()
	text := t.Text
	if t.All > 0 {
		text += fmt.Sprintf(": %d of %d", t.Done, t.All)
	}
	s.write(text)
}
