package result

import (
	"encoding/json"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
)

// Schema is the schema field of a run's JSON.
const Schema = "nats-reader/chaos-run/v1"

// MaxEvents is how many events of the reader a run keeps.
const MaxEvents = 10_000

// Run is one plan run against one target on one server.
type Run struct {
	Schema string `json:"schema"`
	Name   string `json:"name"` // of the plan
	Title  string `json:"title,omitempty"`
	Why    string `json:"why,omitempty"`
	Plan   string `json:"plan,omitempty"` // its text with every draw fixed
	Seed   uint64 `json:"seed"`
	Target string `json:"target"`
	Server Server `json:"server"`
	// Command plays the plan again with its seed: a command line without logins; empty: nobody said it.
	Command string `json:"command,omitempty"`

	Began  time.Time `json:"began"`
	Ended  time.Time `json:"ended"`
	Phases []Phase   `json:"phases,omitempty"`

	Verdict  oracle.Verdict `json:"verdict"`
	Expected oracle.Finding `json:"expected"` // what the plan expects of this target
	Met      bool           `json:"met"`      // the finding is the expected one
	ExitCode int            `json:"exit_code"`
	Error    string         `json:"error,omitempty"` // why the run could not be made, or its target ended

	Faults      []Fault           `json:"faults,omitempty"`
	Sessions    []oracle.Session  `json:"sessions,omitempty"`
	Deaf        []oracle.Span     `json:"deaf,omitempty"`
	Silences    []oracle.Span     `json:"silences,omitempty"`
	Series      oracle.Series     `json:"series"`
	APIRequests map[string]uint64 `json:"api_requests,omitempty"` // by kind
	Notes       []Note            `json:"notes,omitempty"`

	Events        []json.RawMessage `json:"events,omitempty"` // of the reader, as reader.Event's JSON
	EventsDropped uint64            `json:"events_dropped,omitempty"`
}

// Server is what the run was made on.
type Server struct {
	Version  string `json:"version"`
	Nodes    int    `json:"nodes"`
	Replicas int    `json:"replicas"`
	Storage  string `json:"storage"`
	Foreign  bool   `json:"foreign"` // not the lab's
}

// Phase is a part of a run: steady, inject, clear, recover, drain or judge.
type Phase struct {
	Name string    `json:"name"`
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	Text string    `json:"text,omitempty"`
}

// Fault is one fault that fired, or could not. Its recovery is that of the verdict with the same fault and
// time.
type Fault struct {
	Text   string    `json:"text"`  // without its schedule
	Where  string    `json:"where"` // its layer: wire, server, process, reader
	From   time.Time `json:"from"`
	To     time.Time `json:"to"`
	Target string    `json:"target,omitempty"` // what it acted on, as key=value
	Error  string    `json:"error,omitempty"`  // it could not act, or could not be undone
}

// Note is a remark of the run.
type Note struct {
	Time time.Time `json:"time"`
	Text string    `json:"text"`
}
