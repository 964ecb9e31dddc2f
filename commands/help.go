package commands

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

// urfave/cli calls a variable of its package for every help text; what it prints
// then is a page of ours, since its templates know neither examples nor an order of
// groups.
func init() {
	cli.HelpPrinter = func(w io.Writer, template string, data any) {
		switch of := data.(type) {
		case *cli.App:
			io.WriteString(w, appPage(of).help()) //nolint:errcheck // output remembers the failure of a write
		case *cli.Command:
			io.WriteString(w, commandPage(of, strings.TrimPrefix(of.HelpName, appName+" ")).help()) //nolint:errcheck // as above
		default:
			cli.HelpPrinterCustom(w, template, data, nil)
		}
	}
}

// helpIndent is how far the contents of a help text stand from its titles.
const helpIndent = 3

// help is a page for a terminal.
func (p page) help() string {
	var text strings.Builder
	margin := strings.Repeat(" ", helpIndent)
	section := func(title string) {
		if text.Len() > 0 {
			text.WriteString("\n")
		}
		text.WriteString(title + "\n")
	}
	section("NAME")
	text.WriteString(margin + fold(typed(p.name)+" - "+p.about, helpIndent) + "\n")
	section("USAGE")
	text.WriteString(margin + fold(p.synopsis, helpIndent) + "\n")
	if len(p.commands) > 0 {
		section("COMMANDS")
		widest := 0
		for _, c := range p.commands {
			widest = max(widest, len(c.name))
		}
		for _, c := range p.commands {
			text.WriteString(foldRow(c.name, c.about, widest) + "\n")
		}
	}
	if len(p.prose) > 0 {
		section("DESCRIPTION")
		for i, part := range p.prose {
			if i > 0 {
				text.WriteString("\n")
			}
			if lines, is := literal(part); is {
				part = strings.ReplaceAll(lines, "\n", "\n"+margin)
			} else {
				part = fold(part, helpIndent)
			}
			text.WriteString(margin + part + "\n")
		}
	}
	if len(p.examples) > 0 {
		section("EXAMPLES")
		for _, e := range p.examples {
			text.WriteString(margin + fold("# "+e.about, helpIndent) + "\n")
			for line := range strings.Lines(e.line) {
				text.WriteString(margin + strings.TrimSuffix(line, "\n") + "\n")
			}
		}
	}
	for _, g := range p.groups {
		section(g.title)
		widest := 0
		for _, f := range g.flags {
			if n := utf8.RuneCountInString(f.typed()); n <= nameWidth {
				widest = max(widest, n)
			}
		}
		for _, f := range g.flags {
			told := f.told()
			if f.repeats && !strings.Contains(told, "repeated") && !strings.Contains(told, "several times") {
				told += "; may be repeated"
			}
			text.WriteString(foldRow(f.typed(), told, widest) + "\n")
		}
	}
	if p.name == "" {
		fmt.Fprintf(&text, "\n%s\n", fold(appName+" COMMAND --help has the flags of each and examples; what an error, an event or a fault means is told by "+appName+" explain WORD. Flags may stand anywhere; -- ends them.", 0))
	}
	return text.String()
}

// withoutHelpWord makes "help chaos run" what it means: chaos run --help.
func withoutHelpWord(args []string) []string {
	if len(args) == 0 || args[0] != "help" && args[0] != "h" {
		return args
	}
	return append(slices.Clone(args[1:]), "--help")
}
