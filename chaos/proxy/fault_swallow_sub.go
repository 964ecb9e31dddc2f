package proxy

import (
	"strings"
	"time"
)

var swallowSub = Entry{
	Name:  "swallow-sub",
	Where: "to the server, SUB",
	Words: "a subscription never reaches the server while the client believes it is there. Without subject or sid: the inboxes of pulls (a SUB in _INBOX. is kept back until its first use shows what it is for; that of requests goes on in time)",
	Undo:  "subscriptions reach the server again, and those that were kept back unused go on; what was swallowed stays so until the client subscribes anew",
	Parameters: append([]Parameter{
		{Name: "subject", Type: Subject, Words: "subscriptions whose subject matches this, pull inbox or not"},
	}, frameSelection...),
	direction: Up,
	build: func(a *arguments) (effect, error) {
		s := &subSwallower{selection: newSelection(a), subject: argument[pattern](a, "subject")}
		s.byUse = s.subject == "" && s.sid == ""
		return s, nil
	},
}

const inboxPrefix = "_INBOX."

type subSwallower struct {
	*selection
	subject pattern
	byUse   bool // the first use of an inbox decides
}

func (s *subSwallower) judge(a *applied, f *flow, fr *frame) verdict {
	switch {
	case fr.verb == SUB && !s.byUse:
		if s.covers(f.c, fr) && s.subject.matches(string(fr.subject)) && s.fires() {
			return verdict{fate: Dropped}
		}
	case fr.verb == SUB:
		if s.covers(f.c, fr) && strings.HasPrefix(string(fr.subject), inboxPrefix) && !s.spent() {
			return s.keep()
		}
	case fr.verb == UNSUB && s.byUse:
		if f.holds(a, func(p *parked) bool { return p.order == string(fr.sid) }) {
			return s.keep() // it stays behind its SUB
		}
	case fr.publication() && s.byUse && len(fr.reply) > 0:
		s.used(a, f, fr)
	}
	return pass
}

func (s *subSwallower) keep() verdict {
	return verdict{fate: Held, due: time.Now().Add(MaxDuration)}
}

// used decides on the inboxes that are kept back and that the reply subject of a publication reaches.
func (s *subSwallower) used(a *applied, f *flow, fr *frame) {
	reply := string(fr.reply)
	operation, _ := apiRequest(string(fr.subject), f.c.know.apiPrefix)
	reaches := func(p *parked) bool { return p.facts.Verb == SUB && pattern(p.facts.Subject).matches(reply) }
	for f.holds(a, reaches) {
		sid := f.first(a, reaches).order
		if isPull(operation) && s.fires() {
			f.c.know.lost(sid)
			f.drop(a, sid)
			continue
		}
		f.free(sid)
	}
}

// expire lets go what was kept back for longer than any fault lasts.
func (s *subSwallower) expire(*applied, *parked) bool { return false }
