package commands

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/an-open-reader/nats-reader/reader/doctor"
)

// doctorShow is one line on a terminal that says what the doctor does, written over
// and over.
type doctorShow struct {
	to    io.Writer // nil: nobody looks
	width int       // of what stands there
}

func (p *program) doctorProgress(quiet bool) *doctorShow {
	if quiet || !isTerminal(p.stderr) {
		return &doctorShow{}
	}
	return &doctorShow{to: p.stderr}
}

func (s *doctorShow) step(g doctor.Progress) {
	text := g.Step
	if g.Total > 0 {
		text += fmt.Sprintf("  %d/%d", g.Done, g.Total)
	}
	s.write(text)
}

func (s *doctorShow) write(text string) {
	if s.to == nil {
		return
	}
	n := utf8.RuneCountInString(text)
	fmt.Fprintf(s.to, "\r%s%s", text, strings.Repeat(" ", max(s.width-n, 0)))
	s.width = n
}

// end leaves the line empty.
func (s *doctorShow) end() {
	if s.width > 0 {
		s.write("")
		fmt.Fprint(s.to, "\r")
	}
}
