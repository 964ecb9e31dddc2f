package commands

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"

	pretty "github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/an-open-reader/nats-reader/chaos/report"
	"github.com/an-open-reader/nats-reader/reader/doctor"
)

// printDiagnosis prints a report in the format that was asked for.
func printDiagnosis(to io.Writer, w doctorPlan, r doctor.Report) error {
	switch w.format {
	case "json":
		return json.NewEncoder(to).Encode(r)
	case "nagios":
		return writeNagios(to, r)
	case "prometheus":
		return writePrometheus(to, r)
	case "junit":
		return writeDoctorJUnit(to, w, r)
	case "markdown":
		return writeDoctorMarkdown(to, w, r)
	default:
		return writeDoctorText(to, w, r)
	}
}

// printable is a text of the server's without anything that moves a cursor.
func printable(s string) string {
	return redact(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, s))
}

func writeDoctorText(to io.Writer, w doctorPlan, r doctor.Report) error {
	var out strings.Builder
	if w.every > 0 {
		out.WriteString(roundHead(w.round, r) + "\n")
	}
	out.WriteString(headline(r) + "\n") // one line, for those that look for it
	shown, left := shownFindings(w, r)
	for _, f := range shown {
		fmt.Fprintf(&out, "\n%s\n", printable(findingHead(f)))
		fmt.Fprintf(&out, "  %s\n", fold(printable(capital(f.Text))+".", 2))
		widest := 0
		for _, fact := range f.Facts {
			widest = max(widest, min(len(fact.Name), 24))
		}
		for _, fact := range f.Facts {
			fmt.Fprintf(&out, "    %-*s  %s\n", widest, printable(fact.Name), fold(printable(fact.Value), widest+6))
		}
		fmt.Fprintf(&out, "  why: %s\n", fold(f.Why, 7))
		out.WriteString("  do:\n")
		for i, step := range f.Do {
			number := strconv.Itoa(i+1) + ". "
			indent := strings.Repeat(" ", 4+len(number))
			if step.Text != "" {
				number += fold(printable(step.Text), len(indent))
			}
			switch {
			case step.Command == "":
			case step.Text == "":
				number += "$ " + printable(step.Command) // a command is never folded
			default:
				number += "\n" + indent + "$ " + printable(step.Command)
			}
			fmt.Fprintf(&out, "    %s\n", number)
		}
	}
	for _, line := range left {
		fmt.Fprintf(&out, "\n%s\n", line)
	}
	if more := w.reach.missing(shown); more != "" {
		fmt.Fprintf(&out, "\n%s\n", fold(more, 0))
	}
	if len(r.Fleet) > 0 {
		t, left := fleetTable(w, r)
		t.SetStyle(inScheme(fleetStyle(), w.settings.scheme, w.colored))
		t.SuppressTrailingSpaces()
		fmt.Fprintf(&out, "\n%s\n%s", t.Render(), left)
	}
	for i, n := range r.NotJudged {
		if i == 0 {
			out.WriteByte('\n')
		}
		fmt.Fprintf(&out, "%s\n", fold(printable(notJudged(n)), 0))
	}
	_, err := io.WriteString(to, out.String())
	return err
}

// roundHead is what stands above each round of --every: the server's time, or ours
// where it told none, and a rule.
func roundHead(round int, r doctor.Report) string {
	const width = 80
	at := r.Ended
	if at.IsZero() {
		at = time.Now()
	}
	head := fmt.Sprintf("-- %s  round %d ", at.UTC().Format(time.RFC3339), round)
	return map[bool]string{true: "\n"}[round > 1] + head + strings.Repeat("-", max(width-len(head), 2))
}

// fewFindings is how many findings of one check are written out without --all.
const fewFindings = 20

// shownFindings are those that are written out, and lines of what is left out.
func shownFindings(w doctorPlan, r doctor.Report) (shown []doctor.Finding, left []string) {
	counts := map[string]int{}
	for _, f := range r.Findings {
		if counts[f.Check]++; w.allRows || counts[f.Check] <= fewFindings {
			shown = append(shown, f)
		}
	}
	for _, c := range doctor.Checks() {
		if more := counts[c.ID] - fewFindings; more > 0 && !w.allRows {
			left = append(left, fmt.Sprintf("and %d more of %s: --%s shows all", more, c.ID, flagAllRows))
		}
	}
	return shown, left
}

func findingHead(f doctor.Finding) string {
	head := fmt.Sprintf("%s  %s %s", strings.ToUpper(string(f.Severity)), f.Check, f.Title)
	if where := findingWhere(f); where != "" {
		head += ": " + where
	}
	return head
}

func findingWhere(f doctor.Finding) string {
	return strings.TrimSpace(f.Stream + " " + f.Consumer)
}

func notJudged(n doctor.NotJudged) string {
	s := "not judged: " + n.What + ": " + n.Why
	if len(n.Checks) > 0 {
		s += " (" + strings.Join(n.Checks, ", ") + ")"
	}
	return s
}

// fewRows is how many consumers the table shows without --all.
const fewRows = 20

// fleetTable is the table of consumers, and what it leaves out, as a line.
func fleetTable(w doctorPlan, r doctor.Report) (pretty.Writer, string) {
	t := pretty.NewWriter()
	t.AppendHeader(pretty.Row{"reason", "stream", "consumer", "pending", "out", "waiting", "delivered", "idle"})
	left := ""
	shown := r.Fleet
	if !w.allRows && len(shown) > fewRows {
		left = fmt.Sprintf("and %d less suspicious: --%s shows all\n", len(shown)-fewRows, flagAllRows)
		shown = shown[:fewRows]
	}
	for _, m := range shown {
		t.AppendRow(pretty.Row{
			m.Reason, printable(m.Stream), printable(m.Consumer), m.Pending, m.Out, m.Waiting,
			strconv.FormatFloat(m.Rate, 'f', 1, 64) + "/s", report.Short(m.Idle.Round(100 * time.Millisecond)),
		})
	}
	right := func(n int) pretty.ColumnConfig {
		return pretty.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight}
	}
	t.SetColumnConfigs([]pretty.ColumnConfig{right(4), right(5), right(6), right(7), right(8)})
	return t, left
}

func fleetStyle() pretty.Style {
	style := pretty.StyleDefault
	style.Format.Header = text.FormatDefault
	style.Box.PaddingLeft = ""
	style.Box.PaddingRight = ""
	style.Box.MiddleVertical = "  "
	style.Options = pretty.Options{SeparateColumns: true}
	return style
}
