package commands

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

// givenFlags is the key of cli.App.Metadata that holds which flags stood on the
// command line: urfave/cli does not tell them from the environment.
const givenFlags = "given"

// commandLine is a command line in the one order that urfave/cli reads right:
// the command, its verb where it has verbs, its flags as --name=value, "--", the
// arguments.
type commandLine struct {
	args  []string
	given map[string]bool
}

// normalise puts a command line in order, whatever the place of its flags. A flag
// belongs to the command wherever it stands; "--" ends the flags. Unknown
// commands, verbs and flags, missing and impossible values are told here. The verb of
// a command is its first argument, and has flags of its own.
func normalise(app *cli.App, args []string) (commandLine, error) {
	n := normaliser{table: flagsOf(app.Commands), known: app.Commands, all: leavesOf(app.Commands), given: map[string]bool{}}
	if err := n.read(args); err != nil {
		return commandLine{}, err
	}
	if err := n.check(); err != nil {
		return commandLine{}, err
	}
	line := commandLine{args: n.path, given: n.given}
	for _, f := range n.flags {
		line.args = append(line.args, f.text)
		if f.flag == cli.HelpFlag && n.command != nil {
			n.arguments = nil // the library would look for help on the first of them
		}
	}
	if len(n.path) > 0 && n.path[0] != "help" {
		line.args = append(line.args, "--")
	}
	line.args = append(line.args, n.arguments...)
	return line, nil
}

type givenFlag struct {
	flag cli.Flag
	name string // as typed, for errors
	text string // --name=value
}

type normaliser struct {
	table     map[string][]cli.Flag // every flag of every command by each of its names
	known     []*cli.Command
	all       []leaf
	command   *cli.Command // or its verb, once that is known
	path      []string
	flags     []givenFlag
	arguments []string
	given     map[string]bool
}

// flagsOf lists the flags of all commands and verbs. One whose name has several shapes can
// only be read behind its command.
func flagsOf(commands []*cli.Command) map[string][]cli.Flag {
	table := map[string][]cli.Flag{}
	for _, f := range []cli.Flag{cli.HelpFlag, cli.VersionFlag} {
		for _, name := range f.Names() {
			table[name] = append(table[name], f)
		}
	}
	for _, c := range leavesOf(commands) {
		for _, f := range c.command.Flags {
			for _, name := range flagNames(f) {
				table[name] = append(table[name], f)
			}
		}
	}
	return table
}

// flagNames is f.Names, which runs a regular expression over each name: for every flag
// of every command that is most of what reading a command line costs.
func flagNames(f cli.Flag) []string {
	switch f := f.(type) {
	case *cli.BoolFlag:
		return append([]string{f.Name}, f.Aliases...)
	case *cli.StringFlag:
		return append([]string{f.Name}, f.Aliases...)
	case *cli.StringSliceFlag:
		return append([]string{f.Name}, f.Aliases...)
	case *cli.DurationFlag:
		return append([]string{f.Name}, f.Aliases...)
	case *cli.IntFlag:
		return append([]string{f.Name}, f.Aliases...)
	default:
		return f.Names()
	}
}

func (n *normaliser) read(args []string) error {
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		switch {
		case word == "--":
			n.arguments = append(n.arguments, args...)
			return n.needCommand()
		case len(word) > 1 && word[0] == '-' && (n.isFlag(word) || !isNumber(word)):
			rest, err := n.readFlag(word, args)
			if err != nil {
				return err
			}
			args = rest
		case n.command == nil && len(n.path) == 0:
			if err := n.readCommand(word); err != nil {
				return err
			}
		case n.needsVerb():
			if err := n.readVerb(word); err != nil {
				return err
			}
		default:
			n.arguments = append(n.arguments, word)
		}
	}
	return nil
}

