package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/an-open-reader/nats-reader/chaos/result"
)

// markup are the characters that mean something in Markdown, HTML within it, and links.
var markup = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "#", `\#`, "~", `\~`, "!", `\!`,
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "@", "@\u200b", "://", ":\u200b//", "www.", "www\u200b.",
)

// Plain is a text that Markdown shows as it is. A column's bar is escaped by the table.
func Plain(text string) string { return markup.Replace(text) }

func writeMarkdown(w io.Writer, runs []result.Run) error {
	var out strings.Builder
	if len(runs) != 1 {
		fmt.Fprintf(&out, "# Chaos runs\n\n**%s**\n\n", tally(runs))
		markdownTable(&out, overview(runs), "")
	}
	level := "#"
	if len(runs) != 1 {
		level = "##"
	}
	for i, r := range runs {
		markdownRun(&out, viewOf(r, i+1, len(runs)), level)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func markdownRun(out *strings.Builder, v view, level string) {
	title := Plain(v.Name)
	if v.Title != "" {
		title += ": " + Plain(v.Title)
	}
	fmt.Fprintf(out, "%s %s\n\n**%s contract %s**, %s\n\n", level, title, v.Sign, v.Finding, v.Expected)
	for _, reason := range v.Reasons {
		fmt.Fprintf(out, "- %s\n", Plain(reason))
	}
	if v.Error != "" {
		fmt.Fprintf(out, "- error: %s\n", Plain(v.Error))
	}
	if len(v.Reasons) > 0 || v.Error != "" {
		out.WriteString("\n")
	}
	if v.Why != "" {
		fmt.Fprintf(out, "%s\n\n", Plain(v.Why))
	}
	fmt.Fprintf(out, "%s on %s, seed %s, %s from %s, measured by %s; %s.\n\n",
		Plain(v.Target), Plain(v.Where), v.Seed, v.Lasted, v.Began, v.Measured, v.Clock)
	markdownTable(out, figureTable(v), "")
	for _, t := range []table{v.Faults, v.Violations, v.Sessions, v.Requests, v.Notes} {
		markdownTable(out, t, level+"#")
	}
	if v.Plan != "" {
		fence := "```"
		for strings.Contains(v.Plan, fence) {
			fence += "`"
		}
		fmt.Fprintf(out, "<details><summary>Plan</summary>\n\n%syaml\n%s\n%s\n\n</details>\n\n", fence, v.Plan, fence)
	}
	if v.Replay != "" {
		fmt.Fprintf(out, "Again: %s\n\n", code(v.Replay))
	}
}

// code is a text in a span that no backtick of it ends.
func code(text string) string {
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		return fence + " " + text + " " + fence
	}
	return fence + text + fence
}

func markdownTable(out *strings.Builder, t table, level string) {
	if len(t.Rows) == 0 {
		return
	}
	if level != "" {
		fmt.Fprintf(out, "%s %s\n\n", level, t.Title)
	}
	p := rows(t, Plain)
	p.SetColumnConfigs(nil)
	fmt.Fprintf(out, "%s\n\n", p.RenderMarkdown())
	if t.Left != "" {
		fmt.Fprintf(out, "%s\n\n", t.Left)
	}
}
