package tui

import (
	"fmt"
)

// drawEvents is what happened, a line each, the newest last.
func (m *Model) drawEvents(w, h int) []string {
	all := m.eventLines()
	if len(all) == 0 {
		if m.filter != "" {
			return []string{" no line of " + count(uint64(len(m.book.lines.all))) + " has " + m.look.text(m.filter)}
		}
		return []string{" nothing has happened yet"}
	}
	at := m.lineAt(all)
	first := max(len(all)-h, 0)
	if !m.follow {
		first = max(min(at-h/2, len(all)-h), 0)
	}
	var lines []string
	for i := first; i < min(first+h, len(all)); i++ {
		lines = append(lines, m.eventLine(all[i], i == at && m.focus == PaneEvents && !m.follow, w))
	}
	return lines
}

var sourceRoles = map[Source]role{FromFault: roleFault, FromRun: roleDim, FromLog: roleDim}

func (m *Model) eventLine(e entry, selected bool, w int) string {
	who := ""
	if m.table && e.reader >= 0 && len(m.opts.Readers) > 1 {
		who = m.readerName(e.reader) + ": "
	}
	text := m.look.fit(" "+e.time.Format(timeForm)+" "+m.look.fit(string(e.source), 6)+" "+who+m.look.text(clip(e.text, 4*w)), w)
	if selected {
		return m.look.paint(roleSelected, m.pointed(text))
	}
	return m.look.paint(sourceRoles[e.source], text)
}

func (m *Model) eventRemark() string {
	text := "FOLLOWING"
	if !m.follow {
		text = "scrolled back, f follows"
	}
	if m.filter != "" {
		return fmt.Sprintf("%s, %s of %s shown", text, count(uint64(len(m.eventLines()))), count(uint64(len(m.book.lines.all))))
	}
	return fmt.Sprintf("%s, %s", text, count(uint64(m.book.lines.total)))
}
