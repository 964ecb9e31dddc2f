package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/x/ansi"
)

// View draws the screen: as many lines as the terminal has, each as wide as it is.
func (m *Model) View() string {
	if m.width == 0 || m.height == 0 {
		return ""
	}
	l := m.layout
	rows := make([]string, m.height)
	switch {
	case m.mode == modeHelp && (l.Shape != ShapeLine || m.height > 1):
		m.drawHelp(rows)
	default:
		if l.Header >= 0 {
			rows[l.Header] = m.header(m.width)
		}
		if l.State >= 0 {
			rows[l.State] = m.stateLine(m.width)
		}
		if l.Tabs >= 0 {
			rows[l.Tabs] = m.tabs(m.width)
		}
		m.drawPanes(rows)
	}
	if l.Footer >= 0 {
		rows[l.Footer] = m.footer(m.width)
	}
	if l.Shape == ShapeLine && m.asks() {
		rows[m.height-1] = m.footer(m.width)
	}
	return strings.Join(rows, "\n")
}

// asks says that a viewer has to see the footer, however small the terminal is: a key waits for another, was
// answered, or may break something.
func (m *Model) asks() bool {
	answered := m.flash != "" && m.now.Sub(m.flashed) < flashFor
	return m.mode != modeKeys || answered || m.height > 1 && m.flags() != ""
}

// drawPanes puts the panes into the rows, from the left.
func (m *Model) drawPanes(rows []string) {
	for _, p := range m.layout.Panes {
		r, _ := m.rectOf(p.Pane)
		lines := append([]string{m.title(p, r)}, m.content(p.Pane, r.W, r.H-1)...)
		for i := range p.H {
			text := ""
			if i < len(lines) {
				text = lines[i]
			}
			text = m.look.fit(text, r.W)
			if p.Border {
				side := m.look.upright() + " "
				if i == 0 {
					side = m.look.corner(m.below(p)) + m.look.line()
				}
				text = m.look.paint(roleDim, side) + text
			}
			rows[p.Y+i] += text
		}
	}
}

// below says whether the line beside a pane goes on above it.
func (m *Model) below(p Placed) bool {
	return slices.ContainsFunc(m.layout.Panes, func(o Placed) bool { return o.Border && o.X == p.X && o.Y+o.H == p.Y })
}

// title is the first row of a pane: its key and name, and a remark at the right.
func (m *Model) title(p Placed, r Rect) string {
	name := fmt.Sprintf("[%d %s%s]", p.Pane, paneNames[p.Pane], m.titleMore(p.Pane))
	one, line := roleTitle, m.look.line()
	if p.Pane == m.focus {
		one, line = roleFocus, "="
		if !m.look.ascii {
			line = "━"
		}
	}
	right := m.look.text(m.remark(p.Pane))
	if right != "" {
		right = " " + right + " "
	}
	room := r.W - 2 - ansi.StringWidth(name)
	if ansi.StringWidth(right)+2 > room {
		right = ""
	}
	fill := max(room-ansi.StringWidth(right), 0)
	return m.look.paint(one, line+ansi.Truncate(name, max(r.W-2, 0), "")+strings.Repeat(line, fill)+right+line)
}

func (m *Model) titleMore(p Pane) string {
	switch {
	case p == PaneSessions && m.table:
		return " of all readers"
	case p == PaneEvents && m.mode == modeFilter:
		return " /" + m.look.text(m.input.Value()) + "_"
	case p == PaneEvents && m.filter != "":
		return " /" + m.look.text(m.filter)
	}
	return ""
}

