package matrix

import (
	"fmt"
	"strings"
	"unicode/utf8"

	pretty "github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/an-open-reader/nats-reader/chaos/report"
)

// textWidth is what a table of the text takes at most, as far as a column fits.
const textWidth = 80

// widestName is where the name of a row is cut.
const widestName = 24

// textOf is a result for a terminal; its last line is the finding.
func textOf(r Result) string {
	var out strings.Builder
	for _, g := range r.grids() {
		for _, part := range parts(g) {
			fmt.Fprintf(&out, "%s\n%s\n\n", g.Title, textTable(part))
		}
	}
	for _, c := range r.columnWords() {
		fmt.Fprintf(&out, "%-8s %s\n", c[0], c[1])
	}
	fmt.Fprintf(&out, "\n%s\n", wrapped(legend))
	troubles, left := r.troubles()
	if len(troubles) > 0 {
		out.WriteString("\n")
	}
	for _, t := range troubles {
		fmt.Fprintf(&out, "%s: %s: %s\n  again: %s\n", t.Cell, t.Finding, t.Reasons, t.Again)
	}
	if left > 0 {
		fmt.Fprintf(&out, "%d more\n", left)
	}
	out.WriteString("\n")
	for _, t := range r.tallies() {
		fmt.Fprintf(&out, "%s\n", t)
	}
	fmt.Fprintf(&out, "%s\n%s\n", r.made(), r.Words())
	return out.String()
}

// parts cuts a table into those that are narrow enough.
func parts(g grid) []grid {
	name := utf8.RuneCountInString(g.Corner)
	for i := range g.Rows {
		g.Rows[i].Name = shortened(g.Rows[i].Name)
		name = max(name, utf8.RuneCountInString(g.Rows[i].Name))
	}
	const around = 3 // " | "
	var all []grid
	from, width := 0, name+2
	for i, c := range g.Columns {
		wide := utf8.RuneCountInString(c)
		for _, row := range g.Rows {
			wide = max(wide, utf8.RuneCountInString(row.Squares[i].String()))
		}
		if width+around+wide > textWidth && i > from {
			all = append(all, g.columns(from, i))
			from, width = i, name+2
		}
		width += around + wide
	}
	return append(all, g.columns(from, len(g.Columns)))
}

// columns is the table with some of its columns.
func (g grid) columns(from, to int) grid {
	part := grid{Title: g.Title, Corner: g.Corner, Columns: g.Columns[from:to]}
	for _, r := range g.Rows {
		part.Rows = append(part.Rows, row{r.Name, r.Squares[from:to]})
	}
	return part
}

// wrapped is a text in lines, none with a blank at its end.
func wrapped(words string) string {
	lines := strings.Split(text.WrapSoft(strings.Join(strings.Fields(words), " "), textWidth), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

func shortened(name string) string {
	const kept = (widestName - len("...")) / 3 // of the start; commands differ at their end
	if runes := []rune(name); len(runes) > widestName {
		return string(runes[:kept]) + "..." + string(runes[len(runes)-widestName+kept+len("..."):])
	}
	return name
}

func textTable(g grid) string {
	p := filled(g, func(text string) string { return text }, square.String)
	style := pretty.StyleDefault
	style.Format.Header = text.FormatDefault
	style.Options = pretty.Options{SeparateColumns: true, SeparateHeader: true}
	p.SetStyle(style)
	p.SuppressTrailingSpaces()
	return p.Render()
}

// filled is a table with words and squares as a form writes them.
func filled(g grid, word func(string) string, cell func(square) string) pretty.Writer {
	p := pretty.NewWriter()
	head := pretty.Row{word(g.Corner)}
	for _, c := range g.Columns {
		head = append(head, word(c))
	}
	p.AppendHeader(head)
	for _, r := range g.Rows {
		line := pretty.Row{word(r.Name)}
		for _, s := range r.Squares {
			line = append(line, cell(s))
		}
		p.AppendRow(line)
	}
	return p
}

// markdownOf is a result as GitHub and GitLab show it.
func markdownOf(r Result) string {
	var out strings.Builder
	fmt.Fprintf(&out, "# Chaos matrix\n\n**%s**\n\n", report.Plain(r.Words()))
	for _, g := range r.grids() {
		fmt.Fprintf(&out, "## %s\n\n%s\n\n", report.Plain(g.Title), filled(g, report.Plain, markdownSquare).RenderMarkdown())
	}
	for _, c := range r.columnWords() {
		fmt.Fprintf(&out, "- **%s** %s\n", report.Plain(c[0]), report.Plain(c[1]))
	}
	fmt.Fprintf(&out, "\n%s\n\n", report.Plain(strings.Join(strings.Fields(legend), " ")))
	for _, t := range r.tallies() {
		fmt.Fprintf(&out, "- %s\n", report.Plain(t))
	}
	troubles, left := r.troubles()
	if len(troubles) > 0 {
		out.WriteString("\n<details><summary>Cells that did not hold</summary>\n\n")
		for _, t := range troubles {
			fmt.Fprintf(&out, "- %s: %s: %s\n", report.Plain(t.Cell), t.Finding, report.Plain(t.Reasons))
		}
		if left > 0 {
			fmt.Fprintf(&out, "- %d more\n", left)
		}
		out.WriteString("\n</details>\n")
	}
	fmt.Fprintf(&out, "\n%s\n", report.Plain(r.made()))
	return out.String()
}

// markdownSquare has in bold what must not be: deaf, given up, lost, read twice or out of order.
func markdownSquare(s square) string {
	text := s.Sign
	switch {
	case s.Words == "":
	case strings.HasPrefix(s.Words, "deaf") || strings.HasPrefix(s.Words, "gave up"):
		text += " **" + s.Words + "**"
	default:
		text += " " + s.Words
	}
	if s.Bad != "" {
		text += ", **" + s.Bad + "**"
	}
	return text
}
