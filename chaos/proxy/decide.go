package proxy

import (
	"bytes"
	"encoding/json"
	"time"
)

// verdict is what a filter makes of a frame.
type verdict struct {
	fate Fate
	due  time.Time // of a frame that is held
}

var pass = verdict{fate: Passed}

// filter is an effect that judges single frames, in the direction its entry names.
type filter interface {
	judge(a *applied, f *flow, fr *frame) verdict
}

// decide learns from the frame in hand and asks the faults about it. It is called between two frames.
func (f *flow) decide(fr *frame) Fate {
	f.tally.add(fr)
	if f.dir == Down && fr.message() {
		f.c.know.received(fr, &f.last)
		if len(fr.reply) == 0 {
			fr.request = f.c.know.answered(fr)
		}
	}
	fate, by := f.judge(fr)
	if f.discard && fate == Passed {
		fate = Dropped // there is nobody it could reach
	}
	switch {
	case fate == Dropped:
		f.c.p.meters[f.dir].dropped.add(1, uint64(fr.bytes()))
		if by == nil {
			break
		}
		if f.dir == Up {
			f.c.missing(fr.verb)
		}
		f.c.p.fired(by, f.facts(fr, Dropped))
	case fate == Passed && f.dir == Up:
		if f.c.know.sent(fr) {
			f.c.p.named(f.c)
		}
	case fate == Passed && len(f.parked) > 0 && f.waitsBehind(fr):
		fate = Held
		f.park(fr, nil, time.Time{})
	}
	if tap := f.c.p.options.Tap; tap != nil {
		tap(f.facts(fr, fate))
	}
	return fate
}

// judge asks the faults in the order they were applied; the first that does not let the frame pass decides.
func (f *flow) judge(fr *frame) (Fate, *applied) {
	if fr.verb == OK && f.dir == Down && f.c.surplus.Load() > 0 {
		f.c.surplus.Add(-1)
		return Dropped, nil
	}
	if f.dir == Up && f.c.refusal.Load() != nil {
		if fr.verb == CONNECT {
			f.c.sayRefusal()
		}
		return Dropped, nil
	}
	rules := f.c.p.filters[f.dir].Load()
	if rules == nil {
		return Passed, nil
	}
	for _, a := range *rules {
		if a.over.Load() {
			continue
		}
		v := a.effect.(filter).judge(a, f, fr)
		if v.fate == Held {
			f.park(fr, a, v.due)
		}
		if v.fate != Passed {
			return v.fate, a
		}
	}
	return Passed, nil
}

const tlsRefusal = "the server behind this proxy requires TLS, which the proxy does not speak: use a server without TLS"

// rewritten returns the line to send in place of an INFO that would lead the client past the proxy, or nil.
// An INFO that cannot be read is the client's to judge.
func (f *flow) rewritten(fr *frame) []byte {
	if fr.verb != INFO || f.dir != Down {
		return nil
	}
	object := bytes.TrimSpace(fr.line[len("INFO"):])
	drop := []string{"connect_urls", "ws_connect_urls"}
	var info serverInfo
	if json.Unmarshal(object, &info) == nil && info.TLSRequired {
		// Without these the client answers in the clear and can be told.
		drop = append(drop, "tls_required", "tls_verify")
		f.c.refuse(tlsRefusal)
	}
	stripped, err := stripMembers(object, drop)
	if err != nil || len(stripped) == len(object) {
		return nil
	}
	start := cap(fr.line) - cap(object)
	whole := f.buf[f.r : f.r+fr.head]
	out := append([]byte(nil), whole[:start]...)
	out = append(out, stripped...)
	return append(out, whole[start+len(object):]...)
}

// refuse makes the connection end with text as soon as the client speaks.
func (c *conn) refuse(text string) {
	if c.refusal.CompareAndSwap(nil, &text) {
		c.p.notice(c, text)
	}
}

// sayRefusal ends a connection that was refused: the client gets the reason as the server would say it.
func (c *conn) sayRefusal() {
	text := *c.refusal.Load()
	c.down.put(injection{
		data:  []byte("-ERR '" + text + "'\r\n"),
		facts: Frame{Verb: ERR, Text: text},
		then:  func() { c.cut() },
	})
}
