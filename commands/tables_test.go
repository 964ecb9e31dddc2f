package commands

import (
	"os"
	"strings"
	"testing"

	pretty "github.com/jedib0t/go-pretty/v6/table"
)

func TestTableSchemes(t *testing.T) {
	draw := func(scheme string, colored bool) string {
		w := pretty.NewWriter()
		w.AppendHeader(pretty.Row{"stream"})
		w.AppendRow(pretty.Row{"ORDERS"})
		w.SetStyle(inScheme(fleetStyle(), scheme, colored))
		return w.Render()
	}
	if plain := draw("", true); strings.ContainsAny(plain, "╭╔\x1b") {
		t.Errorf("without a scheme there are lines:\n%s", plain)
	}
	if double := draw("double", true); !strings.Contains(double, "╔") {
		t.Errorf("double:\n%s", double)
	}
	for _, scheme := range tableSchemes() {
		if scheme == schemeDouble {
			continue
		}
		_, isColor := tableColors[scheme]
		for _, colored := range []bool{false, true} {
			if got := draw(scheme, colored); !strings.Contains(got, "╭") || strings.Contains(got, "\x1b[") != (isColor && colored) {
				t.Errorf("%s, colours %t:\n%q", scheme, colored, got)
			}
		}
	}
}

// The README's table of connecting has each flag with its variable and its field.
func TestReadmeConnecting(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Connecting\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := map[string]string{}
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) < 5 {
			continue
		}
		for name := range strings.SplitSeq(cells[1], ",") {
			rows[strings.Trim(strings.TrimSpace(name), "`")] = line
		}
	}
	for _, w := range world {
		row := rows["--"+w.name]
		if row == "" {
			t.Errorf("--%s is not in the table", w.name)
		}
		for _, word := range []string{w.env, w.field} {
			if word != "" && !strings.Contains(row, "`"+word+"`") {
				t.Errorf("--%s: %s is not in %s", w.name, word, row)
			}
		}
	}
	for name, field := range contextFields {
		if row := rows["--"+name]; !strings.Contains(row, "`"+field+"`") {
			t.Errorf("--%s: %s is not in %q", name, field, row)
		}
	}
}
