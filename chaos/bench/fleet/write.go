package fleet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	pretty "github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Format is a form in which a result is written.
type Format string

// The formats.
const (
	Text     Format = "text"
	JSON     Format = "json"
	Markdown Format = "markdown"
)

// Write writes a result.
func Write(w io.Writer, f Format, r Result) error {
	var out string
	switch f {
	case Text:
		out = textOf(r)
	case Markdown:
		out = markdownOf(r)
	case JSON:
		b, err := encode(r)
		if err != nil {
			return fmt.Errorf("write the result: %w", err)
		}
		out = string(b)
	default:
		return fmt.Errorf("write the result: no format %q", string(f))
	}
	_, err := io.WriteString(w, out)
	return err
}

// nanoseconds is a line of indented JSON that holds a duration.
var nanoseconds = regexp.MustCompile(`(?m)^( *)"(\w+)_ns": (-?\d+)`)

// encode writes every duration twice: as a Go duration, and in nanoseconds.
func encode(r Result) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return nil, err
	}
	return nanoseconds.ReplaceAllFunc(b.Bytes(), func(line []byte) []byte {
		m := nanoseconds.FindSubmatch(line)
		n, err := strconv.ParseInt(string(m[3]), 10, 64)
		if err != nil {
			return line // no duration
		}
		return fmt.Appendf(nil, "%s\"%s\": %q,\n%s", m[1], m[2], time.Duration(n), line)
	}), nil
}

// section is a table of a report: rows of a name and its values, or of columns with a head.
type section struct {
	title string
	head  []string
	rows  [][]string
}

func textOf(r Result) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n%s\n", r.title(), r.where())
	for _, s := range r.sections() {
		fmt.Fprintf(&out, "\n%s\n%s\n", s.title, s.table().Render())
	}
	fmt.Fprintf(&out, "\n%s\n", r.lastLine())
	return out.String()
}

func markdownOf(r Result) string {
	var out strings.Builder
	fmt.Fprintf(&out, "## %s\n\n%s\n", r.title(), r.where())
	for _, s := range r.sections() {
		if len(s.head) == 0 {
			s.head = []string{"what", "figure"}
		}
		fmt.Fprintf(&out, "\n### %s\n\n%s\n", s.title, s.table().RenderMarkdown())
	}
	fmt.Fprintf(&out, "\n**%s**\n", r.lastLine())
	return out.String()
}

func (s section) table() pretty.Writer {
	t := pretty.NewWriter()
	style := pretty.StyleDefault
	style.Format.Header = text.FormatDefault
	style.Options = pretty.Options{SeparateColumns: true, SeparateHeader: true}
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	row := func(words []string) (cells pretty.Row) {
		for _, w := range words {
			cells = append(cells, w)
		}
		return cells
	}
	if len(s.head) > 0 {
		t.AppendHeader(row(s.head))
	}
	for _, r := range s.rows {
		t.AppendRow(row(r))
	}
	return t
}
