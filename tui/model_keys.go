package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// keys does what keys ask for that came at once: letters typed faster than they are read are one message.
func (m *Model) keys(msg tea.KeyMsg) tea.Cmd {
	if msg.Type != tea.KeyRunes || msg.Paste || len(msg.Runes) < 2 {
		return m.key(msg)
	}
	var all []tea.Cmd
	for _, r := range msg.Runes {
		if cmd := m.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: msg.Alt}); cmd != nil {
			all = append(all, cmd)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return func() tea.Msg {
		var came manyMsg
		for _, cmd := range all {
			came = append(came, cmd())
		}
		return came
	}
}

// key does what a key asks for.
func (m *Model) key(k tea.KeyMsg) tea.Cmd {
	if key.Matches(k, keyMap.interrupt) {
		if m.opts.Hands.Interrupt != nil {
			m.opts.Hands.Interrupt()
		}
		m.ending = true
		return m.quitReplay()
	}
	switch m.mode {
	case modeFilter:
		return m.typeFilter(k)
	case modeName:
		return m.typeName(k)
	case modeFault:
		return m.faultKey(k)
	case modeHelp:
		m.helpKey(k)
		return nil
	}
	if k.Paste {
		return nil
	}
	m.flash = ""
	switch {
	case key.Matches(k, keyMap.quit):
		return m.quit()
	case key.Matches(k, keyMap.help):
		m.mode, m.help = modeHelp, 0
	case key.Matches(k, keyMap.next):
		m.turn(1)
	case key.Matches(k, keyMap.previous):
		m.turn(-1)
	case key.Matches(k, keyMap.pane):
		m.focusOn(Pane(k.String()[0] - '0'))
	case key.Matches(k, keyMap.filter):
		m.mode, m.filter = modeFilter, ""
		m.input.SetValue("")
		m.focusOn(PaneEvents)
		return m.input.Focus()
	case key.Matches(k, keyMap.freeze):
		m.freeze()
	case key.Matches(k, keyMap.zoomIn):
		m.zoomBy(1)
	case key.Matches(k, keyMap.zoomOut):
		m.zoomBy(-1)
	case key.Matches(k, keyMap.arm):
		m.arm()
	case key.Matches(k, keyMap.fault):
		m.openMenu()
	case key.Matches(k, keyMap.clear):
		return m.clear()
	case key.Matches(k, keyMap.export):
		return m.export()
	case key.Matches(k, keyMap.yank):
		return m.yank()
	case key.Matches(k, keyMap.enter):
		return m.enter()
	case key.Matches(k, keyMap.back):
		m.back()
	default:
		return m.moveKey(k)
	}
	return nil
}

// focusOn gives the keys to a pane.
func (m *Model) focusOn(p Pane) {
	m.focus = p
	m.arrange()
}

func (m *Model) turn(by int) {
	i := slices.Index(panes, m.focus)
	m.focusOn(panes[(i+by+len(panes))%len(panes)])
}

// quit asks for the end of the run; asked again, it is an interrupt.
func (m *Model) quit() tea.Cmd {
	switch {
	case m.replay != nil:
		return m.quitReplay()
	case m.ending && m.opts.Hands.Interrupt != nil:
		m.opts.Hands.Interrupt()
	case m.opts.Hands.Quit != nil:
		m.opts.Hands.Quit()
	}
	m.ending = true
	return nil
}

func (m *Model) quitReplay() tea.Cmd {
	if m.replay == nil {
		return nil
	}
	m.over = true
	return tea.Quit
}

func (m *Model) freeze() {
	switch {
	case m.replay != nil:
		m.replay.paused = !m.replay.paused
	case m.frozen.IsZero():
		m.frozen = m.now
	default:
		m.thaw()
	}
}

func (m *Model) export() tea.Cmd {
	if m.opts.Hands.Export == nil {
		m.say("there is nothing to export")
		return nil
	}
	m.say("writing the run…")
	if m.look.ascii {
		m.say("writing the run")
	}
	return run(m.opts.Hands.Export)
}

// yank copies the selected line.
func (m *Model) yank() tea.Cmd {
	text := m.selectedText()
	switch {
	case m.opts.Hands.Copy == nil:
		m.say("there is no clipboard")
		return nil
	case text == "":
		m.say("nothing is selected: move with up and down in sessions, faults or events")
		return nil
	}
	return run(func() (string, error) {
		if err := m.opts.Hands.Copy(text); err != nil {
			return "", fmt.Errorf("copy: %w", err)
		}
		return "copied: " + text, nil
	})
}

// selectedText is the line that y copies.
func (m *Model) selectedText() string {
	switch m.focus {
	case PaneSessions:
		if row := m.selectedSession(); row != nil {
			return row.consumer
		}
	case PaneFaults:
		return m.menu[m.fault].spec().Fault()
	case PaneEvents:
		if e, ok := m.selectedLine(); ok {
			return fmt.Sprintf("%s %s %s", e.time.Format(timeForm), e.source, e.text)
		}
	}
	return ""
}

// enter does what the selected line offers.
func (m *Model) enter() tea.Cmd {
	switch {
	case m.focus == PaneSessions && m.table:
		m.table = false
		m.reader = m.pickedReader()
		m.session = 0
	case m.focus == PaneSessions:
		if row := m.selectedSession(); row != nil {
			if m.expanded[m.reader] == row.number {
				delete(m.expanded, m.reader)
			} else {
				m.expanded[m.reader] = row.number
			}
		}
	case m.focus == PaneFaults:
		return m.choose(m.fault)
	}
	return nil
}

// back leaves what enter went into, or takes a filter off.
func (m *Model) back() {
	switch {
	case m.focus == PaneEvents && m.filter != "":
		m.filter = ""
	case m.expanded[m.reader] != 0:
		delete(m.expanded, m.reader)
	case len(m.opts.Readers) > 1:
		m.table = true
		m.focusOn(PaneSessions)
	}
}

// typeFilter takes a key of the filter's text.
func (m *Model) typeFilter(k tea.KeyMsg) tea.Cmd {
	switch k.String() {
	case "enter":
		m.mode = modeKeys
	case "esc":
		m.mode, m.filter = modeKeys, ""
	default:
		var cmd tea.Cmd
		m.input, cmd = m.input.Update(k)
		m.filter = strings.TrimSpace(m.input.Value())
		return cmd
	}
	m.input.Blur()
	return nil
}

func (m *Model) helpKey(k tea.KeyMsg) {
	page := max(m.height-2, 1)
	switch {
	case key.Matches(k, keyMap.down):
		m.help++
	case key.Matches(k, keyMap.up):
		m.help--
	case key.Matches(k, keyMap.pageDown), k.String() == " ":
		m.help += page
	case key.Matches(k, keyMap.pageUp):
		m.help -= page
	case key.Matches(k, keyMap.top):
		m.help = 0
	default:
		m.mode = modeKeys
	}
	m.help = min(max(m.help, 0), max(len(m.helpLines())-page, 0))
}
