package commands

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

const chaosDescription = `nats-reader chaos list   prints all faults: what they do, where, danger, undo
nats-reader chaos clear  undoes what a killed nats-reader has left

clear undoes the faults on servers that are in the journal of a process that
no longer lives, and removes temporary folders and servers of labs whose
owner is dead. It connects to the server that the journal names, with the
login of the flags and the environment, or that of the context used then.
--dry-run tells what it would do. Exit code 0: nothing is left; 1: something
is.`

// chaosVerbs are what can follow "chaos".
var chaosVerbs = []string{"list", "clear"}

func (p *program) chaosCommand() *cli.Command {
	return &cli.Command{
		Name: "chaos", Usage: "list all faults; clear what a killed process left",
		ArgsUsage: strings.Join(chaosVerbs, "|"), Description: chaosDescription,
		Flags: []cli.Flag{
			boolFlag(flagDryRun, "", "clear: tell what would be done, and do nothing"),
			formatFlag(),
			boolFlag(flagJSON, "", "short for --format json"),
		},
		Action: p.chaos,
	}
}

func (p *program) chaos(c *cli.Context) error {
	asJSON, err := wantsJSON(c)
	if err != nil {
		return err
	}
	verb := c.Args().First()
	switch {
	case verb == "":
		return usage{problem: "chaos needs one of " + strings.Join(chaosVerbs, ", "), hint: "see nats-reader chaos --help"}
	case c.NArg() > 1:
		return usage{problem: fmt.Sprintf("chaos %s takes no argument: %q is one too many", verb, c.Args().Get(1)), hint: "see nats-reader chaos --help"}
	case verb == "list" && c.Bool(flagDryRun):
		return usage{problem: "flag --" + flagDryRun + " is for chaos clear: chaos list changes nothing"}
	case verb == "list":
		return printCatalogue(p.stdout, asJSON)
	case verb == "clear":
		return p.clear(c, asJSON)
	default:
		return usage{problem: fmt.Sprintf("unknown word %q after chaos", verb), hint: didYouMean(verb, chaosVerbs, "there are "+strings.Join(chaosVerbs, ", "))}
	}
}
