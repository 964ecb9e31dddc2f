package proxy

import (
	"strconv"
	"strings"
)

// message is a message to the client that the proxy makes.
type message struct {
	subject string
	headers string // the whole block, its empty line included; "": none
	payload string

	blankReply bool // it has a reply subject of no letters: two spaces stand before the size
}

// frame writes the message for one subscription as servers do.
func (m message) frame(sid string) []byte {
	var b strings.Builder
	size := strconv.Itoa(len(m.headers) + len(m.payload))
	to := m.subject + " " + sid + " "
	if m.blankReply {
		to += " "
	}
	if m.headers == "" {
		b.WriteString("MSG " + to + size)
	} else {
		b.WriteString("HMSG " + to + strconv.Itoa(len(m.headers)) + " " + size)
	}
	b.WriteString("\r\n" + m.headers + m.payload + "\r\n")
	return []byte(b.String())
}

func (m message) facts(sid string) Frame {
	out := Frame{Verb: MSG, Subject: m.subject, SID: sid, Size: len(m.headers) + len(m.payload)}
	if m.headers != "" {
		out.Verb = HMSG
		code, text := statusOf([]byte(m.headers))
		out.Status, out.Text = code, string(text)
	}
	return out
}

// deliver puts a message on each subscription it reaches. Its facts name the request it answers.
func (c *conn) deliver(m message, request string, by *applied) {
	for _, sid := range c.know.reached(m.subject) {
		facts := m.facts(sid)
		facts.Request = request
		c.down.put(injection{data: m.frame(sid), facts: facts, by: by, then: func() { c.delivered(sid) }})
	}
}

// delivered counts a message that the proxy sent on a subscription. One that the client takes for ended by
// it is ended at the server too.
func (c *conn) delivered(sid string) {
	if c.know.forged(sid) {
		c.putUp(injection{data: []byte("UNSUB " + sid + "\r\n"), facts: Frame{Verb: UNSUB, SID: sid}})
	}
}
