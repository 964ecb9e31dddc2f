package mutants

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const (
	rules    = "../.."              // package session
	variable = "NATS_READER_MUTANT" // names the mutant of a run
)

// source gives a file of package session.
func source(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(rules, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// place gives the mutant whose texts hold the place of the i-th, and the word for it.
func place(i int) (at *mutant, word string) {
	if mutants[i].new == "" {
		return &mutants[i-1], "MUTANT2"
	}
	return &mutants[i], "MUTANT"
}

// TestMutantsFit: each mutant's text is in its file once, each rule has a mutant, and
// no two have one name.
func TestMutantsFit(t *testing.T) {
	of, ids := map[int]int{}, map[string]bool{}
	for i, m := range mutants {
		at, word := place(i)
		if n := strings.Count(source(t, at.file), at.old); n != 1 {
			t.Errorf("%s: its text is in %s %d times: adapt the table to the rule\n%s", m.id, at.file, n, at.old)
		}
		if !regexp.MustCompile(`\b` + word + `\b`).MatchString(at.new) {
			t.Errorf("%s: %s is not in its new text", m.id, word)
		}
		if ids[m.id] {
			t.Errorf("%s: two mutants of one name", m.id)
		}
		ids[m.id] = true
		of[m.rule]++
	}
	for rule := 1; rule <= 18; rule++ {
		if of[rule] == 0 {
			t.Errorf("rule %d has no mutant", rule)
		}
	}
	statusMutants(t)
	overlay(t, t.TempDir())
}

// switches is the file beside the rules that tells which mutant runs.
const switches = `package session

import (
	"os"
	"strconv"
	"strings"
	"time"
)

var mutant = os.Getenv("` + variable + `")

func mutated(id string) bool { return mutant == id }

func when(on bool, n int) int {
	if on {
		return n
	}
	return 0
}

func shorter(on bool, d time.Duration) time.Duration { return time.Duration(when(on, int(d))) }

// mutatedLine is a line of the status table with one of its columns changed.
func mutatedLine(r statusRule) statusRule {
	line := strings.TrimSpace(strconv.Itoa(r.code) + " " + r.text)
	switch {
	case mutated("status in use: " + line):
		r.inUse = map[reaction]reaction{stays: refused, again: refused, soon: again, room: again, gone: again, asks: again, limited: refused, refused: again}[r.inUse]
	case mutated("status unproven: " + line):
		r.proves = !r.proves
	}
	return r
}
`

// statusMutants are those of the status table: each line, on the session in use and on
// one that is not proven yet. A heartbeat of the session in use never comes to the table.
func statusMutants(t *testing.T) (ids []string) {
	t.Helper()
	line := regexp.MustCompile(`(?m)^\t\{(\d{3}), "([^"]*)", \w+, (?:true|false), `)
	for _, found := range line.FindAllStringSubmatch(source(t, "status.go"), -1) {
		name := strings.TrimSpace(found[1] + " " + found[2])
		if name != "100" {
			ids = append(ids, "status in use: "+name)
		}
		ids = append(ids, "status unproven: "+name)
	}
	if len(ids) < 30 {
		t.Fatalf("the status table has %d mutants: read it as it is written now", len(ids))
	}
	return ids
}

// overlay writes every file of package session that a mutant is in, and what go's
// -overlay flag wants to know of them.
func overlay(t *testing.T, dir string) (file string) {
	t.Helper()
	texts := map[string]string{}
	put := func(file, old, text string) {
		if texts[file] == "" {
			texts[file] = source(t, file)
		}
		if strings.Count(texts[file], old) != 1 {
			t.Fatalf("%s: not once there, beside the other mutants: %q", file, old)
		}
		texts[file] = strings.Replace(texts[file], old, text, 1)
	}
	put("status.go", "			return r\n", "			return mutatedLine(r)\n")
	for i, m := range mutants {
		if m.new == "" {
			continue
		}
		text := m.new
		if i+1 < len(mutants) && mutants[i+1].new == "" {
			text = strings.ReplaceAll(text, "MUTANT2", fmt.Sprintf("mutated(%q)", mutants[i+1].id))
		}
		put(m.file, m.old, strings.ReplaceAll(text, "MUTANT", fmt.Sprintf("mutated(%q)", m.id)))
	}
	texts["mutants_overlay.go"] = switches
	replace := map[string]string{}
	for name, text := range texts {
		at := filepath.Join(dir, name)
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		original, err := filepath.Abs(filepath.Join(rules, name))
		if err != nil {
			t.Fatal(err)
		}
		replace[original] = at
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err == nil {
		file = filepath.Join(dir, "overlay.json")
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}
