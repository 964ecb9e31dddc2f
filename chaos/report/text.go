package report

import (
	"fmt"
	"io"
	"strings"

	pretty "github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/result"
)

// widestCell is where a cell of a text table is wrapped.
const widestCell = 60

// writeText ends with the verdict: of one run as its summary, of several as a table of them and how many are as
// expected.
func writeText(w io.Writer, runs []result.Run) error {
	var out strings.Builder
	for i, r := range runs {
		if i > 0 {
			out.WriteString("\n")
		}
		textRun(&out, viewOf(r, i+1, len(runs)), len(runs) == 1)
	}
	if len(runs) != 1 {
		fmt.Fprintf(&out, "\n%s\n\n%s\n", textTable(overview(runs)), tally(runs))
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func textRun(out *strings.Builder, v view, alone bool) {
	title := v.Name
	if v.Title != "" {
		title += ": " + v.Title
	}
	fmt.Fprintf(out, "%s\n%s on %s, seed %s, %s, measured by %s\n", title, v.Target, v.Where, v.Seed, v.Lasted, v.Measured)
	fmt.Fprintf(out, "contract %s, %s\n", v.Finding, v.Expected)
	for _, reason := range v.Reasons {
		fmt.Fprintf(out, "  because: %s\n", reason)
	}
	if v.Error != "" {
		fmt.Fprintf(out, "  error: %s\n", v.Error)
	}
	tables := []table{figureTable(v), v.Faults, v.Violations}
	if alone {
		tables = append(tables, v.Notes)
	}
	for _, t := range tables {
		if len(t.Rows) > 0 {
			fmt.Fprintf(out, "\n%s\n", textTable(t))
		}
	}
	if len(v.Faults.Rows)+len(v.Violations.Rows) > 0 {
		fmt.Fprintf(out, "\n%s\n", v.Clock)
	}
	if v.Replay != "" {
		fmt.Fprintf(out, "\nagain: %s\n", v.Replay)
	}
	fmt.Fprintf(out, "%s\n", v.Summary)
}

// textTable is a table in ASCII, without an end of line.
func textTable(t table) string {
	p := rows(t, func(cell string) string { return cell })
	style := pretty.StyleDefault
	style.Format.Header = text.FormatDefault
	style.Options = pretty.Options{SeparateColumns: true, SeparateHeader: true}
	p.SetStyle(style)
	p.SetTitle(t.Title)
	p.SuppressTrailingSpaces()
	out := p.Render()
	if t.Left != "" {
		out += "\n" + t.Left
	}
	return out
}

// rows fills a table writer.
func rows(t table, cell func(string) string) pretty.Writer {
	p := pretty.NewWriter()
	row := func(cells []string) (all pretty.Row) {
		for _, c := range cells {
			all = append(all, cell(c))
		}
		return all
	}
	p.AppendHeader(row(t.Head))
	for _, r := range t.Rows {
		p.AppendRow(row(r))
	}
	var columns []pretty.ColumnConfig
	for i := range t.Head {
		c := pretty.ColumnConfig{Number: i + 1, WidthMax: widestCell, WidthMaxEnforcer: text.WrapSoft}
		if t.Number(i) {
			c.Align, c.AlignHeader = text.AlignRight, text.AlignRight
		}
		columns = append(columns, c)
	}
	p.SetColumnConfigs(columns)
	return p
}

// figureTable are the figures as a table.
func figureTable(v view) table {
	t := table{Head: []string{"figure", "value", "allowed", ""}}
	for _, f := range v.Figures {
		beyond := ""
		if f.Bad {
			beyond = "beyond"
		}
		t.Rows = append(t.Rows, []string{f.Name, strings.TrimSpace(f.Value + " " + f.Detail), f.Limit, beyond})
	}
	return t
}

// overview is a row for each run.
func overview(runs []result.Run) table {
	t := table{
		Title: "Runs", Head: []string{"#", "plan", "target", "server", "contract", "", "lost", "twice", "disorder", "silence", "deaf", "sessions", "requests"},
		Right: []int{0, 6, 7, 8, 9, 10, 11, 12},
	}
	for i, r := range runs {
		v := r.Verdict
		deaf, sessions := Short(v.LongestDeaf), fmt.Sprint(v.Sessions)
		if v.Blind {
			deaf, sessions = "-", "-"
		}
		expected := "as expected"
		if !r.Met {
			expected = "expected " + string(r.Expected)
		}
		t.Rows = append(t.Rows, []string{
			fmt.Sprint(i + 1), Clean(r.Name), Clean(r.Target), Clean(r.Server.Version), string(v.Finding), expected,
			fmt.Sprint(v.Lost), fmt.Sprint(v.Duplicated), fmt.Sprint(v.OutOfOrder), Short(v.LongestSilence), deaf, sessions, fmt.Sprint(v.APIRequests),
		})
	}
	return t
}

// tally says of several runs how many were as expected, and what was found.
func tally(runs []result.Run) string {
	met := 0
	found := map[oracle.Finding]int{}
	for _, r := range runs {
		if r.Met {
			met++
		}
		found[r.Verdict.Finding]++
	}
	return fmt.Sprintf("%d of %s as expected  held=%d broken=%d unknown=%d",
		met, plural(len(runs), "run"), found[oracle.Held], found[oracle.Broken], found[oracle.Unknown])
}
