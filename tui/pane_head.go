package tui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// header is the first line: what is read, where, and for how long.
func (m *Model) header(w int) string {
	left := " nats-reader watch  " + m.look.text(m.opts.Title)
	right := ""
	if m.opts.Where != "" {
		right = m.look.text(m.opts.Where) + "  "
	}
	right += m.clock() + " "
	if ansi.StringWidth(left)+ansi.StringWidth(right) >= w {
		right = m.clock() + " "
	}
	return m.look.paint(roleTitle, m.look.ends(left, right, w))
}

// clock is how long the run has lasted.
func (m *Model) clock() string {
	if m.book.began.IsZero() {
		return "0:00:00"
	}
	s := max(int(m.seen().Sub(m.book.began).Seconds()), 0)
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// stateLine is the answer in words: what the reader does, and whether its contract holds. With many readers
// it is that of the most suspicious one.
func (m *Model) stateLine(w int) string {
	now := m.seen()
	r := m.current()
	who := ""
	if m.table {
		order := m.bySuspicion()
		r = m.book.readers[order[0]]
		who = m.readerName(order[0]) + ": "
	} else if len(m.opts.Readers) > 1 {
		who = m.readerName(m.reader) + ": "
	}
	c := conditionOf(r, now)
	s := r.status()
	parts := []string{m.look.paint(c.role, m.look.text(c.word)) + "  " + m.look.text(who+c.about)}
	last := ""
	if c.role == roleGood && !r.snapshot.Read.IsZero() {
		last = "last msg " + seconds(now.Sub(r.snapshot.Read)) + " ago"
	}
	if n := len(m.book.faults.on); n > 0 {
		parts = append(parts, m.look.paint(roleFault, fmt.Sprintf("faults on %d", n)))
	}
	if last != "" {
		parts = append(parts, last)
	}
	if s.Missed > 0 {
		parts = append(parts, fmt.Sprintf("missed %d", s.Missed))
	}
	parts = append(parts, fmt.Sprintf("gaps %d", s.Gaps), fmt.Sprintf("dropped %d", s.DuplicatesDropped))
	verdict, one := r.verdict()
	return m.fitState(parts, m.look.paint(one, verdict), w)
}

// fitState leaves out what has no room, from the right, but for the verdict; the first part is cut last.
func (m *Model) fitState(parts []string, verdict string, w int) string {
	const apart = " | "
	for n := len(parts); n > 0; n-- {
		line := " " + strings.Join(append(parts[:n:n], verdict), apart)
		if ansi.StringWidth(line) <= w {
			return m.look.fit(line, w)
		}
	}
	head := " " + parts[0]
	if room := w - ansi.StringWidth(apart+verdict); room >= 20 {
		return m.look.fit(strings.TrimRight(m.look.fit(head, room), " ")+apart+verdict, w)
	}
	return m.look.fit(head, w)
}
