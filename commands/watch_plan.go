package commands

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/reader"
)

// watchPlan is what the command line of watch asks for.
type watchPlan struct {
	demo        bool
	nodes       int // of the demo; 1: a server by itself
	json        bool
	duration    time.Duration // 0: until interrupted
	faults      []chaos.Spec
	config      reader.Config
	streams     []string // several, or the one of config; none: it is found from the subject
	perStream   int      // readers of each stream
	allowFaults bool
	targetName  string
	journal     *chaos.Journal // of faults on a server that is not the demo's
	armed       bool           // keys may make faults
	screen      bool           // on a terminal
	look        lookPlan
	where       string // the server, for the screen
	record      string // the file to keep the run in; "": none
	replay      string // the file to play; "": none
	speed       float64
	metrics     *metrics // nil: nobody is shown any
	view        *watchView
	*crashes
	over <-chan struct{} // closed when somebody asks for the end; nil: nobody can
}

// watchPlanOf reads all that can be wrong without a server.
func watchPlanOf(c *cli.Context, now time.Time) (watchPlan, error) {
	w := watchPlan{
		demo: c.Bool(flagDemo), nodes: c.Int(flagDemoNodes), duration: c.Duration(flagDuration),
		allowFaults: c.Bool(flagAllowServerFaults), targetName: c.String(flagTargetName), perStream: c.Int(flagReaders),
	}
	var err error
	if w.json, err = wantsJSON(c); err != nil {
		return w, err
	}
	if w.look, err = lookPlanOf(c, os.Environ()); err != nil {
		return w, err
	}
	w.armed, w.record = c.Bool(flagArm), c.String(flagRecord)
	if c.IsSet(flagReplay) || c.IsSet(flagSpeed) {
		return w, w.readReplay(c)
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
		if err == nil {
			err = w.splitStreams()
		}
		if err == nil {
			err = w.checkReaders(c)
		}
		return w, err
	}
	if c.NArg() > 0 {
		return w, usage{problem: fmt.Sprintf("watch --demo brings its own stream: %q is one too many", c.Args().First()), hint: "leave out --demo or the stream"}
	}
	w.config.Stream, w.streams = demoStream, []string{demoStream}
	return w, w.checkReaders(c)
}

// one is a reader that is to be watched.
type one struct {
	name string // "": the only one
	cfg  reader.Config
}

// readers are those of the plan, named by their streams.
func (w watchPlan) readers() []one {
	if len(w.streams) < 2 && w.perStream < 2 {
		return []one{{cfg: w.config}}
	}
	streams := w.streams
	if len(streams) == 0 {
		streams = []string{""}
	}
	var all []one
	for _, stream := range streams {
		for i := range w.perStream {
			r := one{name: stream, cfg: w.config}
			if stream == "" {
				r.name = w.name()
			}
			r.cfg.Stream = stream
			if w.perStream > 1 {
				r.name += fmt.Sprintf("#%d", i+1)
			}
			all = append(all, r)
		}
	}
	return all
}

func (w watchPlan) readerNames() []string {
	var names []string
	for _, r := range w.readers() {
		if r.name != "" {
			names = append(names, r.name)
		}
	}
	return names
}

// maxReaders is how many readers one run watches.
const maxReaders = 1000

// checkReaders tells readers that cannot be told apart, or are too many.
func (w *watchPlan) checkReaders(c *cli.Context) error {
	n := max(len(w.streams), 1) * w.perStream
	switch {
	case w.perStream < 1 || n > maxReaders:
		return usage{problem: fmt.Sprintf("flag --%s: %d is not 1 to %d in all", flagReaders, w.perStream, maxReaders)}
	case n > 1 && w.config.Name != "":
		return usage{problem: fmt.Sprintf("flag --%s: %d readers cannot have one consumer's name", flagName, n), hint: "leave it out: each gets a name of its own"}
	case n > 1 && w.config.Durable != "":
		return usage{problem: fmt.Sprintf("flag --%s: what %d readers of one durable must read is not known", flagDurable, n), hint: "watch one reader of it"}
	}
	return nil
}

// splitStreams reads several streams, apart by commas.
func (w *watchPlan) splitStreams() error {
	if w.config.Stream == "" {
		return nil
	}
	for name := range strings.SplitSeq(w.config.Stream, ",") {
		switch {
		case name == "":
			return usage{problem: fmt.Sprintf("%q: the name of a stream is missing between commas", w.config.Stream)}
		case slices.Contains(w.streams, name):
			return usage{problem: fmt.Sprintf("stream %s is named twice", name), hint: "--" + flagReaders + " 2 reads it twice"}
		}
		w.streams = append(w.streams, name)
	}
	w.config.Stream = w.streams[0]
	return nil
}

// readReplay reads what concerns a replay.
func (w *watchPlan) readReplay(c *cli.Context) error {
	w.replay, w.speed = c.String(flagReplay), c.Float64(flagSpeed)
	switch {
	case w.replay == "":
		return usage{problem: fmt.Sprintf("flag --%s: there is nothing to replay", flagSpeed), hint: "add --" + flagReplay + " FILE"}
	case w.speed <= 0:
		return usage{problem: fmt.Sprintf("flag --%s: %g is not above 0", flagSpeed, w.speed)}
	case c.NArg() > 0:
		return usage{problem: fmt.Sprintf("watch --%s reads no stream: %q is one too many", flagReplay, c.Args().First())}
	}
	for _, name := range []string{flagDemo, flagDemoNodes, flagInject, flagDuration, flagRecord, flagArm, flagMetrics, flagJSON, flagFormat} {
		if c.IsSet(name) {
			return usage{problem: fmt.Sprintf("flags --%s and --%s do not go together", flagReplay, name), hint: "a replay makes nothing happen: leave out --" + name}
		}
	}
	return nil
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
		if err := checkNode(f, w); err != nil {
			return err
		}
	}
	return nil
}

// checkNode tells a node that the demo's cluster will not have, before it is started.
func checkNode(f chaos.Spec, w watchPlan) error {
	name := f.Params["node"]
	if !w.demo || name == "" {
		return nil
	}
	all := chaos.NodeRoles()
	for n := range w.nodes {
		all = append(all, "n"+strconv.Itoa(n+1))
	}
	if slices.Contains(all, name) {
		return nil
	}
	return usage{
		problem: fmt.Sprintf("flag --%s: %s names node %q: there is no such node in a cluster of %d", flagInject, f.Name, name, w.nodes),
		hint:    "there are " + strings.Join(all, ", "),
	}
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

// title is what is read, for the first line of a screen.
func (w watchPlan) title() string {
	if w.demo {
		return fmt.Sprintf("stream %s of a demo: %d messages a second", demoStream, demoRate)
	}
	streams := w.streams
	if len(streams) == 0 {
		streams = []string{""}
	}
	return strings.TrimSpace(strings.Join(append([]string{strings.Join(streams, ", ")}, w.config.Subjects...), "  "))
}

// name is short, for files.
func (w watchPlan) name() string {
	if w.config.Stream == "" {
		return strings.Join(w.config.Subjects, "-")
	}
	return w.config.Stream
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
