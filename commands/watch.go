package commands

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/reader"
)

const (
	flagDemo              = "demo"
	flagDemoNodes         = "demo-nodes"
	flagPlain             = "plain"
	flagInject            = "inject"
	flagDuration          = "duration"
	flagAllowServerFaults = "allow-server-faults"
	flagTargetName        = "target-name"
)

const watchDescription = `Each event of the reader is one line; the last line is the verdict and its
figures, and the exit code says the same: 0 contract held, 2 broken, 3
unknown, 130 interrupted.

--demo brings its own nats-server, a stream and a publisher of 100 messages a
second, needs no other argument, and runs until Ctrl-C where no --duration
ends it. The figures are then measured against the ids the server
acknowledged to the publisher, on another stream by consumer and stream
sequences. --demo-nodes 3 lets it be a cluster, and the stream have three
replicas.

--inject FAULT@5s+10s makes a fault 5s after the start for 10s, without @5s
at once; it may be given several times. nats-reader chaos list lists the
faults. On a server that is not the demo's only the reader's own consumer and
connection are touched.

nats-reader watch --demo --duration 24s --inject delete-consumer@3s \
   --inject drop-subscription@8s \
   --inject api-timeout@11s+3s --inject kill-server@19s+1s`

func (p *program) watchCommand() *cli.Command {
	flags := []cli.Flag{
		boolFlag(flagDemo, "", "bring a server, a stream and a publisher"),
		&cli.IntFlag{Name: flagDemoNodes, Usage: "let the demo be a cluster of `N` servers", Value: 1},
		boolFlag(flagPlain, "", "one line an event"),
		formatFlag(),
		boolFlag(flagJSON, "", "short for --format json"),
		&cli.StringSliceFlag{Name: flagInject, Usage: "`FAULT@5s+10s`: make a fault, may be repeated"},
		&cli.DurationFlag{Name: flagDuration, Usage: "end after this", DefaultText: "with Ctrl-C"},
		boolFlag(flagAllowServerFaults, "", "faults may touch what is not ours on a server that is not the demo's"),
		&cli.StringFlag{Name: flagTargetName, Usage: "the `STREAM` a destructive fault may destroy, typed once more"},
	}
	return &cli.Command{
		Name: "watch", Usage: "a reader under your eyes: every event a line, a verdict at the end",
		ArgsUsage: "[STREAM [FILTER...]]", Description: watchDescription,
		Flags:  append(append(flags, startFlags()...), readerFlags()...),
		Action: p.watch,
	}
}

// watchPlan is what the command line of watch asks for.
type watchPlan struct {
	demo        bool
	nodes       int // of the demo; 1: a server by itself
	json        bool
	duration    time.Duration // 0: until interrupted
	faults      []chaos.Spec
	config      reader.Config
	allowFaults bool
	targetName  string
	journal     *chaos.Journal // of faults on a server that is not the demo's
}

// watchPlanOf reads all that can be wrong without a server.
func watchPlanOf(c *cli.Context, now time.Time) (watchPlan, error) {
	w := watchPlan{
		demo: c.Bool(flagDemo), nodes: c.Int(flagDemoNodes), duration: c.Duration(flagDuration),
		allowFaults: c.Bool(flagAllowServerFaults), targetName: c.String(flagTargetName),
	}
	var err error
	if w.json, err = wantsJSON(c); err != nil {
		return w, err
	}
	if c.IsSet(flagDuration) && w.duration <= 0 {
		return w, usage{problem: fmt.Sprintf("flag --%s: %s is not above 0", flagDuration, w.duration)}
	}
	if w.config, err = readerConfig(c); err != nil {
		return w, err
	}
	if w.config.Start, err = startOf(c, now); err != nil {
		return w, err
	}
	if w.faults, err = faultsOf(c, w.duration); err != nil {
		return w, err
	}
	if err = checkNodes(c, w); err != nil {
		return w, err
	}
	if !w.demo {
		w.config.Stream, w.config.Subjects, err = streamArguments(c)
		if err != nil && c.NArg() == 0 {
			return w, usage{problem: "a stream is missing", hint: "nats-reader watch STREAM, or nats-reader watch --demo"}
		}
		return w, err
	}
	if c.NArg() > 0 {
		return w, usage{problem: fmt.Sprintf("watch --demo brings its own stream: %q is one too many", c.Args().First()), hint: "leave out --demo or the stream"}
	}
	w.config.Stream = demoStream
	return w, nil
}

