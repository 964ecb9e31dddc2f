package tui

import (
	"time"

	"github.com/an-open-reader/nats-reader/reader"
)

// Source says who tells a line.
type Source string

// The sources of lines, in the words of the event pane.
const (
	FromReader Source = "reader" // an event of the reader
	FromFault  Source = "fault"  // a fault that begins, acts or ends
	FromRun    Source = "run"    // the run around the reader: its server, publisher, clean-up
	FromLog    Source = "log"    // what libraries have to say
)

// Item is one thing that the screen is told. What an item does not tell is nil.
type Item struct {
	Time   time.Time
	Reader int    // which of the readers, from 0; -1: of none
	Source Source // with a Line
	Line   string // one line for the event pane; "": none

	Event    *reader.Event
	Snapshot *Snapshot
	Fault    *FaultStep
	Contract *Contract
}

// Snapshot is where a reader stands.
type Snapshot struct {
	Status reader.Status
	Stored time.Time // when the server stored the message that was handed out last, by its clock; zero: not known
	Read   time.Time // when that was
}

// Phases of a fault on the screen.
const (
	FaultFired  = "fired"
	FaultActed  = "acted"
	FaultEnded  = "ended"
	FaultFailed = "failed"
)

// FaultStep tells of a fault.
type FaultStep struct {
	Name  string // in the catalogue
	Fault string // as it prints, without its schedule
	Phase string
	Until time.Time // of FaultFired: when it ends by itself; zero: at the end of the run
	Once  bool      // it acts when it fires, and is over
	Acted int       // of FaultEnded: how often it acted on the wire; negative: not known
	Why   string    // of FaultFailed: the error
}

// Mark is how a promise is kept.
type Mark string

// The marks.
const (
	Kept    Mark = "ok"
	Broken  Mark = "BROKEN"
	Unknown Mark = "unknown"
	Open    Mark = "open" // judged at the end
)

// Promise is one of the contract, with the figure it is judged by.
type Promise struct {
	Mark   Mark   `json:"mark"`
	Words  string `json:"words"`
	Figure string `json:"figure"`
}

// Contract is what became of the contract so far.
type Contract struct {
	Finding  string    `json:"finding"` // held, broken, unknown
	Final    bool      `json:"final"`   // the run is over
	Promises []Promise `json:"promises"`
	Why      []string  `json:"why,omitempty"` // of broken and unknown
	// Deaf is how long the reader may be deaf; 0: not known.
	Deaf time.Duration `json:"deaf_ns,omitempty"`
}
