package commands

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

const (
	// textWidth is the narrowest terminal that help and words are laid out for.
	textWidth = 80
	// nameWidth is where the second column of a table begins at the latest; a longer name has a line for itself.
	nameWidth = 30
)

// urfave/cli's help has one line a flag, however long it is; its printer is a variable of that package.
func init() {
	cli.HelpPrinter = func(w io.Writer, template string, data any) {
		var text bytes.Buffer
		cli.HelpPrinterCustom(&text, template, data, nil)
		io.WriteString(w, foldHelp(text.String())) //nolint:errcheck // output remembers the failure of a write
	}
}

// tableRow is a line of two columns.
var tableRow = regexp.MustCompile(`^ {3}(\S+(?: \S+)*) {2,}(\S.*)$`)

// foldHelp lays out a help text for textWidth: tables with both columns folded, lines of prose at their indent.
func foldHelp(text string) string {
	var out strings.Builder
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); {
		var rows [][]string
		widest := 0
		for ; i < len(lines); i++ {
			row := tableRow.FindStringSubmatch(lines[i])
			if row == nil {
				break
			}
			rows = append(rows, row)
			if n := utf8.RuneCountInString(row[1]); n <= nameWidth {
				widest = max(widest, n)
			}
		}
		for _, row := range rows {
			out.WriteString(foldRow(row[1], row[2], widest) + "\n")
		}
		if i < len(lines) {
			prose := strings.TrimLeft(lines[i], " ")
			indent := lines[i][:len(lines[i])-len(prose)]
			out.WriteString(strings.TrimRight(indent+fold(prose, len(indent)), " ") + "\n")
			i++
		}
	}
	return out.String()
}

// foldRow is one row of a table whose first column is so wide.
func foldRow(name, about string, width int) string {
	const indent, between = 3, 2
	column := indent + width + between
	head := strings.Repeat(" ", indent) + name
	gap := column - utf8.RuneCountInString(head)
	if gap < between {
		return head + "\n" + strings.Repeat(" ", column) + fold(about, column)
	}
	return head + strings.Repeat(" ", gap) + fold(about, column)
}

// fold breaks a text between words, so that it stays within textWidth where its first line begins at a column and
// the others are indented to it. A word that is too long stays whole.
func fold(text string, column int) string {
	var out strings.Builder
	at := column
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case at+1+n > textWidth:
			out.WriteString("\n" + strings.Repeat(" ", column))
			at = column
		default:
			out.WriteByte(' ')
			at++
		}
		out.WriteString(word)
		at += n
	}
	return out.String()
}
