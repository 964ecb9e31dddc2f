package matrix

import (
	"bytes"
	_ "embed" // the page
	"html/template"
	"io"
	"strings"
)

//go:embed page.html.tmpl
var pageText string

//go:embed page.css
var pageStyle string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"style": func() template.CSS { return template.CSS(pageStyle) }, //nolint:gosec // it is ours
}).Parse(pageText))

// document is what the page shows.
type document struct {
	Words, Finding, Sign, Legend, Made string
	Grids                              []grid
	Columns                            [][2]string
	Tallies                            []string
	Troubles                           []trouble
	Left                               int
}

// writePage makes a page without script and without anything from outside.
func writePage(w io.Writer, r Result) error {
	d := document{
		Words: r.Words(), Finding: string(r.finding()), Sign: signUnknown, Legend: strings.Join(strings.Fields(legend), " "), Made: r.made(),
		Grids: r.grids(), Columns: r.columnWords(), Tallies: r.tallies(),
	}
	switch d.Finding {
	case "held":
		d.Sign = signHeld
	case "broken":
		d.Sign = signBroken
	}
	d.Troubles, d.Left = r.troubles()
	var out bytes.Buffer
	if err := page.Execute(&out, d); err != nil {
		return err
	}
	_, err := w.Write(out.Bytes())
	return err
}
