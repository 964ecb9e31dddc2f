package tui

import (
	"slices"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// moveKey moves in the pane that has the keys, or in the time of a replay.
func (m *Model) moveKey(k tea.KeyMsg) tea.Cmd {
	if m.replay != nil && m.seekKey(k) {
		return nil
	}
	page := 10
	if r, ok := m.rectOf(m.focus); ok {
		page = max(r.H-2, 1)
	}
	switch {
	case key.Matches(k, keyMap.up):
		m.move(-1)
	case key.Matches(k, keyMap.down):
		m.move(1)
	case key.Matches(k, keyMap.pageUp):
		m.move(-page)
	case key.Matches(k, keyMap.pageDown):
		m.move(page)
	case key.Matches(k, keyMap.top):
		m.move(-1 << 30)
	case key.Matches(k, keyMap.follow):
		m.move(1 << 30)
		m.session = 0
		if m.focus != PaneSessions && m.focus != PaneFaults {
			m.follow = true
		}
	case m.focus == PaneFaults && key.Matches(k, keyMap.seekBack):
		m.fault = max(m.fault-1, 0)
	case m.focus == PaneFaults && key.Matches(k, keyMap.seekOn):
		m.fault = min(m.fault+1, len(m.menu)-1)
	case key.Matches(k, keyMap.slower, keyMap.faster, keyMap.seekBack, keyMap.seekOn, keyMap.seekFarBack, keyMap.seekFarOn):
		m.say("only a replay goes faster, slower, back or on: watch --replay FILE")
	}
	return nil
}

// move moves the selection by lines.
func (m *Model) move(by int) {
	switch m.focus {
	case PaneSessions:
		if m.table {
			m.picked = min(max(m.picked+by, 0), len(m.book.readers)-1)
			return
		}
		m.moveSession(by)
	case PaneFaults:
		if r, ok := m.rectOf(PaneFaults); ok && by > -1<<29 && by < 1<<29 {
			m.fault = m.menuBeside(by, r.W)
			return
		}
		m.fault = min(max(m.fault+by, 0), len(m.menu)-1)
	default:
		m.moveLine(by)
	}
}

// moveSession goes to an older session, which is further down.
func (m *Model) moveSession(by int) {
	rows := m.current().sessions.rows
	if len(rows) == 0 {
		return
	}
	at := len(rows) - 1
	if m.session != 0 {
		if i := slices.IndexFunc(rows, func(r sessionRow) bool { return r.number == m.session }); i >= 0 {
			at = i
		}
	}
	at = min(max(at-by, 0), len(rows)-1)
	m.session = rows[at].number
	if at == len(rows)-1 {
		m.session = 0 // the newest, whichever that will be
	}
}

func (m *Model) selectedSession() *sessionRow {
	rows := m.current().sessions.rows
	if len(rows) == 0 {
		return nil
	}
	for i := range rows {
		if rows[i].number == m.session {
			return &rows[i]
		}
	}
	return &rows[len(rows)-1]
}

// moveLine scrolls the events; going back stops following.
func (m *Model) moveLine(by int) {
	all := m.eventLines()
	if len(all) == 0 {
		return
	}
	at := m.lineAt(all)
	at = min(max(at+by, 0), len(all)-1)
	m.follow = at == len(all)-1 && by > 0
	m.line = at + m.book.lines.total - len(m.book.lines.all)
}

// eventLines are the lines of the event pane.
func (m *Model) eventLines() []entry {
	reader := m.reader
	if m.table || len(m.opts.Readers) < 2 {
		reader = -1
	}
	return m.filtered.matching(&m.book.lines, m.filter, reader)
}

// lineAt is the selected line among those shown: the newest one while the view follows.
func (m *Model) lineAt(all []entry) int {
	if m.follow {
		return len(all) - 1
	}
	gone := m.book.lines.total - len(m.book.lines.all)
	return min(max(m.line-gone, 0), len(all)-1)
}

func (m *Model) selectedLine() (entry, bool) {
	all := m.eventLines()
	if len(all) == 0 {
		return entry{}, false
	}
	return all[m.lineAt(all)], true
}
