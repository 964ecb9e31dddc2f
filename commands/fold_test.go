package commands

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/an-open-reader/nats-reader/chaos"
)

// Whatever is a page of text fits a terminal of 80 columns.
func TestTextsFit80Columns(t *testing.T) {
	pages := [][]string{{"--help"}, {"chaos", "list"}, {"inject", "--list"}, {"explain"}}
	for _, c := range []string{"watch", "read", "chaos", "proxy", "inject", "explain", "version"} {
		pages = append(pages, []string{c, "--help"})
	}
	for _, f := range chaos.FaultNames() {
		pages = append(pages, []string{"explain", f})
	}
	for _, e := range entries() {
		pages = append(pages, []string{"explain", e.Word})
	}
	for _, args := range pages {
		var out, errs bytes.Buffer
		if code := Main(t.Context(), args, strings.NewReader(""), &out, &errs, "test"); code != exitGood || out.Len() == 0 {
			t.Fatalf("nats-reader %s: exit code %d, %d bytes: %s", strings.Join(args, " "), code, out.Len(), errs.String())
		}
		for line := range strings.Lines(out.String()) {
			line = strings.TrimSuffix(line, "\n")
			if n := utf8.RuneCountInString(line); n > textWidth {
				t.Errorf("nats-reader %s: a line of %d columns: %q", strings.Join(args, " "), n, line)
			}
		}
	}
}

// What a description shows as a command can be copied: folding would break it in two.
func TestDescriptionsNeedNoFolding(t *testing.T) {
	for _, c := range new(program).app().Commands {
		for line := range strings.Lines(c.Description) {
			if n := 3 + utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > textWidth {
				t.Errorf("%s: a line of %d columns: %q", c.Name, n, line)
			}
		}
	}
}

// A folded text loses no word and gains none.
func TestFoldKeepsTheWords(t *testing.T) {
	const help = `NAME:
   x - what it is

OPTIONS:
   --short        says it
   --a-very-long-flag WITH-A-VALUE [ --a-very-long-flag WITH-A-VALUE ]  says in many words, more than fit a line, what it does to you

   plain prose that is far longer than eighty columns would allow, and so goes on, on the next line
`
	const want = `NAME:
   x - what it is

OPTIONS:
   --short  says it
   --a-very-long-flag WITH-A-VALUE [ --a-very-long-flag WITH-A-VALUE ]
            says in many words, more than fit a line, what it does to you

   plain prose that is far longer than eighty columns would allow, and so goes
   on, on the next line
`
	if got := foldHelp(help); got != want {
		t.Errorf("folded:\n%s\nwant:\n%s", got, want)
	}
}
