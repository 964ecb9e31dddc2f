package commands

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/plan"
	"github.com/an-open-reader/nats-reader/chaos/report"
	"github.com/an-open-reader/nats-reader/chaos/run"
	"github.com/an-open-reader/nats-reader/chaos/target"
)

// The flags of chaos run, beside the reader's.
const (
	flagTarget        = "target"
	flagServerVersion = "server-version"
	flagServerBin     = "server-bin"
	flagParallel      = "parallel"
	flagReport        = "report"
	flagOut           = "out"
	flagQuiet         = "quiet"
)

const runDescription = `Each plan is played on a server of its own: the target reads, the faults
come and are undone, and what was lost, repeated, out of order, and how
long it was deaf is judged. Nothing is injected where it does not read
well without faults. PLAN is the name of one that the program brings, a
tag of some, all, or a file. Exit code: 0 every contract held, 2 one is
broken, 3 one could not be judged, 130 interrupted, all faults undone.

The report goes to stdout, what happens meanwhile to stderr. The seed is
printed: with --rand-seed it repeats the plan, not the schedule of
threads. A plan with server.connect runs on the server that the
connection flags name, on a stream that is made for it and removed.
--timeout, given here, is the time of the whole command: a run that it
ends cannot be judged.`

var chaosRunExamples = []example{
	{line: "nats-reader chaos run thirteen-a-consumer-deleted", about: "a plan against this reader"},
	{line: "nats-reader chaos run my-plan.yaml --target messages", about: "a plan of your own against nats.go's Messages, which ends", needs: needPlan, code: exitCritical},
	{line: "nats-reader chaos run my-plan.yaml --report junit,html --out reports", about: "for a CI", needs: needPlan},
	{line: "nats-reader chaos run my-plan.yaml --target 'exec:sh my-reader.sh'", about: "any program that prints the ids it reads", needs: needPlan | needScript},
	{line: "nats-reader chaos run smoke --rand-seed 7 --dry-run", about: "what would be played"},
}

func (p *program) chaosRunCommand() *cli.Command {
	return &cli.Command{
		Name: "run", Usage: "play plans against a reader, and judge", ArgsUsage: "PLAN|TAG|FILE|all...", Description: runDescription,
		Flags:  append(runFlags(), readerFlags()...),
		Action: p.chaosRun,
	}
}

func runFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: flagTarget, Usage: "`READER` that reads: reader, consume, exec:CMD, …, may be repeated", DefaultText: "the plan's, or reader"},
		randSeedFlag(),
		&cli.StringFlag{Name: flagServerVersion, Usage: "nats-server `VERSION` of the lab", DefaultText: "the plan's"},
		&cli.StringFlag{Name: flagServerBin, Usage: "nats-server `BINARY` of the lab"},
		&cli.IntFlag{Name: flagParallel, Usage: "`N` runs at a time, each on a server of its own", Value: 1},
		&cli.StringFlag{Name: flagReport, Usage: "`text,json,junit,markdown,html`: reports, in --out; one alone may go to stdout"},
		&cli.StringFlag{Name: flagOut, Usage: "`FOLDER` for the reports"},
		formatFlag(),
		boolFlag(flagJSON, "", "short for --format json"),
		boolFlag(flagQuiet, "", "tell nothing on stderr while it runs"),
		metricsFlag(),
		boolFlag(flagDryRun, "", "print the plans as they would be played, and start nothing"),
		boolFlag(flagAllowServerFaults, "", "faults may touch a whole stream on a server that is not the lab's"),
		&cli.StringFlag{Name: flagTargetName, Usage: "the `STREAM` that a destructive fault may destroy there: the run makes it, and removes it"},
	}
}

// runPlan is what the command line of chaos run asks for.
type runPlan struct {
	jobs     []job
	seed     uint64
	parallel int
	timeout  time.Duration // of all; 0: none
	reports  reportPlan
	dryRun   bool
	quiet    bool
	bin      string // of the lab's server; "": as the plans say
}

// job is one plan with one target, resolved.
type job struct {
	plan   plan.Plan
	target target.Target
	again  string // the command line that plays it again
}

// chaosRun plays plans.
func (p *program) chaosRun(c *cli.Context) error {
	w, err := p.runPlanOf(c)
	if err != nil {
		return err
	}
	if w.dryRun {
		return p.printPlanned(w)
	}
	if err := w.reports.open(); err != nil {
		return err
	}
	shown, end, err := p.metricsOf(c.Context, c)
	if err != nil {
		return err
	}
	defer end()
	foreign, done, err := p.foreignServer(c, w)
	if err != nil {
		return err
	}
	defer done()
	return p.playJobs(c.Context, w, foreign, shown)
}

// runPlanOf reads all that can be wrong before anything is started.
func (p *program) runPlanOf(c *cli.Context) (runPlan, error) {
	w := runPlan{parallel: c.Int(flagParallel), dryRun: c.Bool(flagDryRun), quiet: c.Bool(flagQuiet)}
	var err error
	if w.reports, err = reportPlanOf(c, report.Formats(), report.Parse); err != nil {
		return w, err
	}
	if w.parallel < 1 || w.parallel > mostParallel {
		return w, usage{problem: fmt.Sprintf("flag --%s: %d is not 1 to %d", flagParallel, w.parallel, mostParallel)}
	}
	if w.seed, err = randSeed(c); err != nil {
		return w, err
	}
	if layerOf(c, flagTimeout) == layerFlag {
		if w.timeout = c.Duration(flagTimeout); w.timeout <= 0 {
			return w, usage{problem: fmt.Sprintf("flag --%s: %s is not above 0", flagTimeout, w.timeout)}
		}
	}
	plans, err := p.plansOf(c.Args().Slice())
	if err != nil {
		return w, err
	}
	if w.seed == 0 {
		w.seed = drawnSeed()
	}
	if w.bin, err = serverBinOf(c); err != nil {
		return w, err
	}
	files := p.filesOf(c.Args().Slice())
	for _, one := range plans {
		jobs, err := jobsOf(c, one, w.seed)
		if err != nil {
			return w, err
		}
		for _, j := range jobs {
			j.again = againOf(c, cmp.Or(files[one.Name], one.Name), j)
			w.jobs = append(w.jobs, j)
		}
	}
	return w, w.checkServers(c)
}

