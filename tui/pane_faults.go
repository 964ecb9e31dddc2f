package tui

import (
	"fmt"
	"strings"

	"github.com/an-open-reader/nats-reader/chaos"
)

// cellWidth is that of a fault in the menu, and groupWidth that of a layer's name before its faults.
const (
	cellWidth  = 23
	groupWidth = 9
)

// menuRow is a row of the menu: faults of one layer.
type menuRow struct {
	layer chaos.Layer // "" behind the first row of a layer
	from  int         // index of the first fault
	n     int
}

// menuRows lays the menu out for a width.
func (m *Model) menuRows(w int) []menuRow {
	across := max((w-groupWidth)/cellWidth, 1)
	var rows []menuRow
	for i := 0; i < len(m.menu); {
		layer := m.menu[i].Layer
		n := 0
		for i+n < len(m.menu) && n < across && m.menu[i+n].Layer == layer {
			n++
		}
		name := layer
		if i > 0 && m.menu[i-1].Layer == layer {
			name = ""
		}
		rows = append(rows, menuRow{name, i, n})
		i += n
	}
	return rows
}

// menuBeside is the fault that lies so many rows below the selected one.
func (m *Model) menuBeside(by, w int) int {
	rows := m.menuRows(w)
	at := rowOf(rows, m.fault)
	column := m.fault - rows[at].from
	to := rows[min(max(at+by, 0), len(rows)-1)]
	return to.from + min(column, to.n-1)
}

func rowOf(rows []menuRow, fault int) int {
	for i, r := range rows {
		if fault < r.from+r.n {
			return i
		}
	}
	return len(rows) - 1
}

// drawFaults is what is on, the menu, and what the selected fault would do.
func (m *Model) drawFaults(w, h int) []string {
	var lines []string
	if on := m.onLine(); on != "" {
		lines = append(lines, m.look.paint(roleFault, m.look.fit(on, w)))
	}
	about := ""
	if m.focus == PaneFaults && h-len(lines) >= 2 {
		about = " " + m.describe(m.fault)
	}
	room := h - len(lines)
	if about != "" {
		room--
	}
	rows := m.menuRows(w)
	var drawn []string
	for _, r := range rows {
		drawn = append(drawn, m.menuLine(r))
	}
	lines = append(lines, window(drawn, rowOf(rows, m.fault), room)...)
	if about != "" {
		lines = append(lines, m.look.fit(about, w))
	}
	return lines
}

func (m *Model) menuLine(r menuRow) string {
	var b strings.Builder
	b.WriteString(m.look.paint(roleDim, m.look.fit(" "+string(r.layer), groupWidth)))
	for i := r.from; i < r.from+r.n; i++ {
		e := m.menu[i]
		one, mark := rolePlain, " "
		switch {
		case m.book.faults.isOn(e.Name):
			one, mark = roleFault, "!"
		case m.refused(e) != "":
			one, mark = roleDim, "-"
		}
		text := m.look.fit(fmt.Sprintf("%s%s %s", mark, e.key, e.Name), cellWidth)
		if i == m.fault && m.focus == PaneFaults {
			text = m.look.paint(roleSelected, "*"+text[1:])
		} else {
			text = m.look.paint(one, text)
		}
		b.WriteString(text)
	}
	return b.String()
}

// refused says why a fault of the menu cannot be made now; "": it can.
func (m *Model) refused(e menuEntry) string {
	switch {
	case m.noFaults() != "":
		return m.noFaults()
	case m.opts.Hands.Refused != nil:
		return m.opts.Hands.Refused(m.at(), e.spec())
	}
	return ""
}

// describe says what a fault would do, or why it cannot act.
func (m *Model) describe(i int) string {
	e := m.menu[i]
	text := fmt.Sprintf("%s %s: %s (%s)", e.key, e.Name, e.Does, e.lasts())
	if why := m.refused(e); why != "" {
		text = fmt.Sprintf("%s %s cannot be made: %s", e.key, e.Name, why)
	} else if e.Destructive {
		text += ", DESTROYS MESSAGES"
	}
	return m.look.text(text)
}

// onLine tells the faults that act, and when each ends.
func (m *Model) onLine() string {
	now := m.seen()
	var all []string
	for _, o := range m.book.faults.on {
		text := o.fault
		if key := faultKeys[o.name]; key != "" {
			text = key + " " + text
		}
		switch left := o.until.Sub(now); {
		case o.until.IsZero():
			text += ", until it is undone"
		case left > 0:
			text += ", ends in " + age(left)
		default:
			text += ", being undone"
		}
		if o.acted {
			text += ", has acted"
		}
		all = append(all, text)
	}
	if len(all) == 0 {
		return ""
	}
	return m.look.text(" ON: " + strings.Join(all, "; "))
}

func (m *Model) faultRemark() string {
	text := fmt.Sprintf("%d fired, %d on", m.book.faults.fired, len(m.book.faults.on))
	if m.book.faults.failed > 0 {
		text += fmt.Sprintf(", %d failed", m.book.faults.failed)
	}
	switch {
	case m.noFaults() != "":
	case m.armed:
		text += ", ARMED: ! then a key, 0 clears"
	default:
		text += ", A arms"
	}
	return text
}
