package plan

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/target"
)

// SchemaURL is where the JSON schema of a plan is published: the name that editors know
// it by.
const SchemaURL = "https://raw.githubusercontent.com/an-open-reader/nats-reader/main/chaos/plan/plan.schema.json"

// Schema is the JSON schema of a plan (draft 2020-12), for editors. It knows less than
// Validate: the parameters of faults, and what does not go together.
func Schema() []byte {
	root := object(reflect.TypeFor[Plan](), "")
	root = append([]member{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"$id", SchemaURL},
		{"title", "A plan of nats-reader chaos"},
	}, root...)
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	encoder.Encode(schema(root)) //nolint:errcheck // what it holds always encodes
	return out.Bytes()
}

// member is one key of a schema; schema is its keys in order.
type member struct {
	key   string
	value any
}

type schema []member

// MarshalJSON keeps the order of the keys.
func (s schema) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, m := range s {
		if i > 0 {
			out.WriteByte(',')
		}
		key, _ := json.Marshal(m.key)
		out.Write(key)
		out.WriteByte(':')
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(m.value); err != nil {
			return nil, err
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// The patterns of text with a form of its own.
const (
	durationPattern = `^([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))*$|^\+?0$`
	wordPattern     = `^[a-z0-9]+(-[a-z0-9]+)*$`
)

// object is the schema of a struct; path is where it stands in a plan.
func object(t reflect.Type, path string) schema {
	var properties schema
	var need []string
	for _, f := range fieldsOf(t) {
		at := join(path, f.name)
		properties = append(properties, member{f.name, described(valueSchema(f.typ, f.rule, at), at)})
		if f.need {
			need = append(need, f.name)
		}
	}
	s := schema{{"type", "object"}, {"additionalProperties", false}, {"properties", properties}}
	if need != nil {
		s = append(s, member{"required", need})
	}
	return s
}

// described puts the words of a field before its schema.
func described(s schema, path string) schema {
	return append(schema{{"description", fieldWords[path]}}, s...)
}

func valueSchema(t reflect.Type, r rule, path string) schema {
	switch {
	case t == durationType:
		return schema{{"type", "string"}, {"pattern", durationPattern}}
	case t == whenType:
		s := object(reflect.TypeFor[whenKeys](), path)
		var one []schema
		for _, kind := range whenKinds() {
			one = append(one, schema{{"required", []string{kind}}})
		}
		return append(s, member{"oneOf", one})
	case t.Kind() == reflect.Pointer:
		return valueSchema(t.Elem(), r, path)
	case t.Kind() == reflect.Struct:
		return object(t, path)
	case t.Kind() == reflect.Map:
		return schema{
			{"type", "object"}, {"propertyNames", schema{{"enum", targetNames()}}},
			{"additionalProperties", schema{{"enum", findings()}}},
		}
	case t.Kind() == reflect.Slice:
		return schema{{"type", "array"}, {"items", valueSchema(t.Elem(), r, path)}}
	case t.Kind() == reflect.String:
		return textSchema(r, path)
	case t.Kind() == reflect.Bool:
		return schema{{"type", "boolean"}}
	default:
		s := schema{{"type", "integer"}, {"minimum", r.least}}
		if r.most > 0 {
			s = append(s, member{"maximum", r.most})
		}
		return s
	}
}

// textSchema is the schema of a text by its words, or by where it stands.
func textSchema(r rule, path string) schema {
	s := schema{{"type", "string"}}
	switch {
	case r.one != nil:
		return append(s, member{"enum", r.one})
	case path == "schema":
		return append(s, member{"const", SchemaName})
	case path == "name", path == "tags":
		return append(s, member{"pattern", wordPattern}, member{"maxLength", longestWord})
	case path == "target.name":
		return schema{{"anyOf", []schema{
			{{"enum", target.Names()}},
			{{"type", "string"}, {"pattern", `^\s*(` + strings.Join(target.Names(), "|") + `)\s*\(`}},
			{{"type", "string"}, {"pattern", "^" + execPrefix + `\s*\S`}},
		}}}
	case strings.HasSuffix(path, ".fault"):
		return schema{{"anyOf", []schema{
			{{"enum", faultNames()}}, {{"type", "string"}, {"pattern", `^\s*(` + strings.Join(faultNames(), "|") + `)\s*\(`}},
		}}}
	}
	return s
}

func faultNames() []string { return slices.Clone(chaos.FaultNames()) }
