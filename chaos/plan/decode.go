package plan

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// wrong tells a problem at a node.
func (d *decoder) wrong(n ast.Node, path, format string, args ...any) {
	d.tell(n, Problem{Path: path, Text: fmt.Sprintf(format, args...)})
}

func (d *decoder) tell(n ast.Node, p Problem) {
	at := startOf(n)
	p.Line, p.Column = at.line, at.column
	d.problems = append(d.problems, p)
}

// startOf is where a node begins: of a mapping, its first key.
func startOf(n ast.Node) place {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		n = m.Values[0].Key
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		return place{t.Position.Line, max(t.Position.Column, 1)}
	}
	return place{1, 1}
}

// mappingOf gives the entries of a mapping.
func mappingOf(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch m := n.(type) {
	case *ast.MappingNode:
		return m.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}, true
	}
	return nil, false
}

// kindOf names what a node is, for errors.
func kindOf(n ast.Node) string {
	switch n := n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "nothing"
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode, *ast.MergeKeyNode:
		return "an anchor, alias or tag"
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.StringNode, *ast.InfinityNode, *ast.NanNode:
		return strconv.Quote(cut(n.GetToken().Value))
	case *ast.LiteralNode:
		return strconv.Quote(cut(n.Value.Value))
	}
	return "this"
}

// cut keeps what is quoted in an error short.
func cut(text string) string {
	const longest = 60
	if len(text) > longest {
		return strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return text
}

// value reads a node into v, or tells why it cannot.
func (d *decoder) value(n ast.Node, v reflect.Value, path string, r rule) {
	d.places[path] = startOf(n)
	switch t := v.Type(); {
	case t == durationType:
		d.duration(n, v, path, r)
	case t == whenType:
		d.when(n, v.Addr().Interface().(*When), path)
	case t.Kind() == reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		d.value(n, v.Elem(), path, r)
	case t.Kind() == reflect.Struct:
		d.mapping(n, v, path)
	case t.Kind() == reflect.Map:
		d.entries(n, v, path)
	case t.Kind() == reflect.Slice:
		d.list(n, v, path, r)
	default:
		d.scalar(n, v, path, r)
	}
}

// mapping reads the keys of a struct.
func (d *decoder) mapping(n ast.Node, v reflect.Value, path string) {
	entries, found := mappingOf(n)
	fields := fieldsOf(v.Type())
	if !found {
		d.tell(n, Problem{Path: path, Text: "want a mapping, not " + kindOf(n), Allowed: namesOf(fields)})
		return
	}
	given := map[string]bool{}
	for _, e := range entries {
		name, ok := d.key(e, path)
		if !ok {
			continue
		}
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		if i < 0 {
			allowed := namesOf(fields)
			d.tell(e.Key, Problem{
				Path: join(path, name), Text: "no such key", Allowed: allowed, Near: proxy.Nearest(name, allowed),
			})
			continue
		}
		given[name] = true
		d.value(e.Value, v.Field(fields[i].index), join(path, name), fields[i].rule)
	}
	for _, f := range fields {
		if f.need && !given[f.name] {
			d.wrong(n, path, "%s is missing", f.name)
		}
	}
}

// key is the text of an entry's key.
func (d *decoder) key(e *ast.MappingValueNode, path string) (string, bool) {
	switch k := e.Key.(type) {
	case *ast.StringNode:
		return k.Value, true
	case *ast.MergeKeyNode:
		d.wrong(e.Key, path, "a plan has no merge keys: write the keys out")
	default:
		d.wrong(e.Key, path, "%s is no key: a key is a plain word", kindOf(e.Key))
	}
	return "", false
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// entries reads a mapping with keys of the author's.
func (d *decoder) entries(n ast.Node, v reflect.Value, path string) {
	entries, found := mappingOf(n)
	if !found {
		d.wrong(n, path, "want a mapping of targets to findings, not %s", kindOf(n))
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for _, e := range entries {
		name, ok := d.key(e, path)
		if !ok {
			continue
		}
		value := reflect.New(v.Type().Elem()).Elem()
		d.value(e.Value, value, join(path, name), rule{one: findings()})
		v.SetMapIndex(reflect.ValueOf(name), value)
	}
}

func (d *decoder) list(n ast.Node, v reflect.Value, path string, r rule) {
	s, found := n.(*ast.SequenceNode)
	if !found {
		d.wrong(n, path, "want a list, not %s: write [%s], or lines that begin with -", kindOf(n), "…")
		return
	}
	if len(s.Values) == 0 {
		return // as if it were left out
	}
	v.Set(reflect.MakeSlice(v.Type(), len(s.Values), len(s.Values)))
	r.need = false
	for i, one := range s.Values {
		d.value(one, v.Index(i), path+"["+strconv.Itoa(i)+"]", r)
	}
}

func (d *decoder) scalar(n ast.Node, v reflect.Value, path string, r rule) {
	switch v.Kind() {
	case reflect.String:
		text, found := textOf(n)
		switch {
		case !found && isNumber(n):
			d.wrong(n, path, "want text, not %s: write it in quotes", kindOf(n))
		case !found:
			d.wrong(n, path, "want text, not %s", kindOf(n))
		case r.one != nil && !slices.Contains(r.one, text):
			d.tell(n, notOneOf(path, strconv.Quote(cut(text))+" is none of the words", text, r.one))
		default:
			v.SetString(text)
		}
	case reflect.Bool:
		b, found := n.(*ast.BoolNode)
		if !found {
			d.tell(n, Problem{Path: path, Text: "want true or false, not " + kindOf(n)})
			return
		}
		v.SetBool(b.Value)
	default:
		d.number(n, v, path, r)
	}
}

func textOf(n ast.Node) (string, bool) {
	switch s := n.(type) {
	case *ast.StringNode:
		return s.Value, true
	case *ast.LiteralNode:
		return s.Value.Value, true
	}
	return "", false
}

func isNumber(n ast.Node) bool {
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return true
	}
	return false
}

// number reads a whole number that is not negative.
func (d *decoder) number(n ast.Node, v reflect.Value, path string, r rule) {
	want := "want a whole number from " + strconv.FormatInt(r.least, 10)
	if r.most > 0 {
		want += " to " + strconv.FormatInt(r.most, 10)
	}
	whole, found := n.(*ast.IntegerNode)
	if !found {
		d.wrong(n, path, "%s, not %s", want, kindOf(n))
		return
	}
	u, positive := whole.Value.(uint64)
	switch {
	case !positive || u < uint64(r.least) || r.most > 0 && u > uint64(r.most),
		v.CanInt() && (u > 1<<62 || v.OverflowInt(int64(u))): //nolint:gosec // bounded just before
		d.wrong(n, path, "%s, not %s", want, kindOf(n))
	case v.CanInt():
		v.SetInt(int64(u)) //nolint:gosec // bounded above
	default:
		v.SetUint(u)
	}
}

// duration reads a length of time that is not negative.
func (d *decoder) duration(n ast.Node, v reflect.Value, path string, r rule) {
	text, found := textOf(n)
	length, err := time.ParseDuration(text)
	if found && err == nil && length >= 0 && length <= proxy.MaxDuration && (length > 0 || !r.above) {
		v.SetInt(int64(length))
		return
	}
	want := "want a duration such as 500ms, 5s or 2m, at most 1000h"
	if r.above {
		want = "want a duration above 0 such as 500ms, 5s or 2m, at most 1000h"
	}
	d.wrong(n, path, "%s, not %s", want, kindOf(n))
}
