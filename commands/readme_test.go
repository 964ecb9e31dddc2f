package commands

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/an-open-reader/nats-reader/chaos/plan"
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

// What the README shows of a run is what the command line above it prints.
func TestReadmeTranscript(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), "| grep -E '")
	pattern, after, closed := strings.Cut(after, "'\n```\n\n```\n")
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
