package plan

import (
	"time"

	"github.com/goccy/go-yaml"
)

// YAML writes the plan so that Parse reads it back to the same. One plan has one text.
func (p Plan) YAML() ([]byte, error) {
	return yaml.MarshalWithOptions(p, yaml.Indent(2), yaml.IndentSequence(true), yaml.UseLiteralStyleIfMultiline(true),
		yaml.CustomMarshaler(func(d time.Duration) ([]byte, error) { return []byte(short(d)), nil }))
}

// JSON writes the plan as one JSON document with the keys of its YAML; Parse reads it, too.
func (p Plan) JSON() ([]byte, error) {
	text, err := p.YAML()
	if err != nil {
		return nil, err
	}
	return yaml.YAMLToJSON(text)
}
