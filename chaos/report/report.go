package report

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/an-open-reader/nats-reader/chaos/result"
)

// Format names the form of a report.
type Format string

// The formats.
const (
	Text     Format = "text"     // for a terminal; the summary is the last line
	JSON     Format = "json"     // package result's
	JUnit    Format = "junit"    // a test case for each run
	Markdown Format = "markdown" // as GitHub and GitLab show it
	HTML     Format = "html"     // one self-contained page
)

// ErrFormat marks a name that is no format.
var ErrFormat = errors.New("unknown report format")

// Formats lists every format.
func Formats() []Format { return []Format{Text, JSON, JUnit, Markdown, HTML} }

// Parse reads a list such as "text,html"; one that is named twice counts once. Errors wrap ErrFormat.
func Parse(list string) ([]Format, error) {
	var all []Format
	for name := range strings.SplitSeq(list, ",") {
		f := Format(strings.TrimSpace(name))
		if !slices.Contains(Formats(), f) {
			return nil, fmt.Errorf("%w %q: want some of %s, separated by commas", ErrFormat, string(f), strings.Trim(fmt.Sprint(Formats()), "[]"))
		}
		if !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	return all, nil
}

// Extension is what the name of a file of this format ends with.
func (f Format) Extension() string {
	switch f {
	case JSON:
		return ".json"
	case JUnit:
		return ".xml"
	case Markdown:
		return ".md"
	case HTML:
		return ".html"
	default:
		return ".txt"
	}
}

// Write writes one run, or several that were made together. Nothing is written behind an error of w's.
func Write(w io.Writer, f Format, runs ...result.Run) error {
	var err error
	switch f {
	case Text:
		err = writeText(w, runs)
	case JSON:
		err = writeJSON(w, runs)
	case JUnit:
		err = writeJUnit(w, runs)
	case Markdown:
		err = writeMarkdown(w, runs)
	case HTML:
		err = writeHTML(w, runs)
	default:
		return fmt.Errorf("%w %q", ErrFormat, string(f))
	}
	if err != nil {
		return fmt.Errorf("%s report: %w", f, err)
	}
	return nil
}

func writeJSON(w io.Writer, runs []result.Run) error {
	if len(runs) == 1 {
		return result.Encode(w, runs[0])
	}
	return result.EncodeSet(w, result.Set{Runs: runs})
}
