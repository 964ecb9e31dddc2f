package commands

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/chaos/proxy/control"
	"github.com/an-open-reader/nats-reader/reader"
)

// The schemas of watch's JSON lines, beside the reader's own for events.
const (
	noteSchema     = "nats-reader/note/v1"
	faultSchema    = "nats-reader/fault/v1"
	progressSchema = "nats-reader/progress/v1"
	summarySchema  = "nats-reader/summary/v1"
)

// printer writes what happens, one line each, from any goroutine.
type printer struct {
	json bool
	bare bool   // faults are told without their schedule: they act at once
	gone func() // called once when nobody reads the lines any more

	mu    sync.Mutex
	out   io.Writer
	ended bool // nothing more is written
}

// print writes one line; the first failure is the last line.
func (p *printer) print(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	if _, err := io.WriteString(p.out, text+"\n"); err != nil {
		p.ended = true
		p.gone()
	}
}

// end makes the line before it the last one, whatever a late event has to say.
func (p *printer) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
}

func (p *printer) plain(at time.Time, l line) { p.print(at.Format(plainTime) + " " + l.String()) }

// document writes one JSON line; what is written is ours and always marshals.
func (p *printer) document(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		b = fmt.Appendf(nil, `{"schema":%q,"text":%q}`, noteSchema, err.Error())
	}
	p.print(string(b))
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func (p *printer) event(e reader.Event) {
	if p.json {
		p.document(e)
		return
	}
	p.print(e.Time.Format(plainTime) + " " + plainEvent(e))
}

// note writes a remark with its facts, as key, value, key, value.
func (p *printer) note(text string, facts ...string) { p.noteAt(time.Now(), text, facts...) }

// noteAt is note of another time.
func (p *printer) noteAt(now time.Time, text string, facts ...string) {
	if p.json {
		doc := map[string]string{"schema": noteSchema, "type": "note", "time": stamp(now), "text": text}
		for i := 0; i+1 < len(facts); i += 2 {
			doc[facts[i]] = redact(facts[i+1])
		}
		p.document(doc)
		return
	}
	p.plain(now, noteLine(text, facts))
}

// noteLine writes a remark with its facts.
func noteLine(text string, facts []string) line {
	l := line{sentence: text}
	for i := 0; i+1 < len(facts); i += 2 {
		l.add(facts[i], redact(facts[i+1]))
	}
	return l
}

type faultJSON struct {
	Schema string       `json:"schema"`
	Type   string       `json:"type"`
	Time   string       `json:"time"`
	ID     uint64       `json:"id,omitempty"` // of a proxy's own
	Fault  string       `json:"fault"`
	Phase  string       `json:"phase"`
	For    string       `json:"for,omitempty"`
	ForNS  int64        `json:"for_ns,omitempty"`
	Target string       `json:"target,omitempty"`
	Took   string       `json:"took,omitempty"`
	TookNS int64        `json:"took_ns,omitempty"`
	Acted  *int         `json:"acted,omitempty"`
	Frame  *proxy.Frame `json:"frame,omitempty"`
	Error  string       `json:"error,omitempty"`
}

// firing writes a step of a fault; acted is how often it acted on the wire so far,
// negative where that says nothing.
func (p *printer) firing(f chaos.Firing, acted int) {
	if p.json {
		fault := f.Spec.String()
		if p.bare {
			fault = f.Spec.Fault()
		}
		j := faultJSON{
			Schema: faultSchema, Type: "fault", Time: stamp(f.Time), Fault: fault, Phase: string(f.Phase), Target: f.Target,
		}
		if f.Took > 0 {
			j.Took, j.TookNS = f.Took.String(), int64(f.Took)
		}
		if acted >= 0 {
			j.Acted = &acted
		}
		if f.Err != nil {
			j.Error = redact(f.Err.Error())
		}
		p.document(j)
		return
	}
	p.plain(f.Time, firingLine(f, acted))
}