// needCommand takes the command, and its verb, from behind "--" where they stand there.
func (n *normaliser) needCommand() error {
	take := func(read func(string) error) error {
		if len(n.arguments) == 0 {
			return nil
		}
		word := n.arguments[0]
		n.arguments = n.arguments[1:]
		return read(word)
	}
	if n.command == nil && len(n.path) == 0 {
		if err := take(n.readCommand); err != nil {
			return err
		}
	}
	if n.needsVerb() {
		return take(n.readVerb)
	}
	return nil
}

func isNumber(word string) bool {
	_, err := strconv.ParseFloat(word, 64)
	return err == nil
}

func (n *normaliser) readCommand(word string) error {
	n.path = append(n.path, word)
	if word == "help" {
		return nil
	}
	var names []string
	for _, c := range n.known {
		if c.HasName(word) {
			n.command = c
			return nil
		}
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	return usage{
		problem: fmt.Sprintf("unknown command %q", word),
		hint:    didYouMean(word, names, "commands: "+strings.Join(names, ", ")),
	}
}

// readFlag takes one flag, and its value where it needs one, and gives what is left.
func (n *normaliser) readFlag(word string, rest []string) ([]string, error) {
	name, value, hasValue := strings.Cut(strings.TrimLeft(word, "-"), "=")
	f := n.find(name)
	if n.command == nil && n.shapes(name) > 1 {
		return nil, usage{problem: fmt.Sprintf("flag %s: some commands give it a value and some do not", dashed(name)), hint: "write it behind its command, which is one of " + n.owners(name)}
	}
	if f == nil && !strings.HasPrefix(word, "--") && len(name) > 1 {
		// -sVALUE, as natscli takes it.
		if short := n.find(name[:1]); short != nil && takesValue(short) {
			f, value, hasValue = short, strings.TrimLeft(word, "-")[1:], true
			name = name[:1]
		}
	}
	if f == nil {
		if positive, found := strings.CutPrefix(name, "no-"); found {
			// natscli's other way to write --flag=false.
			if f = n.find(positive); f != nil && !takesValue(f) && !hasValue {
				name, value, hasValue = positive, "false", true
			} else {
				f = nil
			}
		}
	}
	if f == nil {
		return nil, n.unknownFlag(word, name)
	}
	switch {
	case hasValue:
	case !takesValue(f):
		value = "true"
	case len(rest) == 0 || n.isFlag(rest[0]):
		return nil, usage{problem: fmt.Sprintf("flag %s needs a value", dashed(name)), hint: "write " + dashed(name) + " VALUE"}
	default:
		value, rest = rest[0], rest[1:]
	}
	if _, isDuration := f.(*cli.DurationFlag); isDuration {
		value = inHours(value)
	}
	n.flags = append(n.flags, givenFlag{flag: f, name: name, text: "--" + f.Names()[0] + "=" + value})
	n.given[f.Names()[0]] = true
	return rest, checkValue(f, name, value)
}

// find gives the flag of a name: the command's own where the command is known.
func (n *normaliser) find(name string) cli.Flag {
	all := n.table[name]
	if len(all) == 0 {
		return nil
	}
	if n.command != nil {
		for _, f := range all {
			if slices.Contains(n.command.Flags, f) {
				return f
			}
		}
	}
	return all[0]
}

// shapes is how many there are of the flags of a name: with a value, and without.
func (n *normaliser) shapes(name string) int {
	var with, without int
	for _, f := range n.table[name] {
		if takesValue(f) {
			with = 1
		} else {
			without = 1
		}
	}
	return with + without
}

// isFlag says whether a word is a flag for certain: a value may begin with "-".
func (n *normaliser) isFlag(word string) bool {
	if !strings.HasPrefix(word, "-") || word == "-" {
		return false
	}
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	return word == "--" || len(n.table[name]) > 0
}

// unknownFlag suggests the nearest flag of the command, or of the others where
// theirs is nearer.
func (n *normaliser) unknownFlag(word, name string) error {
	typed, _, _ := strings.Cut(word, "=")
	u := usage{problem: "unknown flag " + typed, hint: "see nats-reader --help"}
	if n.command == nil {
		u.hint = didYouMeanFlag(name, n.names(nil), u.hint)
		return u
	}
	u.hint = "see nats-reader " + n.name() + " --help"
	own, all := n.names(n.command), n.names(nil)
	if near := nearest(name, all); len(near) > 0 && !slices.ContainsFunc(near, func(f string) bool { return slices.Contains(own, f) }) {
		u.hint = fmt.Sprintf("did you mean %s? It is a flag of %s", dashed(near[0]), n.owners(near[0]))
		return u
	}
	u.hint = didYouMeanFlag(name, own, u.hint)
	return u
}

// names lists the long names of the flags of a command; nil: of all.
func (n *normaliser) names(of *cli.Command) []string {
	var names []string
	for name, flags := range n.table {
		if len(name) > 1 && (of == nil || slices.ContainsFunc(flags, func(f cli.Flag) bool { return slices.Contains(of.Flags, f) })) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// owners names the commands that have a flag.
func (n *normaliser) owners(name string) string {
	var owners []string
	for _, c := range n.all {
		if slices.ContainsFunc(n.table[name], func(f cli.Flag) bool { return slices.Contains(c.command.Flags, f) }) {
			owners = append(owners, c.name)
		}
	}
	return strings.Join(owners, ", ")
}

// check refuses flags of another command: they were read before it was known.
func (n *normaliser) check() error {
	if n.command == nil {
		for _, f := range n.flags {
			if f.flag != cli.HelpFlag && f.flag != cli.VersionFlag {
				return usage{problem: "a command is missing: " + dashed(f.name) + " alone does nothing", hint: "see nats-reader --help"}
			}
		}
		return nil
	}
	if n.needsVerb() {
		if slices.ContainsFunc(n.flags, func(f givenFlag) bool { return f.flag == cli.HelpFlag }) {
			return nil
		}
		return usage{problem: n.name() + " needs one of " + strings.Join(verbsOf(n.command), ", "), hint: "see nats-reader " + n.name() + " --help"}
	}
	for _, f := range n.flags {
		name := f.flag.Names()[0]
		if f.flag == cli.HelpFlag || slices.ContainsFunc(n.command.Flags, func(own cli.Flag) bool {
			return slices.Contains(own.Names(), name)
		}) {
			continue
		}
		u := usage{problem: fmt.Sprintf("command %s has no flag %s", n.name(), dashed(f.name)), hint: "see nats-reader " + n.name() + " --help"}
		if owners := n.owners(name); owners != "" {
			u.hint = fmt.Sprintf("%s is a flag of %s; %s", dashed(f.name), owners, u.hint)
		}
		return u
	}
	return nil
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

func takesValue(f cli.Flag) bool {
	_, isBool := f.(*cli.BoolFlag)
	return !isBool
}

// checkValue refuses a value that its flag cannot hold, in words.
func checkValue(f cli.Flag, name, value string) error {
	bad := func(want, right string) error {
		return usage{problem: fmt.Sprintf("flag %s: %q is not %s", dashed(name), value, want), hint: "write " + right}
	}
	switch f.(type) {
	case *cli.BoolFlag:
		if _, err := strconv.ParseBool(value); err != nil {
			return bad("true or false", dashed(name)+" or "+dashed(name)+"=false")
		}
	case *cli.DurationFlag:
		if _, err := time.ParseDuration(value); err != nil {
			return bad(aDuration, dashed(name)+" 2s")
		}
	case *cli.Float64Flag:
		if _, err := strconv.ParseFloat(value, 64); err != nil {
			return bad("a number", dashed(name)+" 1.5")
		}
	case *cli.IntFlag:
		if _, err := strconv.Atoi(value); err != nil {
			return bad("a whole number", dashed(name)+" 3")
		}
	case *cli.Uint64Flag:
		// All of them count from 1; what is wrong with 0 is told by each.
		if _, err := strconv.ParseUint(value, 10, 64); err != nil {
			return bad("a whole number from 1", dashed(name)+" 3")
		}
	}
	return nil
}
