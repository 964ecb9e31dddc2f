package plan

import (
	"fmt"
	"strings"

	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// Problem is one thing that is wrong with a plan. Its text is one line.
type Problem struct {
	File    string   `json:"file,omitempty"`
	Line    int      `json:"line,omitempty"` // from 1; 0: the plan was not read from a text
	Column  int      `json:"column,omitempty"`
	Path    string   `json:"path,omitempty"` // of the field, such as steps[0].fault; empty: the text as a whole
	Text    string   `json:"text"`
	Allowed []string `json:"allowed,omitempty"` // what would do; empty when it cannot be listed
	Near    []string `json:"near,omitempty"`    // those of Allowed that may have been meant
}

// longList is how many allowed words are told beside the near ones.
const longList = 16

// Error is file:line:column: path: text, what is allowed, and the nearest name.
func (p Problem) Error() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File + ":")
	}
	if p.Line > 0 {
		fmt.Fprintf(&b, "%d:%d:", p.Line, p.Column)
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	b.WriteString(strings.Join(strings.Fields(p.Text), " "))
	if len(p.Near) > 0 {
		b.WriteString("; did you mean " + strings.Join(p.Near, " or ") + "?")
	}
	if len(p.Allowed) > 0 && (len(p.Near) == 0 || len(p.Allowed) <= longList) {
		b.WriteString("; allowed: " + strings.Join(p.Allowed, ", "))
	}
	return b.String()
}

// notOneOf is the problem of a word that is none of those that there are.
func notOneOf(path, text, word string, allowed []string) Problem {
	return Problem{Path: path, Text: text, Allowed: allowed, Near: proxy.Nearest(word, allowed)}
}

// Problems are all that is wrong, in the order of the text. As an error they are one line each.
type Problems []Problem

// Error is every problem on a line of its own.
func (p Problems) Error() string {
	var lines []string
	for _, one := range p {
		lines = append(lines, one.Error())
	}
	return strings.Join(lines, "\n")
}

// err is nil where nothing is wrong.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

func (p *Problems) add(path, format string, args ...any) {
	*p = append(*p, Problem{Path: path, Text: fmt.Sprintf(format, args...)})
}

func (p *Problems) when(wrong bool, path, format string, args ...any) {
	if wrong {
		p.add(path, format, args...)
	}
}
