package tui

import "strings"

// screenWords are the words of the screen that say more than they mean elsewhere.
var screenWords = [][2]string{
	{"session", "one consumer and one inbox subscription, numbered by their proof"},
	{"took", "from the first request for a session to the first answer that proves it"},
	{"deaf", "from the last answer of the old session to the first of the new one"},
	{"missed", "messages that were gone from the stream before their turn"},
	{"dropped", "repeated messages that never reached the caller"},
	{"lag", "from when the server stored a message to when it was handed out, by its clock and ours"},
	{"pending", "messages that wait in the stream, by the server's last word"},
	{"orphan", "a consumer of ours that is left on the server"},
	{"contract", "every stored message once, in order, and never deaf for long"},
}

// stateWords say what the word of the state line means.
var stateWords = [][2]string{
	{"LIVE", "the session answers: messages come, or nothing waits"},
	{"SILENT", "a pull is out, and no answer came for two heartbeats; the server is asked why"},
	{"REPLACING", "the session is gone, and a new one is being made"},
	{"DEAF", "that lasts longer than the contract allows"},
	{"DENIED", "the server refuses a subject that the session needs"},
	{"OPENING", "the first session is not proven yet"},
	{"DISCONNECTED", "the connection is down"},
	{"PAUSED, WAITING FOR ACKS, BUFFER FULL", "an operator, the durable's limit, or the caller holds the reader up"},
	{"CLOSED, FAILED", "the reader has ended: by its caller or at its end, or by an error"},
}

// helpLines are all lines of the help.
func (m *Model) helpLines() []string {
	w := max(m.width, 20)
	var lines []string
	add := func(left, text string, one role) {
		room := max(w-17, 10)
		for i, part := range wrap(text, room) {
			if i > 0 {
				left = ""
			}
			if len(left) > 14 {
				lines = append(lines, "  "+m.look.paint(one, left))
				left = ""
			}
			lines = append(lines, "  "+m.look.paint(one, m.look.fit(left, 14))+" "+part)
		}
	}
	for _, s := range keyMap.sections() {
		lines = append(lines, m.look.paint(roleTitle, " "+s.title))
		for _, k := range s.keys {
			add(k.Help().Key, k.Help().Desc, roleKey)
		}
	}
	for _, part := range []struct {
		title string
		all   [][2]string
	}{{"States", stateWords}, {"Words", screenWords}} {
		lines = append(lines, m.look.paint(roleTitle, " "+part.title))
		for _, word := range part.all {
			add(word[0], word[1], rolePlain)
		}
	}
	lines = append(lines, m.look.paint(roleTitle, " Faults, behind !"))
	for _, e := range m.menu {
		add(e.key+" "+e.Name, e.Does, roleFault)
	}
	return lines
}

// drawHelp puts the help into the rows above the last one.
func (m *Model) drawHelp(rows []string) {
	lines := m.helpLines()
	h := len(rows) - 2
	first := min(m.help, max(len(lines)-h, 0))
	more := ""
	if len(lines)-first > h {
		more = "more: down, pgdown "
	}
	title := " keys and words   any other key: back"
	rows[0] = m.look.paint(roleFocus, m.look.ends(title, more, m.width))
	for i := range h {
		if first+i < len(lines) {
			rows[1+i] = strings.TrimRight(m.look.fit(lines[first+i], m.width), " ")
		}
	}
}
