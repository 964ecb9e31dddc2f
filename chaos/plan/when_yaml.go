package plan

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// whenKeys is a When as it is written: a mapping with one of the kinds as its key.
type whenKeys struct {
	At        *time.Duration `yaml:"at,omitempty"`
	Session   *uint64        `yaml:"session,omitempty" least:"1"`
	Heartbeat *uint64        `yaml:"heartbeat,omitempty" least:"1"`
	Sequence  *uint64        `yaml:"sequence,omitempty" least:"1"`
	Quiet     *uint64        `yaml:"quiet,omitempty" least:"1"`
	Random    *whenSpan      `yaml:"random,flow,omitempty"`
	After     time.Duration  `yaml:"after,omitempty"`
}

type whenSpan struct {
	From time.Duration `yaml:"from" need:"true"`
	To   time.Duration `yaml:"to" need:"true" above:"0"`
}

// whenKinds are the keys of which one must be there.
func whenKinds() []string {
	return []string{string(At), string(Session), string(Heartbeat), string(Sequence), string(Quiet), string(Drawn)}
}

// when reads the moment of a step.
func (d *decoder) when(n ast.Node, w *When, path string) {
	entries, found := mappingOf(n)
	if !found {
		d.tell(n, Problem{Path: path, Text: "want a mapping such as {at: 5s}, not " + kindOf(n), Allowed: append(whenKinds(), "after")})
		return
	}
	var given []string
	for _, e := range entries {
		if name := e.Key.GetToken().Value; slices.Contains(whenKinds(), name) {
			given = append(given, name)
		}
	}
	var keys whenKeys
	before := len(d.problems)
	d.mapping(n, reflect.ValueOf(&keys).Elem(), path)
	switch {
	case len(d.problems) > before:
	case len(given) == 0:
		d.tell(n, Problem{Path: path, Text: "no moment is named", Allowed: whenKinds()})
	case len(given) > 1:
		d.wrong(n, path, "%s exclude each other: a step has one moment", strings.Join(given, " and "))
	default:
		*w = keys.when()
		d.places[path] = startOf(n)
	}
}

func (k whenKeys) when() When {
	w := When{After: k.After}
	number := func(kind WhenKind, n *uint64) {
		if n != nil {
			w.Kind, w.Number = kind, *n
		}
	}
	number(Session, k.Session)
	number(Heartbeat, k.Heartbeat)
	number(Sequence, k.Sequence)
	number(Quiet, k.Quiet)
	switch {
	case k.At != nil:
		w.Kind, w.Time = At, *k.At
	case k.Random != nil:
		w.Kind, w.Time, w.Until = Drawn, k.Random.From, k.Random.To
	}
	return w
}

// MarshalYAML writes the moment as it is read.
func (w When) MarshalYAML() (any, error) {
	k := whenKeys{After: w.After}
	switch w.Kind {
	case At:
		k.At = &w.Time
	case Session:
		k.Session = &w.Number
	case Heartbeat:
		k.Heartbeat = &w.Number
	case Sequence:
		k.Sequence = &w.Number
	case Quiet:
		k.Quiet = &w.Number
	case Drawn:
		k.Random = &whenSpan{w.Time, w.Until}
	}
	return k, nil
}
