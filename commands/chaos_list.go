package commands

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/plan"
)

const (
	flagPlans  = "plans"
	flagFaults = "faults"
	flagTag    = "tag"
)

const chaosListSchema = "nats-reader/chaos-list/v1"

const listDescription = `The plans that the program brings, then all faults: what they do, where,
danger and undo. Of several tags a plan needs one.`

var chaosListExamples = []example{
	{line: "nats-reader chaos list --faults", about: "every fault: what it does, where, its danger, its undo"},
	{line: "nats-reader chaos list --tag smoke --tag cluster", about: "the plans of two tags"},
}

func (p *program) chaosListCommand() *cli.Command {
	return &cli.Command{
		Name: "list", Usage: "the plans that the program brings, and all faults", Description: listDescription,
		Flags: []cli.Flag{
			boolFlag(flagPlans, "", "plans only"),
			boolFlag(flagFaults, "", "faults only"),
			&cli.StringSliceFlag{Name: flagTag, Usage: "plans with this `TAG` only; may be given several times"},
			formatFlag(),
			boolFlag(flagJSON, "", "short for --format json"),
		},
		Action: p.chaosList,
	}
}

// planEntryJSON is one plan of the list.
type planEntryJSON struct {
	Name   string   `json:"name"`
	Title  string   `json:"title"`
	Why    string   `json:"why"`
	Tags   []string `json:"tags"`
	Nodes  int      `json:"nodes"`
	Faults []string `json:"faults"` // those that it names; what is drawn by lot is not among them
	Random int      `json:"random"` // how many are drawn by lot
}

func (p *program) chaosList(c *cli.Context) error {
	asJSON, err := wantsJSON(c)
	if err != nil {
		return err
	}
	if err := noArguments(c); err != nil {
		return err
	}
	tags := c.StringSlice(flagTag)
	onlyPlans, onlyFaults := c.Bool(flagPlans) || len(tags) > 0, c.Bool(flagFaults)
	if onlyPlans && onlyFaults {
		return usage{problem: fmt.Sprintf("flag --%s excludes --%s and --%s", flagFaults, flagPlans, flagTag), hint: "without any of them both are listed"}
	}
	var plans []plan.Plan
	if !onlyFaults {
		if plans, err = taggedPlans(tags); err != nil {
			return err
		}
	}
	if asJSON {
		return listJSON(p.stdout, plans, onlyPlans, onlyFaults)
	}
	if !onlyFaults {
		if err := listPlans(p.stdout, plans); err != nil || onlyPlans {
			return err
		}
	}
	return printCatalogue(p.stdout, false)
}

// taggedPlans are the bundled plans that have one of some tags; all where none is named.
func taggedPlans(tags []string) ([]plan.Plan, error) {
	all, err := plan.Bundled()
	if err != nil {
		return nil, err
	}
	var known []string
	for _, p := range all {
		known = append(known, p.Tags...)
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for _, tag := range tags {
		if !slices.Contains(known, tag) {
			return nil, usage{
				problem: fmt.Sprintf("flag --%s: no plan has the tag %q", flagTag, tag),
				hint:    didYouMean(tag, known, "tags: "+strings.Join(known, ", ")),
			}
		}
	}
	return plan.Tagged(tags...)
}

func listPlans(w io.Writer, plans []plan.Plan) error {
	var text strings.Builder
	text.WriteString("PLANS\n\n")
	widest := 0
	for _, p := range plans {
		if len(p.Name) <= nameWidth {
			widest = max(widest, len(p.Name))
		}
	}
	for _, p := range plans {
		about := p.Title
		if len(p.Tags) > 0 {
			about += " [" + strings.Join(p.Tags, " ") + "]"
		}
		text.WriteString(foldRow(p.Name, about, widest) + "\n")
	}
	text.WriteString("\n")
	_, err := io.WriteString(w, text.String())
	return err
}

func listJSON(w io.Writer, plans []plan.Plan, onlyPlans, onlyFaults bool) error {
	if onlyFaults {
		return printCatalogue(w, true)
	}
	doc := struct {
		Schema string           `json:"schema"`
		Plans  []planEntryJSON  `json:"plans"`
		Faults []faultEntryJSON `json:"faults,omitempty"`
	}{Schema: chaosListSchema, Plans: []planEntryJSON{}}
	for _, p := range plans {
		doc.Plans = append(doc.Plans, planEntry(p))
	}
	if !onlyPlans {
		for _, f := range chaos.Faults() {
			doc.Faults = append(doc.Faults, faultDocument(f))
		}
	}
	return json.NewEncoder(w).Encode(doc)
}

func planEntry(p plan.Plan) planEntryJSON {
	j := planEntryJSON{Name: p.Name, Title: p.Title, Why: p.Why, Tags: append([]string{}, p.Tags...), Nodes: max(p.Server.Nodes, 1), Faults: []string{}}
	for _, s := range p.Steps {
		j.Faults = append(j.Faults, s.Fault)
	}
	if p.Random != nil {
		j.Random = p.Random.Count
	}
	return j
}
