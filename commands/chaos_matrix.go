package commands

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/chaos/matrix"
)

// The flags of chaos matrix, beside those of chaos run and the reader's.
const (
	flagTargets  = "targets"
	flagServers  = "servers"
	flagRounds   = "rounds"
	flagSettle   = "settle"
	flagFailOn   = "fail-on"
	flagFromFile = "from-file"
)

const matrixDescription = `Every target under every fault on every server: who reads again, how long
it was silent, what it lost. Each cell is a run of its own, as of chaos run.

A fault is a plan: by name, by tag, all, or a file; one of the thirteen also
by the name of its column (a, cut, f2). With --out each cell is
on disk as soon as it is finished, beside the reports, and the same command
line goes on where it was interrupted or killed; what could not be judged is
played again. Other settings need another folder. --timeout, given here, is
the time of the whole command.

Exit code: 0 every judged cell held, 2 one is broken, 3 one could not be
judged or was not played, 130 interrupted, all faults undone. Judged are the
cells of the target reader, where it is among the targets: what is broken of
others is a finding. --fail-on any judges all. The last line tells the same
of the reader, and the number of all cells.`

var chaosMatrixExamples = []example{
	{line: "nats-reader chaos matrix --targets all --out matrix --dry-run", about: "all readers under the thirteen faults: the cells, and how long they take"},
	{line: "nats-reader chaos matrix --targets reader,consume --faults cut,my-plan.yaml \\\n   --settle 1s --out matrix", about: "two readers under two faults; goes on where it was interrupted", needs: needPlan},
	{line: "nats-reader chaos matrix --from-file matrix/report.json --report markdown", about: "its table once more", needs: needMatrix},
}

func (p *program) chaosMatrixCommand() *cli.Command {
	flags := []cli.Flag{
		&cli.StringSliceFlag{Name: flagTargets, Usage: "`all|NAME,...`: who reads: reader, consume, …, may be repeated; exec:CMD takes the rest of a list", DefaultText: "reader"},
		&cli.StringSliceFlag{Name: flagFaults, Usage: "`PLAN|TAG|FILE|all,...`: the columns, may be repeated", DefaultText: thirteenPlans},
		&cli.StringSliceFlag{Name: flagServers, Usage: "`embedded|VERSION|all,...`: nats-servers, may be repeated", DefaultText: matrix.Embedded},
		&cli.IntFlag{Name: flagRounds, Usage: "play every cell `N` times, and show the worst", Value: 1},
		&cli.DurationFlag{Name: flagSettle, Usage: "publish for this long after it reads again: who reads one message and no more is found out", Value: matrix.DefaultSettle},
		&cli.IntFlag{Name: flagParallel, Usage: "`N` cells at a time, each on a server of its own", DefaultText: "two for each core"},
		randSeedFlag(),
		&cli.StringFlag{Name: flagFailOn, Usage: "`reader|any`: whose broken cells the exit code tells", DefaultText: "reader, where it is a target"},
		&cli.StringFlag{Name: flagReport, Usage: "`text,json,markdown,html`: reports, in --out; one alone may go to stdout"},
		&cli.StringFlag{Name: flagOut, Usage: "`FOLDER` for the cells and the reports: makes it possible to go on later"},
		&cli.StringFlag{Name: flagFromFile, Usage: "report what a `FILE` of --report json holds, and play nothing"},
		formatFlag(),
		boolFlag(flagJSON, "", "short for --format json"),
		boolFlag(flagQuiet, "", "tell nothing on stderr while it runs"),
		boolFlag(flagDryRun, "", "print the cells and the time they take, and start nothing"),
	}
	return &cli.Command{
		Name: "matrix", Usage: "readers by faults by servers, as a table", Description: matrixDescription,
		Flags:  append(flags, readerFlags()...),
		Action: p.chaosMatrix,
	}
}

// thirteenPlans is the tag of the faults that are played where none is named.
const thirteenPlans = "thirteen"

// Bounds of a matrix.
const (
	mostRounds = 1000
	mostCells  = 100_000
)

// matrixPlan is what the command line of chaos matrix asks for.
type matrixPlan struct {
	matrix   matrix.Matrix
	reports  reportPlan
	parallel int
	timeout  time.Duration
	onlyOurs bool // the exit code tells of the target reader alone
	dryRun   bool
	quiet    bool
}

func (p *program) chaosMatrix(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	reports, err := reportPlanOf(c, matrix.Formats(), matrix.ParseFormats)
	if err != nil {
		return err
	}
	if c.IsSet(flagFromFile) {
		return p.reportMatrix(c, reports)
	}
	w, err := p.matrixPlanOf(c)
	if err != nil {
		return err
	}
	w.reports = reports
	if w.dryRun {
		return p.printMatrixPlan(w)
	}
	return p.playMatrix(c.Context, w)
}

