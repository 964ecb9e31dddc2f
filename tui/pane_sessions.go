package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// column is one of a table.
type column struct {
	head  string
	width int
	right bool
}

// row puts cells under columns, apart by a blank.
func (k look) row(columns []column, cells []string) string {
	var b strings.Builder
	for i, c := range columns {
		if c.width <= 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		if c.right {
			b.WriteString(k.fitRight(cells[i], c.width))
		} else {
			b.WriteString(k.fit(cells[i], c.width))
		}
	}
	return b.String()
}

func heads(columns []column) []string {
	var all []string
	for _, c := range columns {
		all = append(all, c.head)
	}
	return all
}

// tail keeps the end of a name, which tells it from others.
func (k look) tail(s string, w int) string {
	n := ansi.StringWidth(s)
	if n <= w {
		return s
	}
	return ansi.TruncateLeft(s, n-w+1, k.cut())
}

func sessionColumns(w int) []column {
	consumer, inbox, cause, state := 16, 0, 0, 9
	if w >= 100 {
		state = 12 // the longest word
	}
	rest := w - 2 - 5 - state - 7 - 7 - 7 - 7 - 2 // of those below, and the blanks between
	switch {
	case rest >= 70:
		consumer, inbox = 26, 22
	case rest >= 50:
		consumer, inbox = 18, 12
	case rest >= 40:
		consumer, inbox = 12, 8
	default:
		consumer = max(min(rest/2, 12), 0)
	}
	cause = max(rest-consumer-inbox-1, 0)
	if inbox > 0 {
		cause = max(cause-1, 0)
	}
	return []column{
		{"", 1, false}, {"#", 4, true}, {"consumer", consumer, false}, {"inbox", inbox, false}, {"state", state, false},
		{"age", 6, true}, {"ended because", cause, false}, {"missed", 6, true}, {"deaf", 6, true}, {"took", 6, true},
	}
}

// drawSessions is the lineage of sessions, the newest first; one of them may be expanded.
func (m *Model) drawSessions(w, h int) []string {
	r := m.current()
	now := m.seen()
	columns := sessionColumns(w)
	head := m.look.paint(roleDim, m.look.row(columns, heads(columns)))
	if len(r.sessions.rows) == 0 {
		text := "no session yet"
		if len(r.sessions.pending) > 0 {
			text += ": " + m.look.text(r.sessions.pending[len(r.sessions.pending)-1].text)
		}
		return []string{head, " " + text}
	}
	var lines []string
	selected := m.selectedSession()
	at := 0
	for i, row := range slices.Backward(r.sessions.rows) {
		current := i == len(r.sessions.rows)-1
		if row.number == selected.number {
			at = len(lines)
		}
		lines = append(lines, m.sessionLine(columns, row, current, row.number == selected.number, now))
		if m.expanded[m.reader] == row.number {
			lines = append(lines, m.stepLines(row, w)...)
		}
		if len(lines) > at+h && row.number != selected.number && at > 0 {
			break // further down than can be seen
		}
	}
	if r.sessions.forgotten > 0 {
		lines = append(lines, fmt.Sprintf("   and %d before them", r.sessions.forgotten))
	}
	return append([]string{head}, window(lines, at, h-1)...)
}

// window gives h lines around the selected one; what follows it is shown rather than what is before.
func window(lines []string, at, h int) []string {
	if h <= 0 {
		return nil
	}
	first := max(min(at-h/3, len(lines)-h), 0)
	return lines[first:min(first+h, len(lines))]
}

func (m *Model) sessionLine(columns []column, row sessionRow, current, selected bool, now time.Time) string {
	state, one, lived := "closed", roleDim, ""
	switch {
	case current && row.to.IsZero():
		c := conditionOf(m.current(), now)
		state, one = c.word, c.role
		lived = age(now.Sub(row.from))
	case !row.to.IsZero():
		lived = age(row.to.Sub(row.from))
	}
	mark := ""
	if current && row.to.IsZero() {
		mark = ">"
	}
	cause := words(string(row.cause))
	if current && row.to.IsZero() && m.current().sessions.lost {
		cause = words(string(m.current().sessions.cause))
	}
	if row.healed > 0 && cause == "" {
		cause = fmt.Sprintf("healed %d times", row.healed)
		if row.healed == 1 {
			cause = "was silent, healed"
		}
	}
	cause = m.look.text(cause)
	cells := []string{
		mark, fmt.Sprint(row.number), m.look.tail(m.look.text(row.consumer), columns[2].width),
		m.look.tail(m.look.text(strings.TrimSuffix(row.inbox, ".*")), columns[3].width), state, lived, cause,
		count(row.missed), length(row.deaf), length(row.took),
	}
	text := m.look.row(columns, cells)
	if selected && m.focus == PaneSessions {
		return m.look.paint(roleSelected, m.pointed(text))
	}
	return m.look.paint(one, text)
}

// pointed marks a selected line with a sign, for screens without colours.
func (m *Model) pointed(text string) string {
	if len(text) > 1 && text[0] == ' ' {
		return "*" + text[1:]
	}
	return text
}

// stepLines are how a session came to be, step by step.
func (m *Model) stepLines(row sessionRow, w int) []string {
	if len(row.steps) == 0 {
		return []string{"      nothing is known of how it came to be"}
	}
	var lines []string
	for _, s := range row.steps {
		lines = append(lines, m.look.fit("      "+m.look.paint(roleDim, s.time.Format(timeForm))+"  "+m.look.text(s.text), w))
	}
	return lines
}

// timeForm is the form of times in lines.
const timeForm = "15:04:05.000"
