package commands

import (
	"context"
	"slices"
	"strings"

	"github.com/nats-io/jsm.go/natscontext"
	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/bench"
	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/matrix"
	"github.com/an-open-reader/nats-reader/chaos/plan"
	"github.com/an-open-reader/nats-reader/chaos/target"
	"github.com/an-open-reader/nats-reader/reader/doctor"
)

// valuesOf adds the values of the flag that the cursor stands behind: by its name,
// otherwise by what its help has in place of a value.
func (p *program) valuesOf(ctx context.Context, c *choices, u unfinished) {
	value := strings.TrimPrefix(u.current, u.glued)
	stream := ""
	if len(u.args) > 0 {
		stream, _, _ = strings.Cut(u.args[0], ",")
	}
	switch u.value.Names()[0] {
	case flagContext, flagSystemContext:
		c.add("a context of the nats CLI", natscontext.KnownContexts()...)
		c.files = strings.ContainsAny(value, `/\`)
	case flagInject:
		c.faults(chaos.LayerWire, chaos.LayerServer, chaos.LayerProcess, chaos.LayerReader)
		c.open = true // @5s+10s
	case flagFault:
		c.faults(chaos.LayerWire)
		c.open = true
	case flagTarget:
		c.targets()
		c.open = true // exec:, and parameters in parentheses
	case flagTargets:
		c.targets()
		c.add("every one of them", allOf)
		c.listed(value)
	case flagFaults:
		c.plans(true)
		c.listed(value)
		c.files = strings.ContainsAny(value, `/\.`)
	case flagServers:
		c.add("the server that the program brings", matrix.Embedded)
		c.add("every version", allOf)
		c.add("a version of nats-server", lab.Versions()...)
		c.listed(value)
	case flagServerVersion:
		c.add("a version of nats-server", lab.Versions()...)
	case flagTag:
		c.tags()
	case flagOnly, flagSkip, flagBase:
		if u.name == "bench" {
			c.add("a contestant", bench.Names()...)
		} else {
			c.checks()
		}
		c.listed(value)
	case flagDurable:
		c.add("a durable consumer", p.consumersOf(ctx, u, stream, true)...)
	case flagTargetName:
		c.add("a stream", p.streamsOf(ctx, u)...)
	case flagProxy:
		c.add("where the proxy's control is by custom", "http://127.0.0.1:8474")
	default:
		c.words(lineOf(u.value).value, value)
	}
}

// words adds what the help of a flag has for its value: some words, of which one is
// taken (text|json) or several (text,json), a file or a folder.
func (c *choices) words(told, value string) {
	switch told {
	case "FILE", "BINARY":
		c.files = true
	case "FOLDER":
		c.folders = true
	}
	for _, between := range []string{"|", ","} {
		if words := strings.Split(told, between); len(words) > 1 && told == strings.ToLower(told) {
			c.add("", words...)
			if between == "," {
				c.listed(value)
			}
			return
		}
	}
}

// listed makes a list of what was added: each goes on behind the last comma, and stands
// there once.
func (c *choices) listed(value string) {
	i := strings.LastIndexByte(value, ',')
	if i < 0 {
		return
	}
	before := strings.Split(value[:i], ",")
	c.all = slices.DeleteFunc(c.all, func(one choice) bool { return slices.Contains(before, one.word) })
	for k := range c.all {
		c.all[k].word = value[:i+1] + c.all[k].word
	}
}

// argumentsOf adds what may stand in the place of an argument, by its name in the help
// of its command.
func (p *program) argumentsOf(ctx context.Context, c *choices, u unfinished) {
	names := strings.Fields(strings.NewReplacer("[", " ", "]", " ", ",", " ", "...", " ").Replace(u.command.ArgsUsage))
	names = slices.Compact(names)
	if len(names) == 0 {
		return
	}
	place := len(u.args)
	if place >= len(names) {
		if !strings.HasSuffix(strings.TrimRight(u.command.ArgsUsage, "]"), "...") {
			return
		}
		place = len(names) - 1
	}
	stream := func(before int) string {
		if i := slices.Index(names, "STREAM"); i >= 0 && i < before && i < len(u.args) {
			name, _, _ := strings.Cut(u.args[i], ",")
			return name
		}
		return ""
	}
	switch name := names[place]; name {
	case "STREAM":
		if u.named[flagDemo] == "true" || u.named[flagReplay] != "" || u.named[flagFrom] != "" && u.name == "doctor" {
			return
		}
		c.add("a stream", p.streamsOf(ctx, u)...)
		if strings.Contains(u.command.ArgsUsage, "STREAM,") || strings.Contains(u.command.ArgsUsage, "STREAM[,") {
			c.listed(u.current)
		}
	case "CONSUMER":
		c.add("a consumer", p.consumersOf(ctx, u, stream(place), false)...)
	case "FILTER":
		c.add("a subject", p.subjectsOf(ctx, u, stream(place))...)
	case "FAULT":
		c.faults(chaos.LayerWire, chaos.LayerServer)
	case "WORD":
		c.explained(u)
	case "COMMAND":
		for _, one := range below(p.app().Commands) {
			c.add(one.about, one.name)
		}
	case "VERB":
		if one := find(p.app().Commands, u.args[0]); one != nil {
			for _, verb := range below(one.Subcommands) {
				c.add(verb.about, verb.name)
			}
		}
	case "FILE":
		c.files = true
	default:
		c.planWords(name)
	}
}

// planWords adds plans where they may stand, and otherwise the words of a choice.
func (c *choices) planWords(name string) {
	if !strings.HasPrefix(name, "PLAN") {
		c.words(name, "")
		return
	}
	c.plans(strings.Contains(name, "TAG"))
	c.files = true
}

func (c *choices) faults(layers ...chaos.Layer) {
	for _, f := range chaos.Faults() {
		if slices.Contains(layers, f.Layer) {
			c.add(f.Does, f.Name)
		}
	}
}

func (c *choices) targets() {
	for _, e := range target.Entries() {
		c.add(e.Words, strings.TrimSuffix(e.Name, "CMD"))
	}
}

func (c *choices) checks() {
	for _, one := range doctor.Checks() {
		c.add(one.Title, one.ID)
	}
}

// plans adds the plans that the program brings; where a tag may stand, tags and all.
func (c *choices) plans(groups bool) {
	bundled, err := plan.Bundled()
	if err != nil {
		return
	}
	for _, one := range bundled {
		c.add(one.Title, one.Name)
	}
	if groups {
		c.add("every plan", allPlans)
		c.tags()
	}
}

// tags adds the tags of plans that are not the name of one as well.
func (c *choices) tags() {
	bundled, err := plan.Bundled()
	if err != nil {
		return
	}
	var tags []string
	for _, one := range bundled {
		tags = append(tags, one.Tags...)
	}
	slices.Sort(tags)
	for _, tag := range slices.Compact(tags) {
		if !slices.ContainsFunc(c.all, func(one choice) bool { return one.word == tag }) {
			c.add("the plans of a tag", tag)
		}
	}
}

// explained adds the words that can be looked up; each once.
func (c *choices) explained(u unfinished) {
	if len(u.args) > 0 {
		return
	}
	seen := map[string]bool{}
	for _, e := range entries() {
		if about := e.Text; !seen[e.Word] {
			seen[e.Word] = true
			if about == "" {
				about, _, _ = strings.Cut(e.Means, ". ")
			}
			c.add(string(e.Topic)+": "+about, e.Word)
		}
	}
}

// connectionOnly are the flags of a line that say how to connect, in the form that
// urfave/cli reads.
func (u unfinished) connectionOnly() (args []string, given map[string]bool) {
	given = map[string]bool{}
	known := globalFlags()
	for _, f := range u.given {
		name := f.flag.Names()[0]
		if slices.ContainsFunc(known, func(g cli.Flag) bool { return g.Names()[0] == name }) {
			args, given[name] = append(args, f.text), true
		}
	}
	return args, given
}
