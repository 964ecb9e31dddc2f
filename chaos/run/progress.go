package run

import (
	"time"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/reader"
)

// Progress is one thing that a run tells while it lasts: a phase that has begun, a step
// of a fault, an event of the reader, a remark, or figures.
type Progress struct {
	Time    time.Time
	Plan    string // its name
	Target  string
	Phase   Phase // the one that is running
	Begins  bool  // the phase has just begun
	Text    string
	Fault   *chaos.Firing // nil: it is not about a fault
	Acted   int           // of a fault that ended: how often it acted on the wire; -1: that says nothing
	Event   *reader.Event // nil: it is not about the reader
	Figures *Figures      // nil: they are not told
}

// Figures are how far a run is.
type Figures struct {
	Acknowledged uint64 // ids that the server stored
	Read         uint64 // messages that the target handed out
	Faults       int    // that have come
	Steps        int    // of the plan
}

// Phase is a part of a run.
type Phase string

// The phases, in their order.
const (
	Prepare Phase = "prepare"
	Steady  Phase = "steady"
	Inject  Phase = "inject"
	Clear   Phase = "clear"
	Recover Phase = "recover"
	Drain   Phase = "drain"
	Judge   Phase = "judge"
)

// Phases lists them in their order.
func Phases() []Phase { return []Phase{Prepare, Steady, Inject, Clear, Recover, Drain, Judge} }

// figuresEvery is how often the figures are told.
const figuresEvery = time.Second
