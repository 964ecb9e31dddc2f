package commands

import (
	"fmt"
	"io"
	"strings"

	pretty "github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/an-open-reader/nats-reader/chaos/bench"
	"github.com/an-open-reader/nats-reader/chaos/report"
)

// printBench prints a result in the format that was asked for.
func printBench(to io.Writer, w benchPlan, r bench.Result) error {
	var out strings.Builder
	switch w.format {
	case "json":
		if err := bench.Encode(&out, r); err != nil {
			return err
		}
	case "markdown":
		writeBenchMarkdown(&out, r)
	default:
		writeBenchText(&out, r)
	}
	_, err := io.WriteString(to, out.String())
	return err
}

func writeBenchText(out *strings.Builder, r bench.Result) {
	for _, s := range r.Series {
		fmt.Fprintf(out, "%s\n%s\n", fold(s.Title(r)+":", 0), fold(s.Words(r)+".", 0))
		for _, g := range s.Grids(r) {
			t := benchTable(g)
			t.SetStyle(fleetStyle())
			t.SuppressTrailingSpaces()
			out.WriteByte('\n')
			if g.Title != "" {
				fmt.Fprintf(out, "%s:\n", g.Title)
			}
			fmt.Fprintf(out, "%s\n", t.Render())
		}
		out.WriteByte('\n')
		for _, line := range append([]string{s.Ahead()}, s.Remarks()...) {
			fmt.Fprintf(out, "%s\n", fold(printable(line), 0))
		}
		out.WriteByte('\n')
	}
	fmt.Fprintf(out, "%s\n", fold(r.MadeWords(), 0))
}

func writeBenchMarkdown(out *strings.Builder, r bench.Result) {
	out.WriteString("# Bench\n")
	for _, s := range r.Series {
		fmt.Fprintf(out, "\n## %s\n\n**%s.**\n", report.Plain(s.Title(r)), report.Plain(s.Words(r)))
		for _, g := range s.Grids(r) {
			if g.Title != "" {
				fmt.Fprintf(out, "\n%s:\n", report.Plain(capital(g.Title)))
			}
			fmt.Fprintf(out, "\n%s\n", benchTable(g).RenderMarkdown())
		}
		out.WriteByte('\n')
		for _, line := range append([]string{s.Ahead()}, s.Remarks()...) {
			fmt.Fprintf(out, "- %s\n", report.Plain(printable(line)))
		}
	}
	fmt.Fprintf(out, "\n%s\n", report.Plain(r.MadeWords()))
}

// benchTable is a table with its numbers at the right.
func benchTable(g bench.Grid) pretty.Writer {
	t := pretty.NewWriter()
	row := func(cells []string) (all pretty.Row) {
		for _, c := range cells {
			all = append(all, c)
		}
		return all
	}
	t.AppendHeader(row(g.Head))
	for _, cells := range g.Rows {
		t.AppendRow(row(cells))
	}
	var right []pretty.ColumnConfig
	for n := range g.Head[1:] {
		right = append(right, pretty.ColumnConfig{Number: n + 2, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	return t
}
