package commands

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

const (
	flagProxy  = "proxy"
	flagFor    = "for"
	flagDryRun = "dry-run"
	flagList   = "list"
)

// defaultInject is how long a fault lasts that has no length of its own.
const defaultInject = 10 * time.Second

const injectDescription = `One fault at once: on a proxy that runs somewhere, or on a live server.

A fault that lasts ends after --for, or with Ctrl-C. What it takes to undo a
fault on a server is written down before it is made: after a kill -9
nats-reader chaos clear undoes it.

On a server only a consumer of ours is touched; with none named, the one of
ours on the stream. A consumer of others, or a whole stream, needs
--allow-server-faults; what destroys messages, or a durable's place, also its
name in --target-name. A durable is never ours. --dry-run prints the requests
that would be sent, and which of these flags they need, and sends none that
changes anything. --list prints all faults.`

var injectExamples = []example{
	{line: "nats-reader inject --list", about: "every fault: what it does, where, its danger, its undo"},
	{line: "nats-reader inject 'drop-message(nth=3)' --for 2s \\\n   --proxy http://127.0.0.1:8474", about: "on a proxy: every third message is lost for two seconds", needs: needProxy},
	{line: "nats-reader inject delete-consumer ORDERS", about: "on a server: the consumer of the nats-reader that reads ORDERS", needs: needServer | needReader},
	{line: "nats-reader inject pause-consumer ORDERS worker --for 30s --dry-run", about: "what a fault on a durable would take", needs: needServer},
	{line: "nats-reader inject purge-stream ORDERS --allow-server-faults \\\n   --target-name ORDERS", about: "what destroys messages wants the stream's name twice", needs: needServer},
}

func (p *program) injectCommand() *cli.Command {
	return &cli.Command{
		Name: "inject", Usage: "one fault on a live server or on a proxy",
		ArgsUsage: "FAULT [STREAM [CONSUMER]]", Description: injectDescription,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: flagProxy, Usage: "`URL` of a proxy's HTTP control, such as http://127.0.0.1:8474"},
			controlTokenFlag(),
			&cli.DurationFlag{Name: flagFor, Usage: "how long the fault lasts", DefaultText: "the fault's own, or 10s"},
			boolFlag(flagDryRun, "", "print what would be done, and do nothing"),
			boolFlag(flagList, "", "list all faults: what they do, where, danger, undo"),
			boolFlag(flagAllowServerFaults, "", "touch what is not ours"),
			&cli.StringFlag{Name: flagTargetName, Usage: "the `NAME` of what may be destroyed, typed once more"},
			formatFlag(),
			boolFlag(flagJSON, "", "short for --format json"),
		},
		Action: p.inject,
	}
}

// injectPlan is what the command line of inject asks for.
type injectPlan struct {
	fault            chaos.Spec
	entry            chaos.Fault
	length           time.Duration // how long it lasts; 0: it acts once
	stream, consumer string
	dryRun, json     bool
}

func (p *program) inject(c *cli.Context) error {
	asJSON, err := wantsJSON(c)
	if err != nil {
		return err
	}
	if c.Bool(flagList) {
		if c.NArg() > 0 {
			return usage{problem: fmt.Sprintf("inject --%s takes no argument: %q is one too many", flagList, c.Args().First()), hint: "nats-reader explain FAULT tells of one"}
		}
		return printCatalogue(p.stdout, asJSON)
	}
	plan, err := injectPlanOf(c)
	if err != nil {
		return err
	}
	plan.json = asJSON
	if plan.entry.Layer == chaos.LayerWire {
		return p.injectProxy(c, plan)
	}
	return p.injectServer(c, plan)
}

// injectPlanOf reads all that can be wrong without a proxy or a server.
func injectPlanOf(c *cli.Context) (injectPlan, error) {
	w := injectPlan{stream: c.Args().Get(1), consumer: c.Args().Get(2), dryRun: c.Bool(flagDryRun)}
	text := c.Args().First()
	if text == "" {
		return w, usage{problem: "a fault is missing", hint: "nats-reader inject FAULT; nats-reader inject --list lists them"}
	}
	var err error
	if w.fault, err = chaos.ParseSpec(text); err != nil {
		var fault *proxy.FaultError
		if errors.As(err, &fault) && (fault.Field == "@" || fault.Field == "+") {
			return w, scheduled(fault.Fault, text)
		}
		return w, err
	}
	if i := strings.LastIndexByte(text, '@'); i >= 0 && !strings.HasSuffix(text, ")") {
		return w, scheduled(w.fault.Name, text[i:])
	}
	w.entry, _ = chaos.FindFault(w.fault.Name)
	if err := w.checkPlace(c); err != nil {
		return w, err
	}
	return w, w.readLength(c)
}

// scheduled refuses a schedule.
func scheduled(fault, text string) error {
	return usage{problem: fmt.Sprintf("fault %q: inject makes it at once: %q says when", fault, text), hint: "write --for 10s for how long it lasts"}
}

