package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/urfave/cli/v2"
)

const flagDir = "dir"

const manDescription = `Prints a manual page, of the whole program or of one command, for man -l - or for
a folder of MANPATH. --dir writes all of them.`

var manExamples = []example{
	{line: "nats-reader man chaos run > nats-reader-chaos-run.1", about: "one command's; man -l shows it"},
	{line: "nats-reader man --dir man/man1", about: "all, for a folder of MANPATH"},
}

func (p *program) manCommand() *cli.Command {
	return &cli.Command{
		Name: "man", Usage: "manual pages", ArgsUsage: "[COMMAND [VERB]]", Description: manDescription,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: flagDir, Usage: "write all pages to `FOLDER`, which is made where it is missing"},
		},
		Action: p.man,
	}
}

func (p *program) man(c *cli.Context) error {
	all := pagesOf(p.app())
	if c.IsSet(flagDir) {
		dir := c.String(flagDir)
		switch {
		case dir == "":
			return usage{problem: fmt.Sprintf("flag --%s: the name of a folder is missing", flagDir), hint: "nats-reader man --dir man/man1"}
		case c.NArg() > 0:
			return usage{problem: fmt.Sprintf("man --%s writes all pages: %q is one too many", flagDir, c.Args().First()), hint: "nats-reader man COMMAND prints one"}
		}
		return p.writeMan(all, dir)
	}
	name := strings.Join(c.Args().Slice(), " ")
	if name == "" {
		_, err := p.stdout.Write(wholeMan(all, p.version))
		return err
	}
	var names []string
	for _, one := range all {
		if one.name == name {
			_, err := p.stdout.Write(one.man(p.version))
			return err
		}
		if one.name != "" {
			names = append(names, one.name)
		}
	}
	return usage{problem: fmt.Sprintf("there is no command %q", name), hint: didYouMean(name, names, "commands: "+strings.Join(names, ", "))}
}

// writeMan writes the page of each command, and that of the program, to a folder.
func (p *program) writeMan(all []page, dir string) error {
	err := os.MkdirAll(dir, 0o755)
	for i := 0; i < len(all) && err == nil; i++ {
		text := all[i].man(p.version)
		if all[i].name == "" {
			text = wholeMan(all, p.version)
		}
		err = os.WriteFile(filepath.Join(dir, all[i].manName()+".1"), text, 0o644)
	}
	if err != nil {
		return usage{problem: fmt.Sprintf("flag --%s: %v", flagDir, err), hint: "name a folder that can be written to", cause: err}
	}
	return nil
}

// manName is the name of a manual page: nats-reader-chaos-run.
func (p page) manName() string { return strings.ReplaceAll(typed(p.name), " ", "-") }

// man is the manual page of one command, as roff.
func (p page) man(version string) []byte {
	var text strings.Builder
	p.manHead(&text, version)
	p.manBody(&text, "# ", true)
	text.WriteString("# SEE ALSO\n")
	other := "**nats-reader**(1)"
	if len(p.commands) > 0 {
		for _, c := range p.commands {
			other += fmt.Sprintf(", **nats-reader-%s-%s**(1)", p.name, c.name)
		}
	}
	text.WriteString(other + "\n")
	return roff(text.String())
}

// wholeMan is the page of the whole program: its own first, then a section for each
// command, without what is the same in all.
func wholeMan(all []page, version string) []byte {
	var text strings.Builder
	all[0].manHead(&text, version)
	all[0].manBody(&text, "# ", true)
	for _, one := range all[1:] {
		fmt.Fprintf(&text, "# %s\n%s.\n\n", strings.ToUpper(one.name), plainText(capital(one.about)))
		fmt.Fprintf(&text, "**%s**\n\n", plainText(one.synopsis))
		one.manBody(&text, "## ", false)
	}
	text.WriteString("# EXIT STATUS\n")
	for _, e := range exitEntries() {
		fmt.Fprintf(&text, "**%s**\n: %s\n\n", e.Word, plainText(e.Text+". "+e.Means))
	}
	text.WriteString("# FAULTS\n")
	for _, e := range faultEntries() {
		fmt.Fprintf(&text, "**%s**\n: %s\n\n", e.Word, plainText(e.Means))
	}
	return roff(text.String())
}

// roff makes a manual page of Markdown. A dash within a word is one to be typed: a
// plain one would be printed as another sign.
func roff(markdown string) []byte {
	var text strings.Builder
	for line := range strings.Lines(string(md2man.Render([]byte(markdown)))) {
		if !strings.HasPrefix(line, ".") {
			line = strings.NewReplacer(`\\`, `\e`, `\-`, `\-`, "-", `\-`).Replace(line)
		}
		for _, r := range line {
			if r > unicode.MaxASCII { // troff reads bytes
				fmt.Fprintf(&text, `\[u%04X]`, r)
			} else {
				text.WriteRune(r)
			}
		}
	}
	return []byte(text.String())
}

// manHead has no date: the same program always prints the same page.
func (p page) manHead(text *strings.Builder, version string) {
	fmt.Fprintf(text, "%% %s 1 \"\" \"nats-reader %s\" \"nats-reader\"\n\n", strings.ToUpper(p.manName()), version)
	fmt.Fprintf(text, "# NAME\n%s - %s\n\n# SYNOPSIS\n**%s**\n\n", p.manName(), plainText(p.about), plainText(p.synopsis))
}

// manBody is what both kinds of pages have of a command.
func (p page) manBody(text *strings.Builder, level string, connection bool) {
	if len(p.prose) > 0 {
		if connection {
			text.WriteString(level + "DESCRIPTION\n")
		}
		for _, part := range p.prose {
			if lines, is := literal(part); is {
				fmt.Fprintf(text, "```\n%s\n```\n\n", lines)
				continue
			}
			text.WriteString(plainText(part) + "\n\n")
		}
	}
	if len(p.commands) > 0 {
		text.WriteString(level + "COMMANDS\n")
		for _, c := range p.commands {
			fmt.Fprintf(text, "**%s**\n: %s\n\n", c.name, plainText(c.about))
		}
	}
	for _, g := range p.groups {
		if !connection && (g.title == connectionFlags || g.title == readerFlagsCategory && p.name != "read") {
			fmt.Fprintf(text, "The flags of %s are those of %s.\n\n", plainText(g.title), map[bool]string{true: "every command that connects, above", false: "read"}[g.title == connectionFlags])
			continue
		}
		text.WriteString(level + plainText(g.title) + "\n")
		for _, f := range g.flags {
			fmt.Fprintf(text, "%s\n: %s\n\n", f.bold(), plainText(f.told()))
		}
	}
	if len(p.examples) > 0 {
		text.WriteString(level + "EXAMPLES\n")
		for _, e := range p.examples {
			fmt.Fprintf(text, "%s:\n\n```\n%s\n```\n\n", plainText(capital(e.about)), e.line)
		}
	}
}

// bold is a flag with its names in bold.
func (l flagLine) bold() string {
	var names []string
	for _, n := range l.names {
		names = append(names, "**"+n+"**")
	}
	text := strings.Join(names, ", ")
	if l.value != "" {
		text += " " + plainText(l.value)
	}
	return text
}

// plainText keeps a text from being read as Markdown.
func plainText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "<", `\<`, ">", `\>`, "[", `\[`, "]", `\]`, "|", `\|`, "#", `\#`, "~", `\~`).Replace(s)
}
