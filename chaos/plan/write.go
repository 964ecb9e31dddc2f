package plan

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
)

// YAML writes the plan so that Parse reads it back to the same. One plan has one text.
func (p Plan) YAML() ([]byte, error) {
	return yaml.MarshalWithOptions(p, yaml.Indent(2), yaml.IndentSequence(true),
		yaml.CustomMarshaler(func(d time.Duration) ([]byte, error) { return []byte(short(d)), nil }),
		yaml.CustomMarshaler(quoted))
}

// JSON writes the plan as one JSON document with the keys of its YAML; Parse reads it, too.
func (p Plan) JSON() ([]byte, error) {
	text, err := p.YAML()
	if err != nil {
		return nil, err
	}
	return yaml.YAMLToJSON(text)
}

// plainText is what can mean nothing but itself without quotes.
var plainText = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9 .,;()=*>'/_-]*$`)

// otherMeanings are words that some reader of YAML takes for something else.
var otherMeanings = []string{"true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf"}

// quoted writes text as a string of JSON, which is one of YAML, unless it is plain.
func quoted(text string) ([]byte, error) {
	if plainText.MatchString(text) && !strings.HasSuffix(text, " ") && !slices.Contains(otherMeanings, strings.ToLower(text)) {
		return []byte(text), nil
	}
	return json.Marshal(text)
}
