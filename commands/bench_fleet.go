package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/jsm.go/natscontext"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/chaos/bench/fleet"
)

// The flags of bench that measure many readers, or one for a long time.
const (
	flagStreams     = "streams"
	flagIdle        = "idle"
	flagIdleTime    = "idle-time"
	flagConnections = "connections"
	flagNodes       = "nodes"
	flagRate        = "rate"
	flagWithin      = "within"
)

const fleetCategory = "MANY READERS, AND LONG TIMES"

// fleetFlags are the flags of bench that belong to fleets.
func fleetFlags() []cli.Flag {
	number := func(name, text, value string) cli.Flag {
		return &cli.IntFlag{Name: name, Usage: text, Category: fleetCategory, DefaultText: value}
	}
	length := func(name, text, value string) cli.Flag {
		return &cli.DurationFlag{Name: name, Usage: text, Category: fleetCategory, DefaultText: value}
	}
	return []cli.Flag{
		number(flagReaders, "measure `N` readers of one process, with --idle", "none"),
		number(flagStreams, "`M` streams that they are spread over", "20, or one a reader"),
		boolFlag(flagIdle, fleetCategory, "nothing is published while they are measured"),
		length(flagIdleTime, "count what they do for so long", fleet.DefaultIdle.String()),
		number(flagConnections, "`K` connections that they share", "1"),
		number(flagNodes, "servers of the lab's cluster; from 3 on every stream has three replicas", "1"),
		length(flagFor, "watch for so long whether anything grows: idle readers, or without --readers one at full speed", "no"),
		number(flagRate, "`MESSAGES` a second at full speed at most", "no bound"),
		length(flagWithin, "also judge how soon all read again once the server is back", "not judged"),
	}
}

// wantsFleet says whether the command line of bench asks for a fleet.
func wantsFleet(c *cli.Context) bool {
	return slices.ContainsFunc(fleetFlags(), func(f cli.Flag) bool { return c.IsSet(f.Names()[0]) })
}

// runFleet measures what the command line asks for.
func (p *program) runFleet(c *cli.Context) error {
	if err := fleetTogether(c); err != nil {
		return err
	}
	format, err := benchFormat(c)
	if err != nil {
		return err
	}
	plan, err := p.fleetPlanOf(c)
	if err != nil {
		return err
	}
	show := p.fleetShow(c.Bool(flagQuiet))
	plan.Told = show.told
	r, err := fleet.Run(c.Context, plan)
	show.end()
	if plan.Journal != nil {
		p.closeJournal(plan.Journal)
	}
	if err != nil && r.Schema == "" {
		return fleetProblem(err)
	}
	r.Made.Program = p.version
	if written := fleet.Write(p.stdout, fleet.Format(format), r); written != nil {
		return errors.Join(written, err)
	}
	switch {
	case err != nil:
		return err
	case !r.Good():
		return outcome{exitCritical}
	default:
		return outcome{exitGood}
	}
}

// fleetPlanOf reads the flags.
func (p *program) fleetPlanOf(c *cli.Context) (fleet.Plan, error) {
	plan := fleet.Plan{
		Readers: c.Int(flagReaders), Streams: c.Int(flagStreams), Connections: c.Int(flagConnections), Nodes: c.Int(flagNodes),
		Idle: c.Duration(flagIdleTime), For: c.Duration(flagFor), Rate: c.Int(flagRate), Within: c.Duration(flagWithin),
		Patience: c.Duration(flagLimit),
	}
	storage, err := oneOf(c, flagStorage, storageFile, storageMemory)
	if err != nil {
		return plan, err
	}
	plan.Memory = storage == storageMemory
	if c.IsSet(flagBatch) {
		plan.Config.Pull.MaxMessages = c.Int(flagBatch)
	}
	if c.IsSet(flagSize) {
		sizes, err := numbersOf(c, flagSize, fleet.MostSize)
		if err != nil {
			return plan, err
		}
		if len(sizes) > 1 {
			return plan, usage{problem: fmt.Sprintf("flag --%s: with --%s there is one size, not %d", flagSize, flagFor, len(sizes))}
		}
		plan.Size = sizes[0]
	}
	var where benchPlan
	if err := where.serverOf(c); err != nil {
		return plan, err
	}
	plan.Given, plan.ServerBin = where.foreign, where.binary
	s := settings{timeout: fleetDialTimeout, name: "nats-reader " + p.version, trace: c.Bool(flagTrace)}
	if plan.Given {
		if s, err = p.settingsOf(c); err != nil {
			return plan, err
		}
		if plan.Journal, err = journalOf(c, s); err != nil {
			return plan, err
		}
	}
	plan.Dial = p.fleetDial(s)
	return plan, nil
}

