package commands

import (
	"encoding/json"
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
		e := json.NewEncoder(&out)
		e.SetIndent("", "  ")
		if err := e.Encode(r); err != nil {
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
	for i, s := range r.Series {
		if i > 0 {
			out.WriteByte('\n')
		}
		fmt.Fprintf(out, "%s\n", fold(capital(s.Words(r))+".", 0))
		t := benchTable(s)
		style := fleetStyle()
		t.SetStyle(style)
		t.SuppressTrailingSpaces()
		fmt.Fprintf(out, "\n%s\n", t.Render())
		for _, line := range s.Remarks() {
			fmt.Fprintf(out, "%s\n", fold(printable(line), 0))
		}
	}
	fmt.Fprintf(out, "\n%s\n", fold(r.MadeWords(), 0))
}

func writeBenchMarkdown(out *strings.Builder, r bench.Result) {
	out.WriteString("# Bench\n")
	for _, s := range r.Series {
		fmt.Fprintf(out, "\n## %s\n\n**%s.**\n\n%s\n", report.Plain(s.Title()), report.Plain(capital(s.Words(r))), benchTable(s).RenderMarkdown())
		for i, line := range s.Remarks() {
			if i == 0 {
				out.WriteByte('\n')
			}
			fmt.Fprintf(out, "- %s\n", report.Plain(printable(line)))
		}
	}
	fmt.Fprintf(out, "\n%s\n", report.Plain(r.MadeWords()))
}

// benchTable has a row for each contestant, medians in its columns, and the ratios to each base.
func benchTable(s bench.Series) pretty.Writer {
	t := pretty.NewWriter()
	head, rows := s.Table()
	row := func(cells []string) pretty.Row {
		var all pretty.Row
		for _, c := range cells {
			all = append(all, c)
		}
		return all
	}
	t.AppendHeader(row(head))
	for _, cells := range rows {
		t.AppendRow(row(cells))
	}
	var right []pretty.ColumnConfig
	for n := range head[1:] {
		right = append(right, pretty.ColumnConfig{Number: n + 2, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	return t
}
