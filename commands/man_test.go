package commands

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

var (
	// What a page may hold: requests of man(7), and escapes.
	roffRequest = regexp.MustCompile(`^\.(nh|TH|SH|SS|PP|TP|EX|EE|RS|RE|IP|br)( |$)`)
	roffEscape  = regexp.MustCompile(`\\(f[BIPR]|-|e|&|\(\w\w|\[\w+\])`)
	roffRune    = regexp.MustCompile(`\\\[u([0-9A-F]{4,6})\]`)
)

// asRead is a manual page as its reader sees it, a line each; it is refused where it
// holds what no program that shows manual pages knows.
func asRead(t *testing.T, page string) string {
	t.Helper()
	var text strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(page), "\n") {
		if strings.HasPrefix(line, ".") {
			request := roffRequest.FindString(line)
			if request == "" {
				t.Fatalf("line %d: no request of man(7): %s", i+1, line)
			}
			line = strings.TrimPrefix(line, request)
		}
		for _, r := range line {
			if r > unicode.MaxASCII {
				t.Errorf("line %d: %q is not ASCII", i+1, r)
			}
		}
		if rest := roffEscape.ReplaceAllString(line, ""); strings.Contains(rest, `\`) || strings.HasPrefix(line, "'") {
			t.Errorf("line %d: an escape that is none: %s", i+1, line)
		}
		line = strings.NewReplacer(`\fB`, "", `\fI`, "", `\fP`, "", `\fR`, "", `\-`, "-", `\&`, "", `\e`, `\`).Replace(line)
		line = roffRune.ReplaceAllStringFunc(line, func(s string) string {
			n, err := strconv.ParseInt(roffRune.FindStringSubmatch(s)[1], 16, 32)
			if err != nil {
				t.Errorf("line %d: %s: %v", i+1, s, err)
			}
			return string(rune(n))
		})
		text.WriteString(line + "\n")
	}
	return text.String()
}

// A page tells all that the help does, and the page of the program tells of every command.
func TestManPages(t *testing.T) {
	all := pagesOf(testProgram().app())
	whole := oneLine(asRead(t, printed(t, "man")))
	for _, one := range all {
		page := printed(t, append([]string{"man"}, strings.Fields(one.name)...)...)
		if !strings.Contains(page, "\n.TH "+strings.ToUpper(one.manName())+" 1 ") {
			t.Errorf("%s has no title: %.80s", one.manName(), page)
		}
		text := oneLine(asRead(t, page))
		wants := append([]string{one.manName() + " - " + one.about, "SYNOPSIS " + one.synopsis}, one.prose...)
		for _, g := range one.groups {
			for _, f := range g.flags {
				wants = append(wants, f.typed()+" "+f.told())
			}
		}
		for _, e := range one.examples {
			wants = append(wants, e.line)
		}
		for _, c := range one.commands {
			wants = append(wants, c.name+" "+c.about)
		}
		for _, want := range wants {
			if want = oneLine(want); !strings.Contains(text, want) {
				t.Errorf("%s does not tell %q", one.manName(), want)
			}
		}
		for _, e := range one.examples {
			if !strings.Contains(whole, oneLine(e.line)) {
				t.Errorf("the page of the program has no %q", e.line)
			}
		}
		if one.name != "" && !strings.Contains(whole, strings.ToUpper(one.name)+" "+capital(one.about)) {
			t.Errorf("the page of the program does not tell of %s", one.name)
		}
	}
	for _, e := range append(exitEntries(), faultEntries()...) {
		if !strings.Contains(whole, e.Word) || !strings.Contains(whole, oneLine(e.Means)) {
			t.Errorf("the page of the program does not tell of %s", e.Word)
		}
	}
}

// --dir writes what man prints.
func TestManFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "share", "man1")
	var out, errs strings.Builder
	if code := Main(t.Context(), []string{"man", "--dir", dir}, nil, &out, &errs, "test"); code != exitGood || out.Len()+errs.Len() > 0 {
		t.Fatalf("exit code %d, %s%s", code, out.String(), errs.String())
	}
	all := pagesOf(testProgram().app())
	for _, one := range all {
		text, err := os.ReadFile(filepath.Join(dir, one.manName()+".1"))
		if err != nil {
			t.Error(err)
		}
		if want := printed(t, append([]string{"man"}, strings.Fields(one.name)...)...); string(text) != want {
			t.Errorf("%s is not what man prints", one.manName())
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != len(all) {
		t.Errorf("%d files, want %d: %v", len(files), len(all), err)
	}
}
