package proxy

import (
	"strings"
	"time"
)

var forgeStatus = Entry{
	Name:  "forge-status",
	Where: "to the client, on the inbox of pulls",
	Words: "pulls are answered with a status that the server did not send, as it would write it: those that wait when the fault comes, or else the next one; or, with on=pulls, each that comes, which then does not reach the server",
	Undo:  "pulls reach the server and are answered by it; one that was answered while it waited waits on at the server until it ends there",
	Parameters: append([]Parameter{
		{Name: "code", Type: Count, Default: "409", Words: "the code, 100 to 999"},
		{Name: "text", Type: Text, Words: "the description; by default what servers mostly say with the code (409: Consumer Deleted); none for no description"},
		{Name: "headers", Type: Text, Words: "further header lines, such as \"Nats-Pending-Messages: 5\", with a line end between them; by default those that a server of this version sends with the status; none for none (the 503 of 2.11, the 423 of 2.11)"},
		{Name: "on", Type: Word, Default: "waiting", Allowed: []string{"waiting", "pulls"}, Words: "waiting: the pulls that wait, or else the next one, once; pulls: those that come while the fault lasts"},
		{Name: "subject", Type: Subject, Words: "pulls whose subject matches this: after the API prefix (CONSUMER.MSG.NEXT.ORDERS.*), or whole when it begins with $JS."},
	}, countSelection...),
	direction: Up,
	build: func(a *arguments) (effect, error) {
		s := &statusForger{
			selection: newSelection(a), subject: apiPattern{argument[pattern](a, "subject")},
			code: int(min(argument[uint64](a, "code"), 1000)), text: argument[string](a, "text"),
			lines: argument[string](a, "headers"), waiting: argument[string](a, "on") == "waiting",
		}
		if s.code < 100 || s.code > 999 {
			return nil, a.wrong("code", "want 100 to 999")
		}
		switch s.text {
		case "":
			s.text = usualText(s.code)
		case "none":
			s.text = ""
		}
		if strings.ContainsAny(s.text, "\r\n") {
			return nil, a.wrong("text", "a description has no line end")
		}
		return s, s.checkHeaders(a)
	},
}

// statusForger answers pulls with a status.
type statusForger struct {
	*selection
	subject apiPattern
	code    int
	text    string
	lines   string // "": those of the server; none
	waiting bool   // for the pulls that wait, or else the next one
}

func (s *statusForger) checkHeaders(a *arguments) error {
	if s.lines == "" || s.lines == "none" {
		return nil
	}
	for line := range strings.SplitSeq(s.lines, "\n") {
		name, _, ok := strings.Cut(line, ":")
		if !ok || name == "" || strings.ContainsAny(line, "\r") || strings.ContainsAny(name, " \t") {
			return a.wrong("headers", "want lines such as \"Name: value\"")
		}
	}
	return nil
}

// start answers the pulls that wait.
func (s *statusForger) start(a *applied, conns []*conn) {
	if !s.waiting {
		return
	}
	for _, c := range conns {
		if c.state() != open || !c.named(s.conn) {
			continue
		}
		for _, p := range c.know.waitingPulls(time.Now()) {
			if s.means(c, p.subject) && s.fires() {
				s.answer(a, c, p)
			}
		}
	}
}

func (s *statusForger) means(c *conn, subject string) bool {
	operation, ok := apiRequest(subject, c.know.apiPrefix)
	return ok && isPull(operation) && s.subject.matches(subject, operation)
}

// judge answers a pull that comes.
func (s *statusForger) judge(a *applied, f *flow, fr *frame) verdict {
	if !fr.publication() || len(fr.reply) == 0 || !s.covers(f.c, fr) || !s.means(f.c, string(fr.subject)) {
		return pass
	}
	if s.waiting && s.hasFired() {
		return pass
	}
	to := f.c.know.coming(fr, time.Now())
	if len(to) == 0 || !s.fires() {
		return pass
	}
	f.after(func() {
		for _, p := range to {
			s.answer(a, f.c, p)
		}
	})
	if s.code == heartbeatCode {
		return pass // it keeps a pull open, so there must be one
	}
	return verdict{fate: Dropped, told: true}
}

// answer puts the status on the inbox of a pull.
func (s *statusForger) answer(a *applied, c *conn, p waitingPull) {
	m := s.message(&p, c.know.newer)
	if s.code != heartbeatCode {
		c.know.answeredPull(p.sid, p.reply)
	}
	facts := m.facts(p.sid)
	facts.Request = p.pull.subject
	c.down.put(injection{data: m.frame(p.sid), facts: facts, by: a, then: func() { c.delivered(p.sid) }})
}

// message writes the status for a pull, as a server of the version that newer compares sends it.
func (s *statusForger) message(p *waitingPull, newer func(major, minor int) bool) message {
	lines := ""
	switch s.lines {
	case "":
		lines = statusHeaders(s.code, s.text, p, newer)
	case "none":
	default:
		lines = strings.ReplaceAll(s.lines, "\n", "\r\n") + "\r\n"
	}
	return message{subject: p.reply, headers: statusLine(s.code, s.text) + lines + "\r\n"}
}