// remark is what stands at the right of a title.
func (m *Model) remark(p Pane) string {
	if p == PaneSessions && m.table {
		return fmt.Sprintf("%d readers, the most suspicious first", len(m.book.readers))
	}
	r := m.current()
	switch p {
	case PaneSessions:
		text := fmt.Sprintf("%d, %d replaced", len(r.sessions.rows)+r.sessions.forgotten, r.sessions.replaced())
		if d := r.longestDeaf(m.seen()); d > 0 {
			text += ", longest deaf " + length(d)
		}
		return text
	case PaneFlow:
		if len(m.opts.Readers) > 1 {
			return "of " + m.readerName(m.at())
		}
	case PaneFaults:
		return m.faultRemark()
	case PaneEvents:
		return m.eventRemark()
	case PaneContract:
		if r.contract == nil {
			return ""
		}
		text, _ := r.verdict()
		text = strings.TrimPrefix(text, "contract ")
		if !r.contract.Final {
			text += " so far"
		}
		return text
	case PaneTimeline:
		return m.timelineRemark()
	}
	return ""
}

// content draws what is below a title: at most h lines of at most w cells.
func (m *Model) content(p Pane, w, h int) []string {
	if h <= 0 || w <= 0 {
		return nil
	}
	var lines []string
	switch p {
	case PaneSessions:
		if m.table {
			lines = m.drawReaders(w, h)
			break
		}
		lines = m.drawSessions(w, h)
	case PaneFlow:
		lines = m.drawFlow(w, h)
	case PaneAPI:
		lines = m.drawAPI(w, h)
	case PaneFaults:
		lines = m.drawFaults(w, h)
	case PaneEvents:
		lines = m.drawEvents(w, h)
	case PaneContract:
		lines = m.drawContract(w, h)
	case PaneTimeline:
		lines = m.drawTimeline(w, h)
	}
	return lines[:min(len(lines), h)]
}

// tabs lists the panes where one is shown at a time.
func (m *Model) tabs(w int) string {
	var all []string
	for _, p := range panes {
		text := fmt.Sprintf("%d %s", p, strings.TrimPrefix(paneNames[p], "Retry / "))
		if p == m.focus {
			all = append(all, m.look.paint(roleFocus, "["+text+"]"))
			continue
		}
		all = append(all, m.look.paint(roleDim, text))
	}
	return m.look.fit(strings.Join(all, " "), w)
}

// footer is the last line: a question, a remark, or the keys.
func (m *Model) footer(w int) string {
	right := m.flags()
	left := ""
	switch {
	case m.mode == modeName:
		e := m.menu[m.fault]
		left = m.look.paint(roleBad, fmt.Sprintf(" %s destroys messages: type %s: ", e.Name, m.look.text(m.target()))) + m.look.text(m.input.Value()) + "_"
	case m.mode == modeFault:
		left = m.look.paint(roleFault, " ! a fault's key, or enter: "+m.describe(m.fault)+"  esc")
	case m.mode == modeFilter:
		left = " filter: words, apart by |   enter: keep   esc: all"
	case m.flash != "" && m.now.Sub(m.flashed) < flashFor:
		left = m.look.paint(roleKey, " "+m.look.text(m.flash))
	case m.ending && !m.over:
		left = m.look.paint(roleWarn, " ending: faults are undone, what is stored is read; q again: at once")
	default:
		left = " " + m.shortKeys()
	}
	return m.look.ends(left, right, w)
}

func (m *Model) shortKeys() string {
	var all []string
	for _, k := range keyMap.short() {
		all = append(all, m.look.paint(roleKey, shortKey(k))+":"+shortWords[k.Help().Key])
	}
	return strings.Join(all, " ")
}

func shortKey(k key.Binding) string { return strings.Fields(k.Help().Key)[0] }

// flags are what a viewer must not forget.
func (m *Model) flags() string {
	var all []string
	if m.replay != nil {
		all = append(all, m.replay.words())
	}
	if !m.frozen.IsZero() {
		all = append(all, m.look.paint(roleWarn, "[FROZEN, space goes on]"))
	}
	if m.armed {
		all = append(all, m.look.paint(roleFault, "[ARMED]"))
	}
	return strings.Join(all, " ")
}