// matrixPlanOf reads all that can be wrong before anything is started.
func (p *program) matrixPlanOf(c *cli.Context) (w matrixPlan, err error) {
	w = matrixPlan{parallel: c.Int(flagParallel), dryRun: c.Bool(flagDryRun), quiet: c.Bool(flagQuiet)}
	w.matrix = matrix.Matrix{Rounds: c.Int(flagRounds), Settle: c.Duration(flagSettle)}
	for _, name := range []string{flagServer, flagContext} {
		if layerOf(c, name) == layerFlag {
			return w, usage{problem: fmt.Sprintf("flag --%s: a matrix brings its own servers", name), hint: "--" + flagServers + " chooses their versions"}
		}
	}
	switch {
	case !c.IsSet(flagParallel):
		w.parallel = min(2*runtime.NumCPU(), mostParallel)
	case w.parallel < 1 || w.parallel > mostParallel:
		return w, usage{problem: fmt.Sprintf("flag --%s: %d is not 1 to %d", flagParallel, w.parallel, mostParallel)}
	}
	if n := w.matrix.Rounds; n < 1 || n > mostRounds {
		return w, usage{problem: fmt.Sprintf("flag --%s: %d is not 1 to %d", flagRounds, n, mostRounds)}
	}
	if w.matrix.Settle < 0 {
		return w, usage{problem: fmt.Sprintf("flag --%s: %s is below 0", flagSettle, w.matrix.Settle)}
	}
	if w.matrix.Seed, err = randSeed(c); err != nil {
		return w, err
	}
	w.matrix.Seed = max(w.matrix.Seed, 1) // not drawn: the same command line goes on with the same cells
	if layerOf(c, flagTimeout) == layerFlag {
		if w.timeout = c.Duration(flagTimeout); w.timeout <= 0 {
			return w, usage{problem: fmt.Sprintf("flag --%s: %s is not above 0", flagTimeout, w.timeout)}
		}
	}
	if err := p.axesOf(c, &w.matrix); err != nil {
		return w, err
	}
	if w.onlyOurs, err = judgesOurs(c, w.matrix.Targets); err != nil {
		return w, err
	}
	if n := len(w.matrix.Cells()); n > mostCells {
		return w, usage{problem: fmt.Sprintf("%d cells are more than %d", n, mostCells)}
	}
	if err := w.matrix.Check(); err != nil {
		return w, usage{problem: oneLine(err.Error()), cause: err}
	}
	return w, nil
}

// judgesOurs says whether the exit code tells of the target reader alone.
func judgesOurs(c *cli.Context, targets []string) (bool, error) {
	ours := len(matrix.Result{Targets: targets}.Ours()) > 0
	switch on := c.String(flagFailOn); on {
	case "":
		return ours, nil
	case failOnAny:
		return false, nil
	case failOnReader:
		if !ours {
			return false, usage{problem: fmt.Sprintf("flag --%s: reader is not among the targets", flagFailOn), hint: "add it to --" + flagTargets + ", or leave --" + flagFailOn + " out"}
		}
		return true, nil
	default:
		all := []string{failOnReader, failOnAny}
		return false, usage{problem: fmt.Sprintf("flag --%s: %q is not one of reader, any", flagFailOn, on), hint: didYouMean(on, all, "")}
	}
}

// The values of --fail-on.
const (
	failOnReader = "reader"
	failOnAny    = "any"
)

// exitOfMatrix is the exit code: an interrupt, then the worst finding of the judged targets.
func exitOfMatrix(r matrix.Result, onlyOurs, interrupted bool) int {
	judged := r.Targets
	if onlyOurs {
		judged = r.Ours()
	}
	n := r.Of(judged...)
	switch {
	case interrupted:
		return exitInterrupted
	case n.Broken > 0:
		return exitCritical
	case n.Unknown > 0 || n.Missing > 0:
		return exitCannotJudge
	default:
		return exitGood
	}
}

// folderProblem says what to do about a folder that cannot be used.
func folderProblem(err error) error {
	u := usage{problem: fmt.Sprintf("flag --%s: %v", flagOut, err), hint: "name a folder that can be written to", cause: err}
	switch {
	case errors.Is(err, matrix.ErrOtherSettings):
		u.hint = "name another folder, or use the same settings"
	case errors.Is(err, matrix.ErrInUse):
		u.hint = "wait for its end, or name another folder"
	case errors.Is(err, matrix.ErrForeign):
		u.hint = "name a new folder, or one of an earlier matrix"
	case errors.Is(err, matrix.ErrSchema):
		u.hint = "name another folder"
	}
	return u
}

// otherThanFrom are the flags that go without --from-file.
func otherThanFrom(c *cli.Context) error {
	for _, name := range []string{flagTargets, flagFaults, flagServers, flagRounds, flagSettle, flagParallel, flagRandSeed, flagDryRun} {
		if c.IsSet(name) {
			return usage{problem: fmt.Sprintf("flags --%s and --%s exclude each other", flagFromFile, name), hint: "--" + flagFromFile + " plays nothing"}
		}
	}
	return nil
}
