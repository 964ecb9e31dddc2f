package commands

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/chaos/plan"
)

const (
	flagRandSeed = "rand-seed"
	flagSchema   = "schema"
	formatYAML   = "yaml"
)

const showDescription = `What a plan does, in words: which server, who publishes, what happens when,
and what must hold. PLAN is one that the program brings, or a file (a name
with a path, or one that ends in .yaml, .yml or .json; - is standard input).

With --rand-seed every draw is fixed. What --format yaml and json print are
plans again. The schema is for editors.`

var chaosShowExamples = []example{
	{line: "nats-reader chaos show origin-1", about: "a plan in words"},
	{line: "nats-reader chaos show random --rand-seed 7 --format yaml > my-plan.yaml", about: "the plan that a seed draws, as a file to change"},
	{line: "nats-reader chaos show --schema > plan.schema.json", about: "for the completion of an editor"},
}

func (p *program) chaosShowCommand() *cli.Command {
	return &cli.Command{
		Name: "show", Usage: "what a plan does, in words", ArgsUsage: "PLAN", Description: showDescription,
		Flags: []cli.Flag{
			randSeedFlag(),
			boolFlag(flagSchema, "", "print the JSON schema of plans"),
			&cli.StringFlag{Name: flagFormat, Usage: "`text|json|yaml`: in words, or as a plan", Value: "text", DefaultText: "text"},
			boolFlag(flagJSON, "", "short for --format json"),
		},
		Action: p.chaosShow,
	}
}

// randSeedFlag fixes the draws of a plan.
func randSeedFlag() cli.Flag {
	return &cli.Uint64Flag{Name: flagRandSeed, Usage: "fix what the plan leaves to the seed `N`", DefaultText: "the plan's own, or any"}
}

// randSeed is the seed that was given; 0: none.
func randSeed(c *cli.Context) (uint64, error) {
	seed := c.Uint64(flagRandSeed)
	if c.IsSet(flagRandSeed) && seed == 0 {
		return 0, usage{problem: fmt.Sprintf("flag --%s: 0 is not a whole number from 1", flagRandSeed)}
	}
	return seed, nil
}

func showFormat(c *cli.Context) (string, error) {
	format := c.String(flagFormat)
	if all := []string{"text", "json", formatYAML}; !slices.Contains(all, format) {
		return "", usage{
			problem: fmt.Sprintf("flag --%s: %q is not one of %s", flagFormat, format, strings.Join(all, ", ")),
			hint:    didYouMean(format, all, ""),
		}
	}
	if c.Bool(flagJSON) {
		format = "json"
	}
	return format, nil
}

func (p *program) chaosShow(c *cli.Context) error {
	format, err := showFormat(c)
	if err != nil {
		return err
	}
	seed, err := randSeed(c)
	if err != nil {
		return err
	}
	if c.Bool(flagSchema) {
		if c.NArg() > 0 {
			return usage{problem: fmt.Sprintf("chaos show --%s takes no argument: %q is one too many", flagSchema, c.Args().First())}
		}
		_, err := p.stdout.Write(plan.Schema())
		return err
	}
	switch c.NArg() {
	case 0:
		return usage{problem: "a plan is missing", hint: "nats-reader chaos show PLAN; nats-reader chaos list --plans lists them"}
	case 1:
	default:
		return usage{problem: fmt.Sprintf("chaos show takes one plan: %q is one too many", c.Args().Get(1))}
	}
	one, err := p.loadPlan(c.Args().First())
	if err != nil {
		return err
	}
	if c.IsSet(flagRandSeed) {
		if one, err = one.Resolve(seed); err != nil {
			return usage{problem: fmt.Sprintf("plan %s: %s", one.Name, oneLine(err.Error())), cause: err}
		}
	}
	return showPlan(p.stdout, one, format)
}

func showPlan(w io.Writer, p plan.Plan, format string) error {
	var text []byte
	var err error
	switch format {
	case "json":
		text, err = p.JSON()
	case formatYAML:
		text, err = p.YAML()
	default:
		text = []byte(planInWords(p))
	}
	if err != nil {
		return err
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	_, err = w.Write(text)
	return err
}

// headWidth is where the sentences of a plan begin.
const headWidth = 11

// planInWords lays a plan out for a terminal.
func planInWords(p plan.Plan) string {
	var text strings.Builder
	title := p.Name + ": " + p.Title
	if len(p.Tags) > 0 {
		title += " [" + strings.Join(p.Tags, " ") + "]"
	}
	fmt.Fprintf(&text, "%s\n\n", fold(title, 0))
	for _, s := range p.Words() {
		for i, line := range s.Lines {
			head := ""
			if i == 0 {
				head = s.Head
			}
			fmt.Fprintf(&text, "%-*s%s\n", headWidth, head, fold(line, headWidth))
		}
	}
	return text.String()
}
