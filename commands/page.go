package commands

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// appName is the program's name as it is typed.
const appName = "nats-reader"

// page is all that is told of a command. --help, the man pages, the reference and
// the completion are made from it, so that they tell the same.
type page struct {
	name     string   // without the program's: "", read, chaos run
	about    string   // in one line
	synopsis string   // how it is typed, with the program's name
	prose    []string // paragraphs; one that begins with a blank is lines that stay as they are
	examples []example
	commands []page // below it, without their own contents
	groups   []flagGroup
}

// flagGroup are flags that are told under one title.
type flagGroup struct {
	title string
	flags []flagLine
}

// flagLine is one flag in words.
type flagLine struct {
	names   []string // the long one first, with their dashes
	value   string   // what stands for its value; "": it takes none
	about   string
	unset   string   // its value where it is not given; "": none
	env     []string // variables that set it
	repeats bool
}

// typed is how a typed name of the program's begins: nats-reader chaos run.
func typed(name string) string { return strings.TrimSuffix(appName+" "+name, " ") }

// pagesOf are the pages of the program: its own, each command, each verb.
func pagesOf(app *cli.App) []page {
	all := []page{appPage(app)}
	for _, c := range app.Commands {
		if c.Hidden {
			continue
		}
		all = append(all, commandPage(c, c.Name))
		for _, verb := range c.Subcommands {
			all = append(all, commandPage(verb, c.Name+" "+verb.Name))
		}
	}
	return all
}

func appPage(app *cli.App) page {
	p := page{about: app.Usage, synopsis: app.UsageText, prose: paragraphs(app.Description), examples: examples[""], commands: below(app.Commands)}
	p.groups = groupsOf(append([]cli.Flag{cli.HelpFlag, cli.VersionFlag}, globalFlags()...))
	return p
}

func commandPage(c *cli.Command, name string) page {
	p := page{name: name, about: c.Usage, prose: paragraphs(c.Description), examples: examples[name], commands: below(c.Subcommands), groups: groupsOf(c.Flags)}
	switch {
	case len(p.commands) > 0:
		p.synopsis = typed(name) + " VERB [FLAGS] [ARGUMENTS]"
	case len(p.groups) > 0:
		p.synopsis = strings.TrimSuffix(typed(name)+" [FLAGS] "+c.ArgsUsage, " ")
	default:
		p.synopsis = strings.TrimSuffix(typed(name)+" "+c.ArgsUsage, " ")
	}
	return p
}

// below are the commands of a table, with no more than their names and what they do.
func below(commands []*cli.Command) (all []page) {
	for _, c := range commands {
		if !c.Hidden {
			all = append(all, page{name: c.Name, about: c.Usage})
		}
	}
	return all
}

// paragraphs are the parts of a text between empty lines, each as one line but those
// that are indented.
func paragraphs(text string) (all []string) {
	for _, part := range strings.Split(text, "\n\n") {
		switch {
		case strings.HasPrefix(part, " "):
			all = append(all, part)
		case strings.TrimSpace(part) != "":
			all = append(all, oneLine(part))
		}
	}
	return all
}

// literal says whether a paragraph is lines that stay as they are, and gives them
// without their margin.
func literal(paragraph string) (lines string, is bool) {
	if !strings.HasPrefix(paragraph, " ") {
		return "", false
	}
	margin := paragraph[:len(paragraph)-len(strings.TrimLeft(paragraph, " "))]
	return strings.TrimPrefix(strings.ReplaceAll(paragraph, "\n"+margin, "\n"), margin), true
}

// ownFlags is the title of a command's own flags.
const ownFlags = "OPTIONS"

// groupsOf are flags by their categories: a command's own first, those of the
// connection last, hidden ones nowhere.
func groupsOf(flags []cli.Flag) []flagGroup {
	var groups []flagGroup
	for _, f := range flags {
		if v, is := f.(cli.VisibleFlag); is && !v.IsVisible() {
			continue
		}
		title := ownFlags
		if c, is := f.(cli.CategorizableFlag); is && c.GetCategory() != "" {
			title = c.GetCategory()
		}
		i := slices.IndexFunc(groups, func(g flagGroup) bool { return g.title == title })
		if i < 0 {
			i = len(groups)
			groups = append(groups, flagGroup{title: title})
		}
		groups[i].flags = append(groups[i].flags, lineOf(f))
	}
	place := func(title string) int {
		return slices.Index([]string{ownFlags, startFlagsCategory, readerFlagsCategory, "", connectionFlags}, title)
	}
	slices.SortStableFunc(groups, func(a, b flagGroup) int {
		rank := func(g flagGroup) int {
			if i := place(g.title); i >= 0 {
				return i
			}
			return place("")
		}
		return rank(a) - rank(b)
	})
	for _, g := range groups {
		slices.SortFunc(g.flags, func(a, b flagLine) int { return strings.Compare(a.names[0], b.names[0]) })
	}
	return groups
}

// lineOf says what a flag says of itself. What stands between ` in its text is its
// value; where the text begins with the value and a colon, that is said once.
func lineOf(f cli.Flag) flagLine {
	doc, is := f.(cli.DocGenerationFlag)
	l := flagLine{}
	for _, name := range f.Names() {
		l.names = append(l.names, dashed(name))
	}
	slices.SortStableFunc(l.names, func(a, b string) int { return min(len(b), 3) - min(len(a), 3) })
	if !is {
		return l
	}
	l.about, l.env = doc.GetUsage(), doc.GetEnvVars()
	before, rest, found := strings.Cut(l.about, "`")
	if value, after, closed := strings.Cut(rest, "`"); found && closed {
		l.value, l.about = value, before+value+after
		if short, colon := strings.CutPrefix(after, ": "); before == "" && colon {
			l.about = short
		}
	}
	if !takesValue(f) {
		return l
	}
	if l.value == "" {
		l.value = "VALUE"
		if _, is := f.(*cli.DurationFlag); is {
			l.value = "DURATION"
		}
	}
	l.unset = strings.Trim(doc.GetDefaultText(), `"`)
	if slice, is := f.(cli.DocGenerationSliceFlag); is {
		l.repeats = slice.IsSliceFlag()
	}
	return l
}

// typed is how a flag is written: --server URL, -s URL.
func (l flagLine) typed() string {
	names := slices.Clone(l.names)
	if l.value != "" {
		names[len(names)-1] += " " + l.value
	}
	return strings.Join(names, ", ")
}

// told is what is said of a flag: what it does, what it is where it is not given,
// which variables set it.
func (l flagLine) told() string {
	text := l.about
	if l.unset != "" {
		text += " (default: " + l.unset + ")"
	}
	for _, v := range l.env {
		text += " [$" + v + "]"
	}
	return text
}
