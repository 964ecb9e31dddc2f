package commands

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// choice is one way to go on with a line that is being typed.
type choice struct{ word, about string }

// choices are all ways to go on; what else a shell is to do stands beside them.
type choices struct {
	all     []choice
	files   bool // names of files are as good
	folders bool // names of folders are
	open    bool // a word goes on behind what is offered: no blank after it
}

func (c *choices) add(about string, words ...string) {
	for _, w := range words {
		c.all = append(c.all, choice{w, about})
	}
}

// list is all as lines, where they go on with a word. What the shell takes for a word
// begins after so many bytes.
func (c *choices) list(current string, cut int) string {
	var text strings.Builder
	for _, one := range c.all {
		if len(one.word) < cut || !strings.HasPrefix(one.word, current) {
			continue
		}
		text.WriteString(one.word[cut:])
		if one.about != "" {
			text.WriteString("\t" + oneLine(one.about))
		}
		text.WriteString("\n")
	}
	for _, d := range []struct {
		on   bool
		word string
	}{{c.files, "files"}, {c.folders, "folders"}, {c.open, "open"}} {
		if d.on {
			text.WriteString("\t" + d.word + "\n")
		}
	}
	return text.String()
}

// unfinished is a command line up to the cursor.
type unfinished struct {
	current string
	command *cli.Command      // or its verb; nil: none yet
	name    string            // of the command: chaos run
	flags   []cli.Flag        // that may stand here
	given   []givenFlag       // flags so far
	named   map[string]string // their values
	args    []string
	value   cli.Flag // whose value the current word is
	glued   string   // what of the current word is before that value: --format=
	ended   bool     // behind --
	help    bool     // of a command: help chaos run
}

// complete prints the ways to go on with a line, for the scripts of the shells:
//
//	__complete line LINE WORD        the line up to the cursor, in the quoting of a POSIX
//	                                 shell, and what the shell takes for its last word
//	__complete words NAME WORD... =WORD   the words up to the cursor, without quoting;
//	                                 the last one, which may be empty, behind a =
//
// Each is a line, its explanation behind a tab; what begins with a tab tells the shell
// what to do beside that. It tells no error: a completion that cannot be is none.
func (p *program) complete(ctx context.Context, args []string) error {
	var words []string
	cut := 0
	switch {
	case len(args) == 3 && args[0] == "line":
		words = splitLine(args[1])
		if last := words[len(words)-1]; strings.HasSuffix(last, args[2]) {
			cut = len(last) - len(args[2]) // the shell has begun a word behind = or :
		}
	case len(args) > 2 && args[0] == "words" && strings.HasPrefix(args[len(args)-1], "="):
		words = slices.Clone(args[1:])
		words[len(words)-1] = words[len(words)-1][1:]
	}
	if len(words) < 2 {
		return nil
	}
	quiet := &program{stdin: p.stdin, stdout: io.Discard, stderr: io.Discard, version: p.version}
	u := readUnfinished(quiet.app(), words[1:len(words)-1], words[len(words)-1])
	c := quiet.choicesFor(ctx, u)
	_, err := io.WriteString(p.stdout, c.list(u.current, cut))
	return err
}

// readUnfinished reads a line as normalise does, but forgives what is wrong or missing.
func readUnfinished(app *cli.App, words []string, current string) unfinished {
	u := unfinished{current: current, named: map[string]string{}}
	n := normaliser{table: flagsOf(app.Commands), known: app.Commands, all: leavesOf(app.Commands)}
	for i := 0; i < len(words); i++ {
		word := words[i]
		switch {
		case u.ended && n.command != nil && len(n.command.Subcommands) == 0:
			u.args = append(u.args, word)
		case word == "--":
			u.ended = true
		case len(word) > 1 && word[0] == '-' && !u.ended:
			name, value, has := strings.Cut(strings.TrimLeft(word, "-"), "=")
			f := n.find(name)
			switch {
			case f == nil:
				continue
			case has:
			case !takesValue(f):
				value = "true"
			case i+1 < len(words):
				i++
				value = words[i]
			default:
				u.value = f
				continue
			}
			u.named[f.Names()[0]] = value
			u.given = append(u.given, givenFlag{flag: f, name: name, text: "--" + f.Names()[0] + "=" + value})
		case n.command == nil && word == "help" && !u.help:
			u.help = true
		case n.command == nil:
			u.name = word
			n.command = find(app.Commands, word)
		case len(n.command.Subcommands) > 0:
			u.name += " " + word
			n.command = find(n.command.Subcommands, word)
		default:
			u.args = append(u.args, word)
		}
		if n.command == nil && u.name != "" {
			return unfinished{current: current, name: u.name} // behind an unknown command nothing is known
		}
	}
	u.command = n.command
	if name, _, has := strings.Cut(current, "="); has && strings.HasPrefix(name, "-") && u.value == nil && !u.ended {
		if f := n.find(strings.TrimLeft(name, "-")); f != nil && takesValue(f) {
			u.value, u.glued = f, name+"="
		}
	}
	u.flags = append(globalFlags(), cli.HelpFlag, cli.VersionFlag)
	if u.command != nil {
		u.flags = append(slices.Clone(u.command.Flags), cli.HelpFlag)
	}
	return u
}

func find(commands []*cli.Command, name string) *cli.Command {
	for _, c := range commands {
		if c.HasName(name) && !c.Hidden {
			return c
		}
	}
	return nil
}

// choicesFor are the ways to go on.
func (p *program) choicesFor(ctx context.Context, u unfinished) (c choices) {
	switch {
	case u.command == nil && u.name != "":
	case u.value != nil:
		p.valuesOf(ctx, &c, u)
		for i := range c.all {
			c.all[i].word = u.glued + c.all[i].word
		}
	case strings.HasPrefix(u.current, "-") && !u.ended:
		c.flags(u)
	case u.command == nil:
		for _, one := range below(p.app().Commands) {
			c.add(one.about, one.name)
		}
		if !u.help {
			c.add("the help of a command", "help")
		}
	case len(u.command.Subcommands) > 0:
		for _, verb := range below(u.command.Subcommands) {
			c.add(verb.about, verb.name)
		}
	case !u.help:
		p.argumentsOf(ctx, &c, u)
	}
	return c
}

// flags adds those that may follow: each once, but one that may be repeated.
func (c *choices) flags(u unfinished) {
	for _, f := range u.flags {
		if v, is := f.(cli.VisibleFlag); is && !v.IsVisible() {
			continue
		}
		l := lineOf(f)
		if _, given := u.named[f.Names()[0]]; given && !l.repeats {
			continue
		}
		for _, name := range l.names {
			if strings.HasPrefix(name, "--") {
				c.add(l.about, name)
			}
		}
	}
	slices.SortFunc(c.all, func(a, b choice) int { return strings.Compare(a.word, b.word) })
}

// splitLine cuts a line into words as a POSIX shell does, the last one as far as it was
// typed: it is empty behind a blank. Nothing is expanded.
func splitLine(line string) []string {
	words := []string{""}
	begun := false
	quote := rune(0)
	escaped := false
	for _, r := range line {
		last := &words[len(words)-1]
		switch {
		case escaped:
			if quote == '"' && !strings.ContainsRune("\"\\$`", r) {
				*last += `\`
			}
			*last += string(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, begun = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			*last += string(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if begun {
				words, begun = append(words, ""), false
			}
		default:
			*last += string(r)
			begun = true
		}
	}
	return words
}
