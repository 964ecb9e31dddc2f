package plan

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxText is how long the text of a plan may be.
const maxText = 1 << 20

// Parse reads a plan and checks it as Validate does. file names the text in errors, which
// are Problems: every one that was found, in the order of the text.
func Parse(file string, text []byte) (Plan, error) {
	d := &decoder{places: map[string]place{}}
	p := d.plan(text)
	if len(d.problems) == 0 {
		d.problems = p.problems()
	} else {
		p.checkFaults(&d.problems) // the rest would be judged by what could not be read
	}
	for i := range d.problems {
		one := &d.problems[i]
		one.File = file
		if one.Line == 0 {
			at := d.placeOf(one.Path)
			one.Line, one.Column = at.line, at.column
		}
	}
	slices.SortStableFunc(d.problems, func(a, b Problem) int {
		return cmp.Or(a.Line-b.Line, a.Column-b.Column)
	})
	if err := d.problems.err(); err != nil {
		return Plan{}, err
	}
	return p, nil
}

// place is where a value stands in the text, from 1.
type place struct{ line, column int }

// decoder reads the tree of a text into a Plan, and keeps where each value stands.
type decoder struct {
	problems Problems
	places   map[string]place
}

// placeOf is the place of a field, or of the nearest that holds it.
func (d *decoder) placeOf(path string) place {
	for {
		if at, known := d.places[path]; known {
			return at
		}
		i := strings.LastIndexAny(path, ".[")
		if i < 0 {
			return place{1, 1}
		}
		path = path[:i]
	}
}

func (d *decoder) plan(text []byte) (p Plan) {
	if len(text) > maxText {
		d.problems.add("", "the text has %d bytes, and a plan at most %d", len(text), maxText)
		return p
	}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		d.syntax(err)
		return p
	}
	var bodies []ast.Node
	for _, doc := range file.Docs {
		if doc.Body != nil {
			bodies = append(bodies, doc.Body)
		}
	}
	switch {
	case len(bodies) == 0:
		d.problems.add("", "the text is empty: a plan begins with schema: %s", SchemaName)
		return p
	case len(bodies) > 1:
		d.wrong(bodies[1], "", "a second document: a file holds one plan")
		return p
	}
	if _, found := mappingOf(bodies[0]); !found {
		d.wrong(bodies[0], "", "%s is no plan: a plan is a mapping that begins with schema: %s", kindOf(bodies[0]), SchemaName)
		return p
	}
	d.value(bodies[0], reflect.ValueOf(&p).Elem(), "", rule{})
	return p
}

// syntax tells what is no YAML at all.
func (d *decoder) syntax(err error) {
	var told yaml.Error
	if !errors.As(err, &told) {
		d.problems.add("", "no YAML: %v", err)
		return
	}
	one := Problem{Text: "no YAML: " + told.GetMessage(), Line: 1, Column: 1}
	if strings.Contains(one.Text, "'\t'") { // which nobody sees on a terminal
		one.Text = "no YAML: a tab: indent with blanks"
	}
	if t := told.GetToken(); t != nil && t.Position != nil {
		one.Line, one.Column = t.Position.Line, max(t.Position.Column, 1)
	}
	d.problems = append(d.problems, one)
}
