package commands

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// leaf is what a command line can run: a command, or one of its verbs.
type leaf struct {
	name    string // as typed: chaos run
	command *cli.Command
}

func leavesOf(commands []*cli.Command) (all []leaf) {
	for _, c := range commands {
		if len(c.Subcommands) == 0 {
			all = append(all, leaf{c.Name, c})
		}
		for _, verb := range c.Subcommands {
			all = append(all, leaf{c.Name + " " + verb.Name, verb})
		}
	}
	return all
}

// needsVerb says whether the next word is the verb of the command.
func (n *normaliser) needsVerb() bool { return n.command != nil && len(n.command.Subcommands) > 0 }

func (n *normaliser) readVerb(word string) error {
	for _, verb := range n.command.Subcommands {
		if verb.HasName(word) {
			n.command, n.path = verb, append(n.path, verb.Name)
			return nil
		}
	}
	verbs := verbsOf(n.command)
	return usage{
		problem: fmt.Sprintf("unknown word %q after %s", word, n.command.Name),
		hint:    didYouMean(word, verbs, "there are "+strings.Join(verbs, ", ")),
	}
}

func verbsOf(c *cli.Command) (names []string) {
	for _, verb := range c.Subcommands {
		names = append(names, verb.Name)
	}
	return names
}

// name is what was typed to run: chaos run.
func (n *normaliser) name() string { return strings.Join(n.path, " ") }
