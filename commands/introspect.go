package commands

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// introspectWord is the whole command line that the nats CLI asks a plugin with for what it
// can do: nats plugins register, of natscli 0.5 on github.com/choria-io/fisk.
const introspectWord = "--fisk-introspect"

// pluginModel is a fisk.ApplicationModel, as far as a plugin needs it: natscli makes its own
// command of it, and runs ours with what was typed.
type pluginModel struct {
	Name     string          `json:"name"`
	Help     string          `json:"help"`
	Version  string          `json:"version"`
	Commands []pluginCommand `json:"commands"`
}

type pluginCommand struct {
	Name     string           `json:"name"`
	Aliases  []string         `json:"aliases,omitempty"`
	Help     string           `json:"help"`
	HelpLong string           `json:"help_long,omitempty"`
	Hidden   bool             `json:"hidden,omitempty"`
	Flags    []pluginFlag     `json:"flags,omitempty"`
	Args     []pluginArgument `json:"args,omitempty"`
	Commands []pluginCommand  `json:"commands,omitempty"`
}

type pluginFlag struct {
	Name        string   `json:"name"`
	Help        string   `json:"help"`
	Short       rune     `json:"short,omitempty"`
	Default     []string `json:"default,omitempty"`
	PlaceHolder string   `json:"place_holder,omitempty"`
	Hidden      bool     `json:"hidden,omitempty"`
	Boolean     bool     `json:"boolean"`
	Negatable   bool     `json:"negatable,omitempty"`
	Cumulative  bool     `json:"cumulative"`
}

type pluginArgument struct {
	Name        string `json:"name"`
	Help        string `json:"help"`
	PlaceHolder string `json:"place_holder,omitempty"`
	Cumulative  bool   `json:"cumulative"`
}

// introspect tells what there is to run, in the words of natscli's library. Global flags of
// natscli are passed on by it where a command has one of the same name; environment variables
// reach us by themselves, so none is told.
func (p *program) introspect(app *cli.App) error {
	model := pluginModel{Name: "reader", Help: "Reads a stream that no fault can make deaf, and tries readers with faults", Version: p.version}
	model.Commands = pluginCommands(app.Commands)
	return json.NewEncoder(p.stdout).Encode(model)
}

func pluginCommands(commands []*cli.Command) (all []pluginCommand) {
	for _, c := range commands {
		m := pluginCommand{Name: c.Name, Aliases: c.Aliases, Help: capital(c.Usage), HelpLong: c.Description, Hidden: c.Hidden}
		for _, f := range c.Flags {
			m.Flags = append(m.Flags, pluginFlags(f)...)
		}
		if c.ArgsUsage != "" {
			// One argument that takes all the words: natscli keeps no order between several.
			m.Args = []pluginArgument{{Name: "words", Help: c.ArgsUsage, PlaceHolder: placeHolder(c.ArgsUsage), Cumulative: true}}
		}
		m.Commands = pluginCommands(c.Subcommands)
		all = append(all, m)
	}
	return all
}

// placeHolder is how the words are shown, in the brackets that natscli puts around them.
func placeHolder(words string) string {
	if inner, found := strings.CutPrefix(words, "["); found && strings.Count(words, "[") == strings.Count(words, "]") && strings.HasSuffix(inner, "]") {
		return strings.TrimSuffix(inner, "]")
	}
	return words
}

// pluginFlags are a flag under each of its long names. The first letter among its names is
// its short form; further ones natscli cannot say.
func pluginFlags(f cli.Flag) (all []pluginFlag) {
	m := pluginFlag{Negatable: true}
	switch f := f.(type) {
	case *cli.BoolFlag:
		m.Boolean = true
	case *cli.StringSliceFlag:
		m.Cumulative = true
	case *cli.DurationFlag:
		if f.Value != 0 {
			m.Default = []string{f.Value.String()}
		}
	}
	m.Negatable = m.Boolean
	if doc, ok := f.(cli.DocGenerationFlag); ok {
		m.PlaceHolder, m.Help = unquoted(doc.GetUsage())
	}
	if visible, ok := f.(cli.VisibleFlag); ok {
		m.Hidden = !visible.IsVisible()
	}
	for _, name := range f.Names() {
		if len(name) == 1 {
			if len(all) > 0 && all[0].Short == 0 && letter(name) {
				all[0].Short = rune(name[0])
			}
			continue
		}
		if strings.HasPrefix(name, "no-") {
			m.Negatable = false // fisk has a --no-NAME of its own for each that it can negate
		}
		m.Name = name
		all = append(all, m)
		m.Hidden = true
	}
	return all
}

func letter(name string) bool {
	return name[0] >= 'a' && name[0] <= 'z' || name[0] >= 'A' && name[0] <= 'Z'
}

// unquoted takes the name of a flag's value out of its help.
func unquoted(usage string) (value, text string) {
	parts := strings.SplitN(usage, "`", 3)
	if len(parts) < 3 {
		return "", capital(usage)
	}
	if text = strings.Join(parts, ""); parts[0] != "" {
		text = capital(text)
	}
	return parts[1], text
}

// asksForModel says whether natscli asks what we can do.
func asksForModel(args []string) bool { return slices.Equal(args, []string{introspectWord}) }
