package commands

import (
	"encoding/json"
	"strings"
)

// of gives a printer whose lines say which reader they tell of; without a name it is the printer itself.
func (p *printer) of(name string) *printer {
	if name == "" {
		return p
	}
	said := func(b []byte) (int, error) {
		text := strings.TrimSuffix(string(b), "\n")
		if p.json {
			quoted := jsonText(name)
			p.print(`{"reader":` + string(quoted) + "," + strings.TrimPrefix(text, "{"))
			return len(b), nil
		}
		at, rest, _ := strings.Cut(text, " ")
		p.print(at + " " + name + ": " + rest)
		return len(b), nil
	}
	return &printer{json: p.json, bare: p.bare, out: writerFunc(said), gone: func() {}}
}

// of gives a recorder whose lines say which reader they tell of.
func (r *recorder) of(name string) *recorder {
	if name == "" {
		return r
	}
	return &recorder{printer: r.printer.of(name), file: r.file}
}

// jsonText is a text as JSON.
func jsonText(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		return []byte(`""`) // a text always marshals
	}
	return b
}