// fleetTogether refuses 0 where it was given, since to leave a flag out says the default, and flags that need another
// one or exclude each other.
func fleetTogether(c *cli.Context) error {
	if c.NArg() > 0 {
		return usage{problem: fmt.Sprintf("bench takes no argument: %q is one too many", c.Args().First()), hint: "it makes streams of its own; see nats-reader bench --help"}
	}
	for _, name := range []string{flagReaders, flagStreams, flagConnections, flagNodes, flagRate, flagBatch} {
		if c.IsSet(name) && c.Int(name) < 1 {
			return usage{problem: fmt.Sprintf("flag --%s: %d is not above 0", name, c.Int(name))}
		}
	}
	for _, name := range []string{flagIdleTime, flagFor, flagWithin, flagLimit} {
		if c.IsSet(name) && c.Duration(name) <= 0 {
			return usage{problem: fmt.Sprintf("flag --%s: %s is not above 0", name, c.Duration(name))}
		}
	}
	readers, watched := c.IsSet(flagReaders), c.IsSet(flagFor)
	switch {
	case readers && !c.Bool(flagIdle):
		return usage{problem: fmt.Sprintf("flag --%s: many readers are measured while they are idle", flagReaders), hint: "add --" + flagIdle}
	case c.Bool(flagIdle) && !readers:
		return usage{problem: fmt.Sprintf("flag --%s: no number of readers is given", flagIdle), hint: "add --" + flagReaders + " N"}
	case !readers && !watched:
		return usage{
			problem: fmt.Sprintf("flag --%s: neither --%s nor --%s says what is measured", firstFleetFlag(c), flagReaders, flagFor),
			hint:    fmt.Sprintf("add --%s 10000 --%s, or --%s 10m", flagReaders, flagIdle, flagFor),
		}
	}
	given := layerOf(c, flagServer) == layerFlag || layerOf(c, flagContext) == layerFlag
	for _, f := range []struct {
		flag       string
		wrong      bool
		what, hint string
	}{
		{flagStreams, !readers, "one reader at full speed has one stream", "add --" + flagReaders + " N --" + flagIdle},
		{flagConnections, !readers, "one reader at full speed has one connection", "add --" + flagReaders + " N --" + flagIdle},
		{flagRate, readers, "idle readers get no messages", "leave it out"},
		{flagSize, readers, "idle readers get no messages", "leave it out"},
		{flagIdleTime, watched, "the time is that of --" + flagFor, "leave it out"},
		{flagWithin, watched, "no server is ended while --" + flagFor + " watches", "leave one of them out"},
		{flagNodes, given, "it is for servers of the lab, and another is given", "leave --" + flagServer + " and --" + flagContext + " out"},
		{flagWithin, given, "only a server of the lab is ended, and another is given", "leave --" + flagServer + " and --" + flagContext + " out"},
		{flagCount, true, "it is not for --" + flagReaders + " and --" + flagFor, "leave it out"},
		{flagRounds, true, "it is not for --" + flagReaders + " and --" + flagFor, "leave it out"},
		{flagOnly, true, "only this program's reader is measured with --" + flagReaders + " and --" + flagFor, "leave it out"},
		{flagPull, true, "it is not for --" + flagReaders + " and --" + flagFor, "leave it out"},
		{flagBase, true, "only this program's reader is measured with --" + flagReaders + " and --" + flagFor, "leave it out"},
		{flagWork, true, "it is not for --" + flagReaders + " and --" + flagFor, "leave it out"},
		{flagMetadata, true, "it is not for --" + flagReaders + " and --" + flagFor, "leave it out"},
	} {
		if c.IsSet(f.flag) && f.wrong {
			return usage{problem: fmt.Sprintf("flag --%s: %s", f.flag, f.what), hint: f.hint}
		}
	}
	return nil
}

// firstFleetFlag is the flag by which a command line asks for a fleet.
func firstFleetFlag(c *cli.Context) string {
	for _, f := range fleetFlags() {
		if c.IsSet(f.Names()[0]) {
			return f.Names()[0]
		}
	}
	return ""
}

// fleetDial makes connections as all of our commands do: to a server of the lab, or to where the settings lead.
func (p *program) fleetDial(s settings) fleet.Dial {
	return func(ctx context.Context, url, name string, more ...nats.Option) (jetstream.JetStream, error) {
		to := s
		if url != "" {
			where, err := natscontext.New("", false, natscontext.WithServerURL(url))
			if err != nil {
				return nil, err
			}
			to.context = where
		}
		nc, err := p.connect(ctx, to, append([]nats.Option{nats.Name(to.name + " bench: " + name)}, more...)...)
		if err != nil {
			return nil, err
		}
		js, err := to.jetStream(nc)
		if err != nil {
			nc.Close()
		}
		return js, err
	}
}

// fleetDialTimeout is how long a server of the lab may take to let a client in: the machine is busy.
const fleetDialTimeout = 10 * time.Second

// fleetProblem adds a word of advice.
func fleetProblem(err error) error {
	var plan *fleet.PlanError
	if errors.As(err, &plan) {
		return usage{problem: plan.Error(), hint: plan.Hint, cause: err}
	}
	return err
}
