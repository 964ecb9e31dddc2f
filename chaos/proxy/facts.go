package proxy

import (
	"slices"
	"sync"
	"time"
)

// Fate says what became of a frame in the proxy.
type Fate string

// The fates of a frame. A held frame is told twice: when it is held, and when it is dropped or released.
const (
	Passed   Fate = "passed"
	Dropped  Fate = "dropped"
	Held     Fate = "held"
	Released Fate = "released"
	Injected Fate = "injected" // made by the proxy
)

// Frame holds the facts of one frame. Fields that the verb does not have are zero.
type Frame struct {
	Time      time.Time `json:"time"`
	Conn      uint64    `json:"conn"`             // the number of the connection, from 1
	Client    string    `json:"client,omitempty"` // its name, from CONNECT
	Direction Direction `json:"direction"`
	Verb      Verb      `json:"verb"`
	Subject   string    `json:"subject,omitempty"`
	Reply     string    `json:"reply,omitempty"`
	SID       string    `json:"sid,omitempty"`
	Queue     string    `json:"queue,omitempty"`
	Max       int       `json:"max,omitempty"`    // of an UNSUB
	Status    int       `json:"status,omitempty"` // of a status message
	Text      string    `json:"text,omitempty"`   // of a status, or of a -ERR
	Size      int       `json:"size,omitempty"`   // payload with headers, in bytes
	Bytes     int       `json:"bytes"`            // the whole frame on the wire
	Fate      Fate      `json:"fate"`

	Request string `json:"request,omitempty"` // the subject of the API request this message answers

	Stream           string `json:"stream,omitempty"` // of a JetStream delivery, from its reply subject
	Consumer         string `json:"consumer,omitempty"`
	StreamSequence   uint64 `json:"stream_sequence,omitempty"`
	ConsumerSequence uint64 `json:"consumer_sequence,omitempty"`
}

// facts copies what the frame says.
func (f *flow) facts(fr *frame, fate Fate) Frame {
	name, _ := f.c.know.name()
	out := Frame{
		Time: time.Now(), Conn: f.c.id, Client: name, Direction: f.dir, Verb: fr.verb,
		Subject: string(fr.subject), Reply: string(fr.reply), SID: string(fr.sid), Queue: string(fr.queue),
		Max: fr.max, Size: fr.size, Bytes: fr.bytes(), Fate: fate, Request: fr.request,
	}
	if code, text := statusOf(fr.headers); code != 0 && fr.verb == HMSG {
		out.Status, out.Text = code, string(text)
	}
	if fr.verb == ERR {
		out.Text = string(fr.line[min(len(fr.line), len("-ERR ")):])
	}
	if fr.message() && isAck(fr.reply) {
		if a, ok := parseAck(out.Reply); ok {
			out.Stream, out.Consumer = a.stream, a.consumer
			out.StreamSequence, out.ConsumerSequence = a.streamSequence, a.consumerSequence
		}
	}
	return out
}

// Firing records that a fault did something.
type Firing struct {
	Time  time.Time `json:"time"`
	Fault string    `json:"fault"` // as Fault.String writes it
	ID    uint64    `json:"id"`    // counts the faults applied to this proxy, from 1
	Frame Frame     `json:"frame"` // what it acted on; without a verb where that is a whole connection
}

// maxFirings bounds what Firings returns: the oldest are let go.
const maxFirings = 1 << 16

// record keeps the firings of a proxy in order.
type record struct {
	mu      sync.Mutex
	firings []Firing
}

func (r *record) add(f Firing) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.firings) >= maxFirings {
		r.firings = slices.Delete(r.firings, 0, maxFirings/16)
	}
	r.firings = append(r.firings, f)
}

func (r *record) all() []Firing {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.firings)
}