// readLength takes how long the fault lasts from --for, the fault itself or its default.
func (w *injectPlan) readLength(c *cli.Context) error {
	length := c.Duration(flagFor)
	switch {
	case !c.IsSet(flagFor):
		length = w.fault.For
	case length <= 0:
		return usage{problem: fmt.Sprintf("flag --%s: %s is not above 0", flagFor, length)}
	case length > proxy.MaxDuration:
		return usage{problem: fmt.Sprintf("flag --%s: %s is more than the 1000h that a fault may last", flagFor, length)}
	case w.entry.Once:
		return usage{problem: fmt.Sprintf("flag --%s: %s acts once and takes no duration", flagFor, w.entry.Name), hint: "leave out --" + flagFor}
	case w.fault.For > 0 && w.fault.For != length:
		return usage{problem: fmt.Sprintf("flag --%s: %s, and the fault itself says %s", flagFor, length, w.fault.For), hint: "leave one out"}
	}
	if !w.entry.Once && length == 0 {
		if length = w.entry.Default; length == 0 {
			length = defaultInject
		}
	}
	w.length, w.fault.For = length, length
	return nil
}

// demoHint says how a fault of the process can be had.
func demoHint(f chaos.Fault) string {
	demo := "--" + flagDemo
	if f.Clustered {
		demo += " --" + flagDemoNodes + " 3"
	}
	return fmt.Sprintf("nats-reader watch %s --inject %s@5s", demo, f.Name)
}

// checkPlace tells a fault that is aimed at the wrong thing.
func (w *injectPlan) checkPlace(c *cli.Context) error {
	most := map[bool]int{true: 2, false: 3}[w.entry.OnStream]
	proxied := c.String(flagProxy) != ""
	switch {
	case w.entry.Layer == chaos.LayerProcess:
		return usage{problem: fmt.Sprintf("fault %s acts on the process of a lab's server, and no other is ours to end", w.entry.Name), hint: demoHint(w.entry)}
	case w.entry.Layer == chaos.LayerReader:
		return usage{problem: fmt.Sprintf("fault %s acts on the reader's own side, and no reader is here", w.entry.Name), hint: "it can be had with " + layerWords[w.entry.Layer]}
	case w.entry.Layer == chaos.LayerWire && !proxied:
		return usage{problem: fmt.Sprintf("fault %s acts on the wire, in a proxy: --%s is missing", w.entry.Name, flagProxy), hint: "nats-reader proxy --upstream nats://127.0.0.1:4222 --control 127.0.0.1:8474 starts one"}
	case w.entry.Layer == chaos.LayerWire:
		most = 1
	case proxied:
		return usage{problem: fmt.Sprintf("fault %s acts through the server's API and not in a proxy", w.entry.Name), hint: "leave out --" + flagProxy + ", and name the server with --server or --context"}
	case w.stream == "":
		return usage{problem: "a stream is missing", hint: fmt.Sprintf("nats-reader inject %s STREAM", w.entry.Name)}
	}
	if c.NArg() > most {
		u := usage{problem: fmt.Sprintf("%q is one argument too many for %s", c.Args().Get(most), w.entry.Name), hint: "see nats-reader inject --help"}
		if extra := c.Args().Get(most); strings.Contains(extra, "=") {
			u.hint = fmt.Sprintf("write the parameters in parentheses and quotes: '%s(%s)'", w.entry.Name, extra)
		}
		return u
	}
	if w.entry.Layer == chaos.LayerServer && strings.ContainsAny(w.stream, " \t\r\n.*>/\\") {
		return usage{problem: fmt.Sprintf("%q is no name of a stream", w.stream), hint: "a name has no blank, dot, slash or wildcard"}
	}
	if strings.ContainsAny(w.consumer, " \t\r\n.*>/\\") {
		return usage{problem: fmt.Sprintf("%q is no name of a consumer", w.consumer), hint: "a name has no blank, dot, slash or wildcard"}
	}
	return nil
}

// dryRunJSON is what a dry run tells.
type dryRunJSON struct {
	Schema string   `json:"schema"`
	Fault  string   `json:"fault"`
	For    string   `json:"for,omitempty"`
	ForNS  int64    `json:"for_ns,omitempty"`
	At     string   `json:"at"` // the server or control
	Does   []string `json:"does"`
	Ends   []string `json:"ends"`
	Undo   string   `json:"undo"`
	Danger string   `json:"danger"`
	Needs  []string `json:"needs"` // flags without which it is refused
}

const dryRunSchema = "nats-reader/dry-run/v1"

// printDryRun tells what would be done, at which server or control.
func (p *program) printDryRun(w injectPlan, at string, would chaos.Preview) error {
	lines := &printer{json: w.json, out: p.stdout, gone: func() {}}
	doc := dryRunJSON{
		Schema: dryRunSchema, Fault: w.fault.Fault(), At: redact(at), Does: would.Does, Ends: append([]string{}, would.Ends...),
		Undo: w.entry.Undo, Danger: w.entry.Danger, Needs: append([]string{}, would.Needs...),
	}
	if w.length > 0 {
		doc.For, doc.ForNS = w.length.String(), int64(w.length)
	}
	if w.json {
		lines.document(doc)
		return nil
	}
	lines.print("dry run: nothing is changed")
	lines.print("fault:  " + doc.Fault + ": " + w.entry.Does)
	lines.print("at:     " + doc.At)
	for _, d := range would.Does {
		lines.print("does:   " + d)
	}
	for _, e := range would.Ends {
		lines.print(fmt.Sprintf("after:  %s, or with Ctrl-C: %s", w.length, e))
	}
	lines.print("undo:   " + doc.Undo)
	lines.print("danger: " + doc.Danger)
	if len(would.Needs) > 0 {
		lines.print("needs:  " + strings.Join(would.Needs, " ") + ": without, it is refused")
	}
	return nil
}
