package proxy

import (
	"slices"
	"time"
)

// Entry describes one fault of the catalogue in words and in its parameters.
type Entry struct {
	Name       string
	Where      string      // where on the wire it acts
	Words      string      // what it does
	Undo       string      // what its end leaves
	Once       bool        // it acts when it is applied and takes no duration
	Parameters []Parameter // without the duration, which every fault but a Once takes as for=10s

	direction Direction // of the frames a filter judges
	build     func(a *arguments) (effect, error)
}

// Parameter describes one parameter of a fault.
type Parameter struct {
	Name    string
	Type    Type
	Default string   // as it would be written; "" says that nothing is set
	Allowed []string // the values of a Word
	Words   string
}

// Type says how the value of a parameter is written.
type Type string

// The types of parameters.
const (
	Subject  Type = "subject"  // a NATS subject, wildcards allowed
	Name     Type = "name"     // a connection name; * stands for any run of characters
	Text     Type = "text"     // any text but an empty one
	Count    Type = "count"    // a whole number from 1
	Duration Type = "duration" // such as 500ms or 10s, above 0
	Bool     Type = "bool"     // true or false
	Word     Type = "word"     // one of the allowed words
)

const durationField = "for"

// The parameters that every fault on single frames has.
var (
	connParameter = Parameter{Name: "conn", Type: Name, Words: "only connections whose CONNECT has this name; * stands for any characters"}
	sidParameter  = Parameter{Name: "sid", Type: Text, Words: "only frames of the subscription with this id"}
	counting      = []Parameter{
		{Name: "nth", Type: Count, Words: "the first matching frame to fire on, counted over all connections from 1"},
		{Name: "every", Type: Count, Words: "fire on each so-many-th matching frame"},
		{Name: "limit", Type: Count, Words: "fire so many times at most"},
	}
	countSelection = append([]Parameter{connParameter}, counting...)               // frames without a sid
	frameSelection = append([]Parameter{connParameter, sidParameter}, counting...) // frames of a subscription
)

// catalogue is the one table of all faults, in the order they are shown.
func catalogue() []*Entry {
	return []*Entry{
		&dropSubscription, &swallowSub,
		&apiTimeout, &loseReply, &apiError, &delayAPI,
		&muteHeartbeats, &dropMessage, &duplicateMessage, &reorderMessages, &dropStatus, &forgeStatus,
		&permissionDenied, &staleConnection, &lameDuck,
		&cutConnection, &resetConnection, &halfOpen, &blackHole, &latency, &bandwidth, &refuse,
	}
}

// Catalogue returns every fault the proxy knows. The caller may change what it gets.
func Catalogue() []Entry {
	var out []Entry
	for _, e := range catalogue() {
		c := *e
		c.Parameters = slices.Clone(e.Parameters)
		out = append(out, c)
	}
	return out
}

// Names returns the names of all faults in the order of the catalogue.
func Names() []string {
	var out []string
	for _, e := range catalogue() {
		out = append(out, e.Name)
	}
	return out
}

func entryNamed(name string) *Entry {
	for _, e := range catalogue() {
		if e.Name == name {
			return e
		}
	}
	return nil
}

func (e *Entry) parameter(name string) *Parameter {
	i := slices.IndexFunc(e.Parameters, func(p Parameter) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &e.Parameters[i]
}

// arguments checks f against the entry and returns the values in their types.
func (e *Entry) arguments(f Fault) (*arguments, error) {
	wrong := func(field, value, problem string, allowed ...string) error {
		return &FaultError{Fault: f.Name, Field: field, Value: value, Problem: problem, Allowed: allowed}
	}
	if e.Once && f.For != 0 {
		return nil, wrong(durationField, f.For.String(), "this fault acts once and takes no duration")
	}
	if f.For < 0 || f.For > MaxDuration {
		return nil, wrong(durationField, f.For.String(), wantLength)
	}
	a := &arguments{fault: f.Name, values: make(map[string]any), given: f.Params}
	for name, value := range f.Params {
		p := e.parameter(name)
		if p == nil {
			var known []string
			for _, p := range e.Parameters {
				known = append(known, p.Name)
			}
			if !e.Once {
				known = append(known, durationField)
			}
			return nil, wrong(name, value, noSuchParameter, known...)
		}
		typed, problem := p.read(value)
		if problem != "" {
			return nil, wrong(name, value, problem, p.Allowed...)
		}
		a.values[name] = typed
	}
	for _, p := range e.Parameters {
		if _, set := a.values[p.Name]; !set && p.Default != "" {
			a.values[p.Name], _ = p.read(p.Default)
		}
	}
	if _, err := e.build(a); err != nil {
		return nil, err
	}
	return a, nil
}

// MaxDuration is the longest that a fault may last or wait: times that are added to the clock stay far from overflow.
const MaxDuration = 1000 * time.Hour

// What is wrong with a fault, where it is said in more than one place.
const (
	noSuchParameter = "no such parameter"
	wantLength      = "want a duration above 0, such as 10s, and at most 1000h"
)
