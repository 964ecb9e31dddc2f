package matrix

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/an-open-reader/nats-reader/chaos/report"
)

// Formats lists the forms in which a matrix is written.
func Formats() []report.Format {
	return []report.Format{report.Text, report.JSON, report.Markdown, report.HTML}
}

// ParseFormats reads a list such as "text,html"; one that is named twice counts once. Errors wrap report.ErrFormat.
func ParseFormats(list string) ([]report.Format, error) {
	var all []report.Format
	for name := range strings.SplitSeq(list, ",") {
		f := report.Format(strings.TrimSpace(name))
		if !slices.Contains(Formats(), f) {
			return nil, fmt.Errorf("%w %q: want some of %s, separated by commas", report.ErrFormat, string(f), strings.Trim(fmt.Sprint(Formats()), "[]"))
		}
		if !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	return all, nil
}

// Write writes what is known of a matrix. Nothing is written behind an error of w's.
func Write(w io.Writer, f report.Format, r Result) error {
	var err error
	switch f {
	case report.Text:
		_, err = io.WriteString(w, textOf(r))
	case report.JSON:
		err = Encode(w, r)
	case report.Markdown:
		_, err = io.WriteString(w, markdownOf(r))
	case report.HTML:
		err = writePage(w, r)
	case report.JUnit:
		err = fmt.Errorf("%w: a matrix has no %s", report.ErrFormat, f)
	default:
		err = fmt.Errorf("%w %q", report.ErrFormat, string(f))
	}
	if err != nil {
		return fmt.Errorf("%s matrix: %w", f, err)
	}
	return nil
}
