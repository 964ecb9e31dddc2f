package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
)

const (
	flagDemo              = "demo"
	flagDemoNodes         = "demo-nodes"
	flagPlain             = "plain"
	flagInject            = "inject"
	flagDuration          = "duration"
	flagAllowServerFaults = "allow-server-faults"
	flagTargetName        = "target-name"
	flagArm               = "arm"
	flagRecord            = "record"
	flagReplay            = "replay"
	flagSpeed             = "speed"
	flagReaders           = "readers"
)

const watchDescription = `On a terminal it is a screen: the sessions and why they ended, the flow, the
faults, the contract, every event; ? tells the keys. Elsewhere, with --plain
and with TERM=dumb, each event of the reader is one line. The last line is
the verdict and its figures, and the exit code says the same: 0 contract
held, 2 broken, 3 unknown, 130 interrupted.

Faults are made by keys once A, or --arm, has armed them: ! and the fault's
key; 0 undoes all. On a server that is not the demo's --arm is needed, and
takes the reader's connection through the proxy.

--demo brings its own nats-server, a stream and a publisher of 100 messages a
second, needs no other argument, and runs until Ctrl-C where no --duration
ends it. The figures are then measured against the ids the server
acknowledged to the publisher, on another stream by consumer and stream
sequences. --demo-nodes 3 lets it be a cluster, and the stream have three
replicas.

STREAM may be several, apart by commas, and --readers N reads each N times:
the screen then lists the readers, the most suspicious first. All share one
connection; --inject acts on the first.

--record FILE keeps the run as JSON lines, each one written at once; --replay
FILE plays it again on the screen, with seek, at any --speed. It also takes
what --json has printed, and what chaos run --json has.

--inject FAULT@5s+10s makes a fault 5s after the start for 10s, without @5s
at once; it may be given several times. nats-reader chaos list lists the
faults. On a server that is not the demo's only the reader's own consumer and
connection are touched.`

var watchExamples = []example{
	{line: "nats-reader watch --demo --duration 8s --inject delete-consumer@2s \\\n   --inject drop-subscription@3s", about: "see a reader heal, with no server of your own"},
	{line: "nats-reader watch ORDERS 'orders.eu.>' --new", about: "what is published from now on, of a part of a stream", needs: needServer, until: "session 1 open"},
	{line: "nats-reader watch ORDERS --inject drop-subscription@1s --duration 8s --json", about: "the same fault on your server, for programs", needs: needServer},
	{line: "nats-reader watch ORDERS,PAYMENTS --readers 3", about: "six readers, the most suspicious first", needs: needServer, until: "ORDERS#3"},
	{line: "nats-reader watch ORDERS --record run.jsonl --duration 2s", about: "keep the run, and see it again", needs: needServer},
	{line: "nats-reader watch --replay run.jsonl --speed 8", about: "eight times as fast", needs: needRun},
}

func (p *program) watchCommand() *cli.Command {
	flags := []cli.Flag{
		boolFlag(flagDemo, "", "bring a server, a stream and a publisher"),
		&cli.IntFlag{Name: flagDemoNodes, Usage: "let the demo be a cluster of `N` servers", Value: 1},
		boolFlag(flagPlain, "", "one line an event, on a terminal too"),
		boolFlag(flagArm, "", "let the keys of the screen make faults"),
		&cli.IntFlag{Name: flagReaders, Usage: "watch `N` readers of each stream", Value: 1},
		&cli.StringFlag{Name: flagRecord, Usage: "keep the run in `FILE`, as JSON lines"},
		&cli.StringFlag{Name: flagReplay, Usage: "play the run in `FILE` again"},
		&cli.Float64Flag{Name: flagSpeed, Usage: "`TIMES` as fast, of a replay", Value: 1},
		metricsFlag(),
		formatFlag(),
		boolFlag(flagJSON, "", "short for --format json"),
		&cli.StringSliceFlag{Name: flagInject, Usage: "`FAULT@5s+10s`: make a fault, may be repeated"},
		&cli.DurationFlag{Name: flagDuration, Usage: "end after this", DefaultText: "with Ctrl-C"},
		boolFlag(flagAllowServerFaults, "", "faults may touch what is not ours on a server that is not the demo's"),
		&cli.StringFlag{Name: flagTargetName, Usage: "the `STREAM` a destructive fault may destroy, typed once more"},
	}
	return &cli.Command{
		Name: "watch", Usage: "a reader under your eyes: a screen or lines, a verdict at the end",
		ArgsUsage: "[STREAM[,STREAM...] [FILTER...]]", Description: watchDescription,
		Flags:  slices.Concat(flags, lookFlags(), startFlags(), readerFlags()),
		Action: p.watch,
	}
}

