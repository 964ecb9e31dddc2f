package commands

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/an-open-reader/nats-reader/chaos/matrix"
)

// A list is cut at its commas, but not within parentheses or a command.
func TestSplitLists(t *testing.T) {
	for _, c := range []struct {
		lists []string
		want  string
	}{
		{nil, ""},
		{[]string{"", " , "}, ""},
		{[]string{"reader, consume", "fetch"}, "reader|consume|fetch"},
		{[]string{"consume(durable=false,expires=5s),fetch"}, "consume(durable=false,expires=5s)|fetch"},
		{[]string{"reader, exec:node a.mjs --x 1,2", "fetch"}, "reader|exec:node a.mjs --x 1,2|fetch"},
		{[]string{"a),b"}, "a)|b"},
		{[]string{"a(b,c"}, "a(b,c"},
	} {
		if got := strings.Join(splitLists(c.lists), "|"); got != c.want {
			t.Errorf("%q: got %s, want %s", c.lists, got, c.want)
		}
	}
}

func TestMatrixTargets(t *testing.T) {
	got, err := matrixTargets([]string{"all", "reader,consume(durable=true)", "consume( durable = false )"})
	if err != nil || len(got) != 10 || got[0] != "reader" || !slices.Contains(got, "consume(durable=false)") {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := matrixTargets(nil); err != nil || !slices.Equal(got, []string{"reader"}) {
		t.Errorf("%q, %v", got, err)
	}
}

// What a program writes is told line by line, each with the cell that it belongs to.
func TestCellWords(t *testing.T) {
	var out bytes.Buffer
	p := &program{stderr: &out}
	show := p.showProgress(runPlan{})
	defer show.end()
	w := &cellWords{cell: matrix.Cell{Target: "exec:x", Fault: "f", Server: "embedded", Round: 1}, show: show}
	for _, part := range []string{"one\ntw", "o\n", strings.Repeat("long", 2000), "\n", "no end"} {
		if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	got := out.String()
	for _, want := range []string{"exec:x f on embedded: one\n", "exec:x f on embedded: two\n", "exec:x f on embedded: longlong"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	if strings.Contains(got, "no end") {
		t.Error("half a line is told")
	}
}
