package proxy

import (
	"bytes"
	"encoding/json"
	"time"
)

// verdict is what a filter makes of a frame.
type verdict struct {
	fate     Fate
	answered bool      // of a dropped frame of the client: the fault answers it, so no +OK is made up
	told     bool      // of a dropped frame: what the fault puts in its place is the firing
	twice    bool      // of a frame that passes: a copy of it follows
	due      time.Time // of a frame that is held
	fires    bool      // of a frame that is held: to hold it is what the fault does
	loose    bool      // of a frame that is held: what follows on its subscription overtakes it

	overtakers uint64 // of a frame that is held: how many are to overtake it
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
	v, by := f.judge(fr)
	if f.discard && v.fate == Passed {
		v = verdict{fate: Dropped} // there is nobody it could reach
		by = nil
	}
	switch {
	case v.fate == Dropped:
		f.c.p.meters[f.dir].dropped.add(1, uint64(fr.bytes()))
		if by != nil {
			f.took(fr, v, by)
		}
	case v.fate == Held:
		f.park(fr, v, by)
		if v.fires {
			f.c.p.fired(by, f.facts(fr, Held))
		}
		if f.dir == Up {
			f.c.know.sent(fr) // the client goes by it from here on
		}
	case f.dir == Up:
		if f.c.know.sent(fr) {
			f.c.p.named(f.c)
		}
	case len(f.parked) > 0 && f.waitsBehind(fr):
		v.fate = Held
		f.park(fr, v, nil)
	}
	if v.twice {
		f.repeat(fr, v.fate, by)
	}
	if tap := f.c.p.options.Tap; tap != nil {
		tap(f.facts(fr, v.fate))
	}
	for _, act := range f.afterwards {
		act()
	}
	clear(f.afterwards)
	f.afterwards = f.afterwards[:0]
	return v.fate
}

// after has something done once the frame in hand is decided on and told of: an answer to it must not be
// there first.
func (f *flow) after(act func()) { f.afterwards = append(f.afterwards, act) }

// took records that a fault dropped a frame.
func (f *flow) took(fr *frame, v verdict, by *applied) {
	if f.dir == Up {
		if fr.verb == SUB {
			f.c.know.withheld(fr)
		}
		if !v.answered {
			f.c.missing(fr.verb)
		}
	}
	if !v.told {
		f.c.p.fired(by, f.facts(fr, Dropped))
	}
}

// judge asks the faults in the order they were applied; the first that does something to the frame decides.
func (f *flow) judge(fr *frame) (verdict, *applied) {
	if fr.verb == OK && f.dir == Down && f.c.surplus.Load() > 0 {
		f.c.surplus.Add(-1)
		return verdict{fate: Dropped}, nil
	}
	if f.dir == Up && f.c.refusal.Load() != nil {
		if fr.verb == CONNECT {
			f.c.sayRefusal()
		}
		return verdict{fate: Dropped}, nil
	}
	rules := f.c.p.filters[f.dir].Load()
	if rules == nil {
		return pass, nil
	}
	for _, a := range *rules {
		if a.over.Load() {
			continue
		}
		if v := a.effect.(filter).judge(a, f, fr); v != pass {
			return v, a
		}
	}
	return pass, nil
}

const tlsRefusal = "the server behind this proxy requires TLS, which the proxy was not told of: give it as tls://host:port"

// rewritten returns the line to send in place of an INFO that would lead the client past the proxy, or nil.
// An INFO that cannot be read is the client's to judge.
func (f *flow) rewritten(fr *frame) []byte {
	if fr.verb != INFO || f.dir != Down {
		return nil
	}
	object := bytes.TrimSpace(fr.line[len("INFO"):])
	var info serverInfo
	if json.Unmarshal(object, &info) == nil {
		f.c.know.informed(object, info)
	}
	if !secured(f.c.server) && info.TLSRequired {
		// The client gets an INFO without TLS, answers in the clear and can be told.
		f.c.refuse(tlsRefusal)
	}
	stripped := f.c.p.forClients(object)
	if bytes.Equal(stripped, object) {
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