func (p *program) watch(c *cli.Context) error {
	plan, err := watchPlanOf(c, time.Now())
	if err != nil {
		return err
	}
	plan.screen = !plan.json && !c.Bool(flagPlain) && isTerminal(p.stdout) && hasKeys(p.stdin)
	if plan.replay != "" {
		plan.crashes = &crashes{stop: func() {}}
		return p.replay(c, plan)
	}
	if plan.armed && !plan.screen {
		return usage{problem: fmt.Sprintf("flag --%s: there is no screen whose keys could make faults", flagArm), hint: "use --" + flagInject + ", or a terminal without --" + flagPlain + " and --" + flagFormat}
	}
	ctx, stop := context.WithCancel(c.Context)
	defer stop()
	plan.crashes = &crashes{stop: stop}

	var s settings
	if !plan.demo {
		if s, err = p.settingsOf(c); err != nil {
			return err
		}
		plan.where = withoutLogin(s.servers())
		if plan.hasFaults(chaos.LayerServer) || plan.armed {
			if plan.journal, err = journalOf(c, s); err != nil {
				return err
			}
		}
	}
	defer p.closeJournal(plan.journal)
	shown, end, err := p.metricsOf(ctx, c)
	if err != nil {
		return err
	}
	defer end()
	plan.metrics = shown
	return p.watchRun(ctx, stop, c.Context, s, plan)
}

// watchRun watches one run, in lines or on a screen, until ctx ends; outer ends with a signal.
func (p *program) watchRun(ctx context.Context, stop context.CancelFunc, outer context.Context, s settings, plan watchPlan) (err error) {
	lines := &printer{json: plan.json, out: p.stdout, gone: stop}
	told := tellers{lines}
	each := func(_ int, name string) audience { return audience{lines: lines.of(name)} }
	if plan.screen {
		if plan.view, err = p.openView(plan, stop, plan.crashes); err != nil {
			return err
		}
		defer plan.view.close()
		plan.over = plan.view.over
		put := plan.view.feed.Put
		told = tellers{screenTeller{put: put, reader: -1}}
		each = func(number int, _ string) audience {
			t := screenTeller{put: put, reader: number}
			return audience{t, []onlooker{t}}
		}
	} else {
		unwatch := watchOutput(p.stdout, stop)
		defer unwatch()
	}
	record, err := p.record(plan)
	if err != nil {
		return err
	}
	if record != nil {
		defer func() { err = closing(err, record.file.close()) }()
		told = append(told, record)
		screen := each
		each = func(number int, name string) audience {
			a, r := screen(number, name), record.of(name)
			return audience{tellers{a.lines, r}, append(a.looks, r)}
		}
		plan.view.keeps(record.file)
	}
	verdict, err := p.play(ctx, s, plan, told, each)
	plan.view.close()
	if crash := plan.crashes.err(); crash != nil {
		return crash
	}
	interrupted := outer.Err() != nil || plan.view.wasInterrupted()
	if err != nil && interrupted {
		if err = nil; verdict.Finding == "" || verdict.Sessions == 0 {
			verdict = unjudged(plan, "interrupted before the reader was open")
		}
	}
	if ctx.Err() != nil && !interrupted {
		return nil // nobody reads the lines any more
	}
	if verdict.Finding != "" { // what was begun ends with a verdict
		record.sum(verdict, interrupted)
		plan.view.sum(lines)
		lines.summary(verdict, interrupted && err == nil)
	}
	switch {
	case err != nil && verdict.Finding == oracle.Broken:
		printError(p.stderr, explainError(err))
		return outcome{exitCritical}
	case err != nil:
		return err
	case interrupted:
		return outcome{exitInterrupted}
	default:
		return outcome{exitOf(verdict.Finding)}
	}
}

// record begins the record of a run, where one is asked for, or may be exported.
func (p *program) record(plan watchPlan) (*recorder, error) {
	var f *recordFile
	var err error
	switch {
	case plan.record != "":
		f, err = createRecord(plan.record)
	case plan.screen:
		if f, err = createHiddenRecord(); err != nil {
			p.note("warning: %v", err)
			return nil, nil
		}
	default:
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	head := recordHead{Version: p.version, Title: plan.title(), Where: plan.where, Readers: plan.readerNames()}
	return newRecorder(f, head, func() { p.note("warning: the run is kept no more: %v", f.failure()) }), nil
}

// closing is the end of a run whose record is closed: what went wrong before it counts, but a good end is none
// without the record.
func closing(err, record error) error {
	var done outcome
	if record == nil || err != nil && !(errors.As(err, &done) && done.code == exitGood) {
		return err
	}
	return record
}

// play sets the scene, runs it, and leaves nothing of it.
func (p *program) play(ctx context.Context, s settings, plan watchPlan, told teller, each func(int, string) audience) (oracle.Verdict, error) {
	defer plan.guard()
	scene, err := p.setScene(ctx, s, plan, told, each)
	if err != nil {
		return oracle.Verdict{}, err
	}
	defer scene.close()
	return scene.run(ctx)
}

// hasKeys says whether somebody can press keys.
func hasKeys(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && isTerminal(f)
}

// unjudged is the verdict on a reader that never read.
func unjudged(plan watchPlan, why string) oracle.Verdict {
	v := oracle.Verdict{Finding: oracle.Unknown, MeasuredBy: plan.measure(), Doubts: []string{why}}
	if !plan.demo {
		v.Orphans = oracle.NotCounted
	}
	return v
}
