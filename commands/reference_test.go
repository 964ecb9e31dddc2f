package commands

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/reader/doctor"
)

var update = flag.Bool("update", false, "rewrite README.md of this folder from the program")

// reference is every command, flag, event, cause, state, fault, check and exit code as Markdown.
func reference() string {
	var text strings.Builder
	cell := strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`).Replace
	table := func(heads ...string) func(cells ...string) {
		fmt.Fprintf(&text, "\n| %s |\n|%s\n", strings.Join(heads, " | "), strings.Repeat("---|", len(heads)))
		return func(cells ...string) { fmt.Fprintf(&text, "| %s |\n", strings.Join(cells, " | ")) }
	}
	flags := func(g flagGroup) {
		row := table("flag", "does", "where it is not given", "variable")
		for _, f := range g.flags {
			unset, env := f.unset, ""
			if unset != "" {
				unset = cell(unset)
			}
			for _, v := range f.env {
				env += "`" + v + "` "
			}
			row("`"+cell(f.typed())+"`", cell(f.about), unset, strings.TrimSpace(env))
		}
	}
	text.WriteString("# The command line\n\nMade from the program by `go test ./commands -run Reference -update`: what `--help` and `nats-reader explain` tell, on one page.\n")
	shared := map[string]flagGroup{}
	for _, one := range pagesOf(testProgram().app()) {
		title := one.name
		if title == "" {
			title = appName
		}
		fmt.Fprintf(&text, "\n## %s\n\n%s.\n\n```text\n%s\n", title, cell(capital(one.about)), one.synopsis)
		for _, e := range one.examples {
			fmt.Fprintf(&text, "\n# %s\n%s\n", e.about, e.line)
		}
		text.WriteString("```\n")
		var also []string
		for _, g := range one.groups {
			switch g.title {
			case startFlagsCategory, readerFlagsCategory, connectionFlags:
				if len(g.flags) > len(shared[g.title].flags) {
					shared[g.title] = g
				}
				also = append(also, map[string]string{startFlagsCategory: "[start](#start)", readerFlagsCategory: "[the reader](#reader)", connectionFlags: "[the connection](#connection)"}[g.title])
			default:
				flags(g)
			}
		}
		if len(also) > 0 {
			fmt.Fprintf(&text, "\nAnd the flags of %s.\n", strings.Join(also, ", "))
		}
	}
	for _, s := range []struct{ title, of string }{{"Start", startFlagsCategory}, {"Reader", readerFlagsCategory}, {"Connection", connectionFlags}} {
		fmt.Fprintf(&text, "\n## %s\n", s.title)
		flags(shared[s.of])
	}
	for _, s := range []struct {
		title string
		of    topic
	}{{"Events", topicEvent}, {"Causes", topicCause}, {"States", topicState}} {
		fmt.Fprintf(&text, "\n## %s\n", s.title)
		row := table("word", "means", "the reader", "to do")
		for _, e := range entries() {
			if e.Topic == s.of {
				row("`"+e.Word+"`", cell(e.Means), cell(e.Reader), cell(e.Do))
			}
		}
	}
	text.WriteString("\n## Faults\n")
	row := table("fault", "does", "where", "danger", "undo")
	for _, f := range chaos.Faults() {
		name := "`" + f.Name + "`"
		if f.Destructive {
			name += " (destructive)"
		}
		row(name, cell(f.Does), cell(f.Where), cell(f.Danger), cell(f.Undo))
	}
	text.WriteString("\n## Checks\n")
	row = table("check", "finds", "at worst", "to do")
	for _, c := range doctor.Checks() {
		row("`"+c.ID+"`", cell(c.Title), string(c.Severity), cell(c.Do))
	}
	text.WriteString("\n## Exit codes\n")
	row = table("code", "is", "means")
	for _, e := range exitEntries() {
		row(e.Word, e.Text, cell(e.Means))
	}
	return text.String()
}

// The reference is what the program says today.
func TestReferenceIsOfTheProgram(t *testing.T) {
	want := reference()
	if *update {
		if err := os.WriteFile("README.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("README.md")
	if err != nil || string(got) != want {
		t.Errorf("commands/README.md is not what the program tells: go test ./commands -run Reference -update; %v", err)
	}
}

// A flag that a document names is one of the program, and each of the program is named in one.
func TestFlagsOfTheDocuments(t *testing.T) {
	known := map[string]bool{}
	for name := range flagsOf(testProgram().app().Commands) {
		known[name] = true
	}
	var documented strings.Builder
	named := regexp.MustCompile(`(?:^|[\s\x60(/\[|])--([a-z][a-z0-9-]*)`)
	for _, pattern := range []string{"../*.md", "../*/*.md", "../*/*/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			documented.Write(text)
			if base := filepath.Base(file); base == "CONTRIBUTING.md" || base == "SECURITY.md" || base == "ARCHITECTURE.md" || strings.Contains(file, "scripts") {
				continue // of scripts and tools
			}
			for i, line := range strings.Split(string(text), "\n") {
				if regexp.MustCompile(`scripts/|\.ci/run|sha256sum|npm |git |nats plugins|gh |shasum|nats context`).MatchString(line) {
					continue // theirs
				}
				for _, found := range named.FindAllStringSubmatch(line, -1) {
					positive := strings.TrimPrefix(found[1], "no-")
					if !known[found[1]] && !known[positive] {
						t.Errorf("%s:%d: --%s is no flag of the program", file, i+1, found[1])
					}
				}
			}
		}
	}
	for _, one := range pagesOf(testProgram().app()) {
		for _, g := range one.groups {
			for _, f := range g.flags {
				if !regexp.MustCompile(regexp.QuoteMeta(f.names[0]) + "[^a-z0-9-]").MatchString(documented.String()) {
					t.Errorf("%s %s is in no document", typed(one.name), f.names[0])
				}
			}
		}
	}
}

// Every check and every exit code is in the README.
func TestReadmeNamesEveryCheck(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range doctor.Checks() {
		if !strings.Contains(string(text), "`"+c.ID+"`") {
			t.Errorf("the README does not name %s", c.ID)
		}
	}
	for _, e := range exitEntries() {
		if !strings.Contains(string(text), "\n| "+e.Word+" | ") {
			t.Errorf("the README does not tell of exit code %s", e.Word)
		}
	}
}
