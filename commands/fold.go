package commands

import (
	"strings"
	"unicode/utf8"
)

const (
	// textWidth is the narrowest terminal that help and words are laid out for.
	textWidth = 80
	// nameWidth is where the second column of a table begins at the latest; a longer name has a line for itself.
	nameWidth = 30
)

// foldRow is one row of a table whose first column is so wide.
func foldRow(name, about string, width int) string {
	const indent, between = helpIndent, 2
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
