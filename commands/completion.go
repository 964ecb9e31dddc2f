package commands

import (
	"embed"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// completeWord is the hidden command that the scripts of the shells call. It takes no
// flags of its own: what stands behind it is the line that is being typed.
const completeWord = "__complete"

// shells are those whose script the program brings.
var shells = []string{"bash", "zsh", "fish", "powershell"}

//go:embed completion
var completionScripts embed.FS

const completionDescription = `The script makes a shell complete commands, flags and their values: faults, plans,
targets, checks, words of explain, contexts, and streams, consumers and subjects
of the server that the line names so far. A server that does not answer within a
second is left out, without a word.

bash, in ~/.bashrc; zsh, in ~/.zshrc behind compinit; fish, once; PowerShell, in
the file that $PROFILE names:

   source <(nats-reader completion bash)
   source <(nats-reader completion zsh)
   nats-reader completion fish > ~/.config/fish/completions/nats-reader.fish
   nats-reader completion powershell | Out-String | Invoke-Expression`

var completionExamples = []example{
	{line: "nats-reader completion bash > nats-reader.bash", about: "a script for bash to source"},
	{line: "nats-reader completion zsh > _nats-reader", about: "for a folder of zsh's fpath"},
	{line: "nats-reader completion fish > nats-reader.fish", about: "for ~/.config/fish/completions"},
}

func (p *program) completionCommand() *cli.Command {
	return &cli.Command{
		Name: "completion", Usage: "a script that makes a shell complete what is typed", ArgsUsage: strings.Join(shells, "|"), Description: completionDescription,
		Action: func(c *cli.Context) error {
			all := "nats-reader completion " + strings.Join(shells, "|")
			switch c.NArg() {
			case 0:
				return usage{problem: "a shell is missing", hint: all}
			case 1:
			default:
				return usage{problem: fmt.Sprintf("completion takes one shell: %q is one too many", c.Args().Get(1)), hint: all}
			}
			shell := strings.ToLower(c.Args().First())
			if shell == "pwsh" {
				shell = "powershell"
			}
			script, err := completionScripts.ReadFile("completion/nats-reader." + shell)
			if err != nil {
				return usage{problem: fmt.Sprintf("there is no completion for %q", c.Args().First()), hint: didYouMean(shell, shells, "there are "+strings.Join(shells, ", "))}
			}
			_, err = p.stdout.Write(script)
			return err
		},
	}
}