// checkNodes tells a cluster that cannot be had.
func checkNodes(c *cli.Context, w watchPlan) error {
	switch {
	case c.IsSet(flagDemoNodes) && !w.demo:
		return usage{problem: fmt.Sprintf("flag --%s: only the demo brings its own servers", flagDemoNodes), hint: "add --" + flagDemo}
	case w.nodes < 1 || w.nodes > lab.MostNodes:
		return usage{problem: fmt.Sprintf("flag --%s: %d is not 1 to %d", flagDemoNodes, w.nodes, lab.MostNodes), hint: "3 is a cluster that survives the loss of one"}
	}
	for _, f := range w.faults {
		if entry, _ := chaos.FindFault(f.Name); w.demo && w.nodes == 1 && (entry.Clustered || f.Params["node"] != "") {
			entry.Clustered = true
			return usage{problem: fmt.Sprintf("flag --%s: %s needs a cluster, and the demo is a single server", flagInject, f.Fault()), hint: demoHint(entry)}
		}
	}
	return nil
}

// formatFlag is the form of what is not messages.
func formatFlag() cli.Flag {
	return &cli.StringFlag{Name: flagFormat, Usage: "`text|json`: the form of the output", Value: "text", DefaultText: "text"}
}

func wantsJSON(c *cli.Context) (bool, error) {
	all := []string{"text", "json"}
	switch format := c.String(flagFormat); {
	case c.Bool(flagJSON), format == "json":
		return true, nil
	case format == "text":
		return false, nil
	default:
		return false, usage{
			problem: fmt.Sprintf("flag --%s: %q is not one of text, json", flagFormat, format),
			hint:    didYouMean(format, all, ""),
		}
	}
}

// faultsOf reads every --inject.
func faultsOf(c *cli.Context, duration time.Duration) ([]chaos.Spec, error) {
	var specs []chaos.Spec
	for _, text := range c.StringSlice(flagInject) {
		s, err := chaos.ParseSpec(text)
		if err != nil {
			return nil, err
		}
		if duration > 0 && s.At >= duration {
			return nil, usage{
				problem: fmt.Sprintf("flag --%s: %s is due at %s, and --%s ends at %s", flagInject, s.Fault(), s.At, flagDuration, duration),
				hint:    "let it last longer, or make the fault earlier",
			}
		}
		specs = append(specs, s)
	}
	if err := chaos.CheckSchedule(specs); err != nil {
		return nil, fmt.Errorf("flag --%s: %w", flagInject, err)
	}
	return specs, nil
}

func (p *program) watch(c *cli.Context) error {
	plan, err := watchPlanOf(c, time.Now())
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(c.Context)
	defer stop()
	lines := &printer{json: plan.json, out: p.stdout, gone: stop}
	unwatch := watchOutput(p.stdout, stop)
	defer unwatch()

	var s settings
	if !plan.demo {
		if s, err = p.settingsOf(c); err != nil {
			return err
		}
		if plan.hasFaults(chaos.LayerServer) {
			if plan.journal, err = journalOf(c, s); err != nil {
				return err
			}
		}
	}
	defer p.closeJournal(plan.journal)
	verdict, err := p.play(ctx, s, plan, lines)
	interrupted := c.Context.Err() != nil
	if err != nil && interrupted {
		if err = nil; verdict.Finding == "" || verdict.Sessions == 0 {
			verdict = unjudged(plan, "interrupted before the reader was open")
		}
	}
	if ctx.Err() != nil && !interrupted {
		return nil // nobody reads the lines any more
	}
	if err != nil {
		if verdict.Finding != "" {
			lines.summary(verdict, false) // what was begun ends with a verdict
		}
		if verdict.Finding == oracle.Broken {
			printError(p.stderr, explainError(err))
			return outcome{exitCritical}
		}
		return err
	}
	lines.summary(verdict, interrupted)
	if interrupted {
		return outcome{exitInterrupted}
	}
	return outcome{exitOf(verdict.Finding)}
}

// play sets the scene, runs it, and leaves nothing of it.
func (p *program) play(ctx context.Context, s settings, plan watchPlan, lines *printer) (oracle.Verdict, error) {
	scene, err := p.setScene(ctx, s, plan, lines)
	if err != nil {
		return oracle.Verdict{}, err
	}
	defer scene.close()
	return scene.run(ctx)
}

// unjudged is the verdict on a reader that never read.
func unjudged(plan watchPlan, why string) oracle.Verdict {
	v := oracle.Verdict{Finding: oracle.Unknown, MeasuredBy: plan.measure(), Doubts: []string{why}}
	if !plan.demo {
		v.Orphans = oracle.NotCounted
	}
	return v
}

// hasFaults says whether a fault acts on a layer.
func (w watchPlan) hasFaults(layer chaos.Layer) bool {
	return slices.ContainsFunc(w.faults, func(s chaos.Spec) bool {
		f, _ := chaos.FindFault(s.Name)
		return f.Layer == layer
	})
}

// measure says what the figures are measured against.
func (w watchPlan) measure() oracle.Measure {
	if w.demo {
		return oracle.ByIDs
	}
	return oracle.BySequences
}
