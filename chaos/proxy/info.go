package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// serverInfo is the part of a server's INFO that the proxy needs.
type serverInfo struct {
	TLSRequired bool `json:"tls_required"`
}

// stripMembers removes the named members from a JSON object. All else stays byte for byte. It returns
// object itself when it has none of them.
func stripMembers(object []byte, names []string) ([]byte, error) {
	if !slices.ContainsFunc(names, func(n string) bool { return bytes.Contains(object, []byte(n)) }) {
		return object, nil
	}
	members, err := splitObject(object)
	if err != nil {
		return nil, err
	}
	kept := make([][]byte, 0, len(members))
	for _, m := range members {
		if !slices.Contains(names, m.name) {
			kept = append(kept, m.text)
		}
	}
	if len(kept) == len(members) {
		return object, nil
	}
	out := append([]byte{'{'}, bytes.Join(kept, []byte{','})...)
	return append(out, '}'), nil
}

type member struct {
	name string
	text []byte // everything between the separators
}

// splitObject cuts a JSON object at the separators of its own members.
func splitObject(object []byte) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(object))
	open, err := dec.Token()
	if err != nil {
		return nil, fmt.Errorf("read INFO: %w", err)
	}
	if open != json.Delim('{') {
		return nil, fmt.Errorf("read INFO: %v where an object was expected", open)
	}
	var members []member
	start := dec.InputOffset()
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("read INFO: %w", err)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, fmt.Errorf("read INFO: %w", err)
		}
		end := dec.InputOffset()
		text := object[start:end]
		if n := len(members); n > 0 {
			// Only white space stands between a value and the comma after it.
			comma := bytes.IndexByte(text, ',')
			members[n-1].text = object[start-int64(len(members[n-1].text)) : start+int64(comma)]
			text = text[comma+1:]
		}
		name, _ := key.(string)
		members = append(members, member{name: name, text: text})
		start = end
	}
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("read INFO: %w", err)
	}
	end := dec.InputOffset()
	if end != int64(len(object)) {
		return nil, fmt.Errorf("read INFO: %q follows the object", excerpt(object[end:]))
	}
	if n := len(members); n > 0 {
		members[n-1].text = object[start-int64(len(members[n-1].text)) : end-1]
	}
	return members, nil
}
