package commands

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// Whatever is a page of text fits a terminal of 80 columns; the help is seen to by TestHelp.
func TestTextsFit80Columns(t *testing.T) {
	pages := [][]string{{"chaos", "list"}, {"inject", "--list"}, {"explain"}, {"explain", "--list"}}
	for _, e := range entries() {
		pages = append(pages, []string{"explain", e.Word})
	}
	for _, args := range pages {
		fits(t, strings.Join(args, " "), printed(t, args...))
	}
}

// printed is what a command line that goes well prints.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := Main(t.Context(), args, strings.NewReader(""), &out, &errs, "test"); code != exitGood || out.Len() == 0 || errs.Len() > 0 {
		t.Fatalf("nats-reader %s: exit code %d, %d bytes: %s", strings.Join(args, " "), code, out.Len(), errs.String())
	}
	return out.String()
}

func fits(t *testing.T, name, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if n := utf8.RuneCountInString(line); n > textWidth {
			t.Errorf("%s: a line of %d columns: %q", name, n, line)
		}
		if strings.TrimRight(line, " ") != line {
			t.Errorf("%s: blanks at the end of %q", name, line)
		}
	}
}

// A folded text loses no word and gains none, and a name that is too long stands alone.
func TestFoldKeepsTheWords(t *testing.T) {
	const want = `   --short  says it
   --a-very-long-flag WITH-A-VALUE [ --a-very-long-flag WITH-A-VALUE ]
            says in many words, more than fit a line, what it does to you`
	got := foldRow("--short", "says it", 7) + "\n" +
		foldRow("--a-very-long-flag WITH-A-VALUE [ --a-very-long-flag WITH-A-VALUE ]", "says in many words, more than fit a line, what it does to you", 7)
	if got != want {
		t.Errorf("folded:\n%s\nwant:\n%s", got, want)
	}
}
