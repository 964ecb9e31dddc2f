package report

import (
	"bytes"
	_ "embed" // the page
	"html/template"
	"io"

	"github.com/an-open-reader/nats-reader/chaos/result"
)

//go:embed page.html.tmpl
var pageText string

//go:embed page.css
var pageStyle string

// longWord is a cell that is wrapped.
const longWord = 32

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"long":  func(cell string) bool { return len(cell) > longWord },
	"style": func() template.CSS { return template.CSS(pageStyle) }, //nolint:gosec // it is ours
}).Parse(pageText))

// document is what the page shows.
type document struct {
	Title string
	Tally string // of several runs
	Bad   bool   // not every run is as expected
	Over  table
	Runs  []view
}

// writeHTML makes a page without script and without anything from outside.
func writeHTML(w io.Writer, runs []result.Run) error {
	d := document{Title: "Chaos runs", Tally: tally(runs), Over: overview(runs)}
	for i, r := range runs {
		d.Runs = append(d.Runs, viewOf(r, i+1, len(runs)))
		d.Bad = d.Bad || !r.Met
	}
	if len(runs) == 1 {
		d.Title = d.Runs[0].Name + ": contract " + d.Runs[0].Finding
	}
	var out bytes.Buffer
	if err := page.Execute(&out, d); err != nil {
		return err
	}
	_, err := w.Write(out.Bytes())
	return err
}
