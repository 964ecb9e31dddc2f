package proxy

import (
	"bufio"
	"bytes"
	"flag"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files of testdata anew")

// unquoted joins the pieces of a stream file: each line is a Go string literal, or one with " * n" behind it for
// a piece that occurs n times; lines that begin with # say what follows.
func unquoted(t testing.TB, text []byte) []byte {
	t.Helper()
	var out []byte
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		literal, err := strconv.QuotedPrefix(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		piece, err := strconv.Unquote(literal)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		times := 1
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line[len(literal):]), "* "); ok {
			if times, err = strconv.Atoi(rest); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
		out = append(out, strings.Repeat(piece, times)...)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
