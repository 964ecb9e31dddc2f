package commands

import (
	"fmt"

	"github.com/urfave/cli/v2"
)

const chaosDescription = `Experiments with a reader: a plan says which server, who publishes and reads,
which faults come when, and what must hold.

nats-reader chaos VERB --help has the flags of each verb.`

var chaosExamples = []example{
	{line: "nats-reader chaos list --plans", about: "what can be played"},
	{line: "nats-reader chaos run thirteen-cut", about: "a plan against this reader: the connection is cut"},
	{line: "nats-reader chaos clear", about: "after a kill -9: undo what is left"},
}

// chaosCommand has a verb with flags of its own as its first argument.
func (p *program) chaosCommand() *cli.Command {
	return &cli.Command{
		Name: "chaos", Usage: "play plans of faults against readers, and judge; list, show and check them; clear what a killed process left",
		Description: chaosDescription, HideHelpCommand: true,
		Subcommands: []*cli.Command{p.chaosRunCommand(), p.chaosMatrixCommand(), p.chaosListCommand(), p.chaosShowCommand(), p.chaosValidateCommand(), p.chaosClearCommand()},
	}
}

const clearDescription = `clear undoes the faults on servers that are in the journal of a process that
no longer lives, and removes temporary folders and servers of labs whose
owner is dead; right behind a kill it waits for what ends by itself. It
connects to the server that the journal names, with the login of the flags
and the environment, or that of the context used then. --dry-run tells what
it would do. Exit code 0: nothing is left; 1: something is.`

var chaosClearExamples = []example{
	{line: "nats-reader chaos clear --dry-run", about: "what a killed nats-reader has left"},
	{line: "nats-reader chaos clear", about: "undo it"},
}

func (p *program) chaosClearCommand() *cli.Command {
	return &cli.Command{
		Name: "clear", Usage: "undo what a killed nats-reader has left", Description: clearDescription,
		Flags: []cli.Flag{
			boolFlag(flagDryRun, "", "tell what would be done, and do nothing"),
			formatFlag(),
			boolFlag(flagJSON, "", "short for --format json"),
		},
		Action: func(c *cli.Context) error {
			asJSON, err := wantsJSON(c)
			if err != nil {
				return err
			}
			if err := noArguments(c); err != nil {
				return err
			}
			return p.clear(c, asJSON)
		},
	}
}

// noArguments refuses what a verb does not take.
func noArguments(c *cli.Context) error {
	if c.NArg() == 0 {
		return nil
	}
	return usage{
		problem: fmt.Sprintf("chaos %s takes no argument: %q is one too many", c.Command.Name, c.Args().First()),
		hint:    fmt.Sprintf("see nats-reader chaos %s --help", c.Command.Name),
	}
}