// mostParallel bounds how many servers run at a time.
const mostParallel = 64

// drawnSeed is a seed that nobody gave: short enough to be typed.
func drawnSeed() uint64 { return rand.Uint64N(1<<32-1) + 1 }

// serverBinOf is the binary of --server-bin, or that of --server-version.
func serverBinOf(c *cli.Context) (string, error) {
	bin, version := c.String(flagServerBin), c.String(flagServerVersion)
	switch {
	case bin != "" && version != "":
		return "", usage{problem: "flags --server-bin and --server-version exclude each other"}
	case bin != "":
		path, err := exec.LookPath(bin)
		if err != nil {
			return "", usage{problem: fmt.Sprintf("flag --%s: no server can be run there: %v", flagServerBin, err), cause: err}
		}
		return path, nil
	case version != "" && version != lab.EmbeddedVersion:
		if _, err := lab.CachedServer(version); err != nil {
			return "", usage{problem: fmt.Sprintf("flag --%s: %v", flagServerVersion, err), cause: err}
		}
	}
	return "", nil
}

// jobsOf gives a plan with the flags of the command line, once for every target.
func jobsOf(c *cli.Context, p plan.Plan, seed uint64) ([]job, error) {
	if err := overrideTarget(c, &p.Target); err != nil {
		return nil, err
	}
	if version := c.String(flagServerVersion); version != "" && !p.Server.Connect {
		p.Server.Version = version
	}
	names := c.StringSlice(flagTarget)
	if len(names) == 0 {
		names = []string{p.Target.Name}
	}
	var jobs []job
	for _, name := range names {
		if name == "" {
			name = plan.TargetReader
		}
		t, err := target.Parse(name)
		if err != nil {
			return nil, targetProblem(flagTarget, err)
		}
		one := p
		one.Target.Name = t.Name()
		one, err = one.Resolve(seed)
		if err != nil {
			return nil, unresolved(p.Name, err)
		}
		jobs = append(jobs, job{plan: one, target: t})
	}
	return jobs, nil
}

// againOf is the command line that plays a job again. What logs in is left out: it is nobody's
// business.
func againOf(c *cli.Context, word string, j job) string {
	line := []string{"nats-reader", "chaos", "run", word, "--" + flagTarget, j.target.Name(), "--" + flagRandSeed, strconv.FormatUint(j.plan.Seed, 10)}
	kept := []string{flagServerVersion, flagServerBin, flagServer, flagContext, flagAllowServerFaults, flagTargetName}
	for _, f := range readerFlags() {
		kept = append(kept, f.Names()[0])
	}
	for _, name := range kept {
		switch value := c.Value(name).(type) {
		case nil:
		case bool:
			if value && c.IsSet(name) {
				line = append(line, "--"+name)
			}
		default:
			if layerOf(c, name) == layerFlag {
				text := fmt.Sprint(value)
				if name == flagServer {
					text = hideLogins(text)
				}
				line = append(line, "--"+name, redact(text))
			}
		}
	}
	for i, w := range line {
		line[i] = report.Quoted(w)
	}
	return strings.Join(line, " ")
}

// connects says whether a plan runs on the server of the command line.
func (w runPlan) connects() bool {
	return slices.ContainsFunc(w.jobs, func(j job) bool { return j.plan.Server.Connect })
}

// checkServers tells flags that go with another kind of server.
func (w runPlan) checkServers(c *cli.Context) error {
	inLab := slices.ContainsFunc(w.jobs, func(j job) bool { return !j.plan.Server.Connect })
	for _, name := range []string{flagServerBin, flagServerVersion} {
		if c.IsSet(name) && !inLab {
			return usage{problem: fmt.Sprintf("flag --%s: it is for the lab's servers, and no plan here brings one", name), hint: "--server or --context names another"}
		}
	}
	for _, name := range []string{flagServer, flagContext, flagAllowServerFaults, flagTargetName} {
		if layerOf(c, name) == layerFlag && !w.connects() {
			return usage{problem: fmt.Sprintf("flag --%s: every plan here brings its own server", name), hint: "a plan with server: {connect: true} runs on another"}
		}
	}
	if c.String(flagTargetName) != "" && w.parallel > 1 {
		return usage{problem: fmt.Sprintf("flag --%s: runs in parallel cannot share one stream", flagTargetName), hint: "leave out --" + flagParallel}
	}
	return nil
}

// options are those of one job.
func (w runPlan) options(j job, foreign *run.Foreign, left time.Duration) run.Options {
	o := run.Options{Plan: j.plan, Target: j.target, ServerBin: w.bin, Timeout: left}
	if j.plan.Server.Connect {
		o.Server = foreign
		o.ServerBin = ""
	}
	return o
}

// timeLeft is what a job may take; false: the time of all is over.
func (w runPlan) timeLeft(began time.Time) (time.Duration, bool) {
	if w.timeout == 0 {
		return 0, true
	}
	left := w.timeout - time.Since(began)
	return left, left > 0
}