// firingLine writes a step of a fault.
func firingLine(f chaos.Firing, acted int) line {
	l := line{sentence: fmt.Sprintf("fault %s %s", f.Spec.Fault(), f.Phase)}
	if f.Target != "" {
		l.fields = append(l.fields, f.Target)
	}
	if acted >= 0 {
		l.add("acted", fmt.Sprint(acted))
	}
	if f.Took >= time.Millisecond {
		l.length("took", f.Took)
	}
	if f.Err != nil {
		l.add("error", redact(f.Err.Error()))
	}
	return l
}

// change writes that a fault of a proxy was put into force, or is over.
func (p *printer) change(c control.Change) {
	phase := chaos.PhaseFired
	if c.Over {
		phase = chaos.PhaseEnded
	}
	if c.Over && c.Fault.Once {
		return // it was over when it had acted
	}
	if p.json {
		p.document(faultJSON{
			Schema: faultSchema, Type: "fault", Time: stamp(c.Time), ID: c.Fault.ID, Fault: c.Fault.Fault, Phase: string(phase),
			For: c.Fault.For, ForNS: c.Fault.ForNS,
		})
		return
	}
	l := line{sentence: fmt.Sprintf("fault %s %s", c.Fault.Fault, phase)}
	l.number("id", c.Fault.ID)
	if !c.Over {
		l.add("for", c.Fault.For)
	}
	p.plain(c.Time, l)
}

// over writes that a fault on somebody's proxy has ended, and how often it acted.
func (p *printer) over(at time.Time, f control.Fault, acted int) {
	if p.json {
		p.document(faultJSON{
			Schema: faultSchema, Type: "fault", Time: stamp(at), ID: f.ID, Fault: f.Fault, Phase: string(chaos.PhaseEnded), Acted: &acted,
		})
		return
	}
	l := line{sentence: fmt.Sprintf("fault %s %s", f.Fault, chaos.PhaseEnded)}
	l.number("id", f.ID)
	l.add("acted", fmt.Sprint(acted))
	p.plain(at, l)
}

// acted writes what a fault did on the wire, with further facts as key, value.
func (p *printer) acted(f proxy.Firing, facts ...string) {
	if p.json {
		p.document(faultJSON{
			Schema: faultSchema, Type: "fault", Time: stamp(f.Time), ID: f.ID, Fault: f.Fault, Phase: "acted", Frame: &f.Frame,
		})
		return
	}
	p.plain(f.Time, actedLine(f, facts))
}

// actedLine writes what a fault did on the wire.
func actedLine(f proxy.Firing, facts []string) line {
	l := line{sentence: "fault " + f.Fault + " acted"}
	l.add("verb", f.Frame.Verb.String())
	l.add("fate", string(f.Frame.Fate))
	l.add("subject", f.Frame.Subject)
	l.add("request", f.Frame.Request)
	l.number("sequence", f.Frame.StreamSequence)
	l.add("sid", f.Frame.SID)
	for i := 0; i+1 < len(facts); i += 2 {
		l.add(facts[i], facts[i+1])
	}
	return l
}

// progress writes how far the reader is.
func (p *printer) progress(at time.Time, s reader.Status, rate float64) {
	if p.json {
		p.document(struct {
			Schema string        `json:"schema"`
			Type   string        `json:"type"`
			Time   string        `json:"time"`
			Rate   float64       `json:"rate"`
			Status reader.Status `json:"status"`
		}{progressSchema, "progress", stamp(at), rate, s})
		return
	}
	p.plain(at, progressLine(s, rate))
}

// progressLine writes how far the reader is.
func progressLine(s reader.Status, rate float64) line {
	l := line{sentence: string(s.State)}
	l.number("position", s.Position)
	l.number("delivered", s.Delivered)
	l.add("rate", fmt.Sprintf("%.0f/s", rate))
	l.number("pending", s.Pending)
	l.number("buffered", uint64(max(s.Buffered, 0)))
	return l
}
