package session

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A transcript is a story told to the machine: blocks of inputs, one a line, each
// followed by a line of four dashes and the effects, up to an empty line. Lines
// that begin with # are the narrator's. The block's effects are rewritten by
// `go test ./reader/session -run Transcripts -update`.
type block struct {
	lines []string // inputs and remarks, as written
	want  string   // effects, as written
}

const separator = "----"

func parseTranscript(text string) (blocks []block) {
	b, inWant := block{}, false
	flush := func() {
		if len(b.lines) > 0 || inWant {
			blocks = append(blocks, b)
		}
		b, inWant = block{}, false
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case inWant && line == "":
			flush()
		case inWant:
			b.want += line + "\n"
		case line == separator:
			inWant = true
		default:
			b.lines = append(b.lines, line)
		}
	}
	flush()
	return blocks
}

func (b block) String() string {
	s := strings.Join(b.lines, "\n") + "\n"
	if b.inputs() > 0 {
		s += separator + "\n" + b.want
	}
	return s
}

// inputs counts the lines that are not the narrator's.
func (b block) inputs() (n int) {
	for _, l := range b.lines {
		if l != "" && !strings.HasPrefix(l, "#") {
			n++
		}
	}
	return n
}

// words splits an input at spaces, but not within double quotes.
func words(line string) (out []string) {
	quoted, word := false, strings.Builder{}
	for _, r := range line {
		switch {
		case r == '"':
			quoted = !quoted
		case r == ' ' && !quoted:
			if word.Len() > 0 {
				out = append(out, word.String())
				word.Reset()
			}
		default:
			word.WriteRune(r)
		}
	}
	if word.Len() > 0 {
		out = append(out, word.String())
	}
	return out
}

// args are the words of an input: key=value pairs and plain ones.
type args struct {
	t     *testing.T
	line  string
	plain []string
	keys  map[string]string
	used  map[string]bool
}

func parseArgs(t *testing.T, line string) *args {
	a := &args{t: t, line: line, keys: map[string]string{}, used: map[string]bool{}}
	for _, w := range words(line) {
		if k, v, ok := strings.Cut(w, "="); ok && k != "" && !strings.Contains(k, " ") {
			a.keys[k] = v
			continue
		}
		a.plain = append(a.plain, w)
	}
	return a
}

func (a *args) fail(format string, v ...any) {
	a.t.Helper()
	a.t.Fatalf("%q: %s", a.line, fmt.Sprintf(format, v...))
}

// word gives the n-th plain word.
func (a *args) word(n int) string {
	a.t.Helper()
	if n >= len(a.plain) {
		a.fail("too few words")
	}
	return a.plain[n]
}

func (a *args) has(flag string) bool {
	for _, w := range a.plain {
		if w == flag {
			return true
		}
	}
	return false
}

func (a *args) text(key, otherwise string) string {
	a.used[key] = true
	if v, ok := a.keys[key]; ok {
		return v
	}
	return otherwise
}

func (a *args) number(key string, otherwise uint64) uint64 {
	a.t.Helper()
	v := a.text(key, "")
	if v == "" {
		return otherwise
	}
	return a.parse(v)
}

func (a *args) parse(v string) uint64 {
	a.t.Helper()
	n, err := strconv.ParseUint(v, 10, 64)
	if err != nil {
		a.fail("%v", err)
	}
	return n
}

func (a *args) wordNumber(n int) int {
	a.t.Helper()
	return int(a.parse(a.word(n)))
}

func (a *args) duration(key string, otherwise time.Duration) time.Duration {
	a.t.Helper()
	v := a.text(key, "")
	if v == "" {
		return otherwise
	}
	d, err := time.ParseDuration(v)
	if err != nil {
		a.fail("%v", err)
	}
	return d
}

func (a *args) fraction(key string, otherwise float64) float64 {
	a.t.Helper()
	v := a.text(key, "")
	if v == "" {
		return otherwise
	}
	f, err := strconv.ParseFloat(v, 64)
	if err != nil {
		a.fail("%v", err)
	}
	return f
}

// pair gives the two numbers of a/b.
func (a *args) pair(key string) (x, y uint64, ok bool) {
	a.t.Helper()
	v := a.text(key, "")
	if v == "" {
		return 0, 0, false
	}
	l, r, found := strings.Cut(v, "/")
	if !found {
		a.fail("%s wants two numbers", key)
	}
	return a.parse(l), a.parse(r), true
}

// done fails on a key that no one asked for: a typo would otherwise be a test
// that cannot fail.
func (a *args) done() {
	a.t.Helper()
	for k := range a.keys {
		if !a.used[k] {
			a.fail("unknown key %s", k)
		}
	}
}
