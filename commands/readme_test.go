package commands

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/an-open-reader/nats-reader/chaos/plan"
	"github.com/an-open-reader/nats-reader/tui"
)

// The plan that the README shows is one.
func TestReadmePlan(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), "\n```yaml\n")
	shown, _, closed := strings.Cut(after, "```\n")
	if !found || !closed {
		t.Fatal("the README shows no plan")
	}
	if _, err := plan.Parse("README.md", []byte(shown)); err != nil {
		t.Error(err)
	}
}

// The keys that the README tells are those of the screen.
func TestReadmeKeys(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "\n"+tui.KeysMarkdown()+"\n") {
		t.Errorf("the table of keys in README.md is to be\n%s", tui.KeysMarkdown())
	}
}

// What the README shows of a run is what the command line above it prints.
func TestReadmeTranscript(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), "| grep -E '")
	pattern, after, closed := strings.Cut(after, "'\n```\n\n```text\n")
	transcript, _, ended := strings.Cut(after, "\n```\n")
	if !found || !closed || !ended {
		t.Fatal("the README has no command line with grep and a transcript below it")
	}
	kept := regexp.MustCompile(pattern)
	lines := strings.Split(transcript, "\n")
	for _, line := range lines {
		if !kept.MatchString(line) {
			t.Errorf("grep -E '%s' does not keep %q", pattern, line)
		}
	}
	figures := regexp.MustCompile(`^contract held  delivered=\d+ lost=0 duplicated=0 out_of_order=0 sessions=\d+ longest_deaf=\S+ api_requests=\d+ orphans=0$`)
	if last := lines[len(lines)-1]; !figures.MatchString(last) {
		t.Errorf("the last line is %q", last)
	}
}

// Every flag of the chaos commands is in the README, but those that every command has.
func TestReadmeHasTheFlagsOfChaos(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	p := &program{}
	everywhere := map[string]bool{flagJSON: true}
	for _, f := range append(globalFlags(), readerFlags()...) {
		everywhere[f.Names()[0]] = true
	}
	chaos := p.chaosCommand()
	if len(chaos.Subcommands) < 5 {
		t.Fatalf("%d commands", len(chaos.Subcommands))
	}
	for _, c := range chaos.Subcommands {
		if !strings.Contains(string(text), "`chaos "+c.Name) && !strings.Contains(string(text), "nats-reader chaos "+c.Name) {
			t.Errorf("chaos %s is not in the README", c.Name)
		}
		for _, f := range c.Flags {
			if name := f.Names()[0]; !everywhere[name] && !regexp.MustCompile("--"+regexp.QuoteMeta(name)+"[^a-z-]").Match(text) {
				t.Errorf("chaos %s --%s is not in the README", c.Name, name)
			}
		}
	}
}

// The table of the metrics of chaos run is that of the program.
func TestReadmeMetricsOfRuns(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString("\n| metric of `chaos run` | type | says |\n|---|---|---|\n")
	for _, m := range allRunMetrics() {
		name := m.Name
		if own := m.Labels[2:]; len(own) > 0 { // plan and target are common to all
			name += "{" + strings.Join(own, ",") + "}"
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", name, m.Type, m.Help)
	}
	table.WriteString("\n")
	if !strings.Contains(string(text), table.String()) {
		t.Errorf("the table of metrics in README.md is to be%s", table.String())
	}
}
