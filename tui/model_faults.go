package tui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// arm lets faults act, or no more. Those that are on stay on.
func (m *Model) arm() {
	switch {
	case m.armed:
		m.armed = false
		m.say("disarmed: no key makes a fault")
	case m.noFaults() != "":
		m.say(m.noFaults())
	default:
		m.armed = true
		m.say("armed: ! and a fault's key make it")
	}
}

// noFaults says why no fault can be made on this screen; "": they can.
func (m *Model) noFaults() string {
	switch {
	case m.replay != nil:
		return "a replay cannot be changed: there is no reader to make faults on"
	case m.opts.Hands.Disarmed != "":
		return m.opts.Hands.Disarmed
	case m.opts.Hands.Fire == nil:
		return "there is nothing to make faults on"
	}
	return ""
}

// openMenu waits for a fault's key.
func (m *Model) openMenu() {
	m.focusOn(PaneFaults)
	switch {
	case m.noFaults() != "":
		m.say(m.noFaults())
	case !m.armed:
		m.say("not armed: A arms the faults")
	default:
		m.mode = modeFault
	}
}

// faultKey takes the key behind "!".
func (m *Model) faultKey(k tea.KeyMsg) tea.Cmd {
	m.mode = modeKeys
	switch {
	case key.Matches(k, keyMap.clear):
		return m.clear()
	case k.String() == "enter":
		return m.choose(m.fault)
	case k.Type == tea.KeyUp || k.Type == tea.KeyDown || k.Type == tea.KeyLeft || k.Type == tea.KeyRight:
		m.mode = modeFault
		return m.moveKey(k)
	case k.Type != tea.KeyRunes || k.Paste:
		return nil
	}
	for i, e := range m.menu {
		if e.key == k.String() {
			return m.choose(i)
		}
	}
	m.say(fmt.Sprintf("no fault has the key %q", k.String()))
	return nil
}

// choose makes a fault, or says why not, or asks for the name of what it destroys.
func (m *Model) choose(i int) tea.Cmd {
	m.fault = i
	e := m.menu[i]
	switch {
	case m.noFaults() != "":
		m.say(m.noFaults())
		return nil
	case !m.armed:
		m.say("not armed: A arms the faults")
		return nil
	case m.ending:
		m.say("the run is ending")
		return nil
	}
	if m.opts.Hands.Refused != nil {
		if why := m.opts.Hands.Refused(m.at(), e.spec()); why != "" {
			m.say(e.Name + ": " + why)
			return nil
		}
	}
	if e.Destructive {
		m.mode = modeName
		m.input.SetValue("")
		return m.input.Focus()
	}
	return m.fire(e, "")
}

// fire makes a fault; what it does is said at once.
func (m *Model) fire(e menuEntry, typed string) tea.Cmd {
	m.say(fmt.Sprintf("%s: %s (%s)", e.Name, e.Does, e.lasts()))
	reader, hands := m.at(), m.opts.Hands
	return func() tea.Msg {
		if err := hands.Fire(reader, e.spec(), typed); err != nil {
			return doneMsg{err: err}
		}
		return nil
	}
}

// target is what a destructive fault destroys.
func (m *Model) target() string {
	if m.opts.Hands.Target == nil {
		return ""
	}
	return m.opts.Hands.Target(m.at())
}

// typeName takes a key of the name that a destructive fault asks for.
func (m *Model) typeName(k tea.KeyMsg) tea.Cmd {
	e := m.menu[m.fault]
	switch k.String() {
	case "esc":
		m.say(e.Name + ": not made")
	case "enter":
		typed := strings.TrimSpace(m.input.Value())
		if typed != m.target() {
			m.say(fmt.Sprintf("%s: not made: %q is not %q", e.Name, typed, m.target()))
			break
		}
		m.mode = modeKeys
		m.input.Blur()
		return m.fire(e, typed)
	default:
		var cmd tea.Cmd
		m.input, cmd = m.input.Update(k)
		return cmd
	}
	m.mode = modeKeys
	m.input.Blur()
	return nil
}

// clear undoes every fault, armed or not.
func (m *Model) clear() tea.Cmd {
	if m.opts.Hands.Clear == nil {
		m.say("no fault is on")
		return nil
	}
	return run(m.opts.Hands.Clear)
}
