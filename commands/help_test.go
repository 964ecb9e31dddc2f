package commands

import (
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// The help of every command fits 80 columns, has examples, and tells each of its flags
// with its value, its default and its variables: its own first, those of the connection
// last.
func TestHelp(t *testing.T) {
	pages := pagesOf(testProgram().app())
	if len(pages) < 15 {
		t.Fatalf("%d pages", len(pages))
	}
	for _, one := range pages {
		t.Run(typed(one.name), func(t *testing.T) {
			text := printed(t, append(strings.Fields(one.name), "--help")...)
			if byWord := printed(t, append([]string{"help"}, strings.Fields(one.name)...)...); byWord != text {
				t.Errorf("nats-reader help %s prints\n%s", one.name, byWord)
			}
			fits(t, one.name, text)
			if len(one.examples) == 0 {
				t.Error("it has no examples: put them beside the command, and into the table of examples.go")
			}
			for _, e := range one.examples {
				if !strings.Contains(text, strings.ReplaceAll(e.line, "\n", "\n   ")) {
					t.Errorf("example %q is not in\n%s", e.line, text)
				}
			}
			plain := oneLine(text)
			at := 0
			for _, g := range one.groups {
				title := strings.Index(text, "\n"+g.title+"\n")
				if title < at {
					t.Errorf("%s stands at %d, behind %d", g.title, title, at)
				}
				at = title
				for _, f := range g.flags {
					if f.about == "" {
						t.Errorf("%s has no text", f.typed())
					}
					if !strings.Contains(plain, f.typed()+" "+oneLine(f.told())) {
						t.Errorf("%s is not told: %q", f.typed(), f.told())
					}
				}
			}
			if n := len(one.groups); n > 1 && slices.IndexFunc(one.groups, func(g flagGroup) bool { return g.title == connectionFlags }) != n-1 && !connectionless[one.name] {
				t.Errorf("the flags of the connection are not the last: %s", one.groups[n-1].title)
			}
			if connectionless[one.name] && (strings.Contains(text, connectionFlags) || strings.Contains(text, "--server ")) {
				t.Error("it tells of a connection that it does not make")
			}
		})
	}
}

// What a flag's declaration says is what its line tells.
func TestFlagLines(t *testing.T) {
	for _, test := range []struct {
		flag        cli.Flag
		typed, told string
	}{
		{&cli.StringFlag{Name: "format", Usage: "`text|json`: the form", Value: "text"}, "--format text|json", "the form (default: text)"},
		{&cli.StringFlag{Name: "server", Aliases: []string{"s"}, Usage: "`URL` of it", EnvVars: []string{"NATS_URL", "URL"}}, "--server, -s URL", "URL of it [$NATS_URL] [$URL]"},
		{&cli.DurationFlag{Name: "for", Usage: "how long"}, "--for DURATION", "how long (default: 0s)"},
		{&cli.IntFlag{Name: "n", Usage: "how many", DefaultText: "all"}, "-n VALUE", "how many (default: all)"},
		{&cli.BoolFlag{Name: "quiet", Usage: "no word"}, "--quiet", "no word"},
		{&cli.StringSliceFlag{Name: "tag", Usage: "this `TAG`"}, "--tag TAG", "this TAG"},
	} {
		if l := lineOf(test.flag); l.typed() != test.typed || l.told() != test.told {
			t.Errorf("%s: %q: %q, want %q: %q", test.flag.Names()[0], l.typed(), l.told(), test.typed, test.told)
		}
	}
	if !lineOf(&cli.StringSliceFlag{Name: "tag"}).repeats || lineOf(&cli.StringFlag{Name: "tag"}).repeats {
		t.Error("a flag that may be repeated is not told from one that may not")
	}
}

// Every table of examples is that of a command.
func TestExamplesHaveCommands(t *testing.T) {
	var names []string
	for _, one := range pagesOf(testProgram().app()) {
		names = append(names, one.name)
	}
	for name, all := range examples {
		if !slices.Contains(names, name) {
			t.Errorf("examples of %q, which is no command", name)
		}
		for _, e := range all {
			if !strings.HasPrefix(e.line, typed(name)) {
				t.Errorf("an example of %q is %q", name, e.line)
			}
			if strings.HasSuffix(e.about, ".") || strings.ToLower(e.about[:1]) != e.about[:1] {
				t.Errorf("%q is to be a few words", e.about)
			}
		}
	}
}
