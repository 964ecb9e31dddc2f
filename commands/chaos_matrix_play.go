package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/chaos/matrix"
	"github.com/an-open-reader/nats-reader/chaos/report"
)

// playMatrix plays what is missing, and reports.
func (p *program) playMatrix(ctx context.Context, w matrixPlan) (err error) {
	var folder *matrix.Folder
	if w.reports.dir != "" {
		settings, err := w.matrix.Settings()
		if err != nil {
			return err
		}
		if folder, err = matrix.OpenFolder(w.reports.dir, settings); err != nil {
			return folderProblem(err)
		}
		defer func() { err = errors.Join(err, folder.Close()) }()
	}
	show := p.showProgress(runPlan{quiet: w.quiet})
	defer show.end()
	o := matrix.Options{Parallel: w.parallel, Folder: folder, Timeout: w.timeout}
	if !w.quiet {
		o.Stderr = func(c matrix.Cell) io.Writer { return &cellWords{cell: c, show: show} }
	}
	told, err := toldOfCells(show, w, folder)
	if err != nil {
		return err
	}
	o.Progress = told
	cells, cut := w.matrix.Play(ctx, o)
	show.end()
	made := matrix.Made{Program: p.version, System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(), Cores: runtime.NumCPU()}
	r := w.matrix.Result(made, cells)
	if err := matrix.Write(p.stdout, w.reports.stdout, r); err != nil {
		return err
	}
	if err := p.sayCut(cut, w, r); err != nil {
		return err // of the folder, as a rule: the other reports have no place there
	}
	if err := w.reports.writeMatrix(r); err != nil {
		return err
	}
	return outcome{exitOfMatrix(r, w.onlyOurs, ctx.Err() != nil)}
}

// sayCut tells why not all cells were played. What neither an interrupt nor the time did is an error.
func (p *program) sayCut(cut error, w matrixPlan, r matrix.Result) error {
	if cut == nil {
		return nil
	}
	kept := "without --" + flagOut + " nothing is kept"
	if w.reports.dir != "" {
		kept = "the same command line goes on with the others"
	}
	done := fmt.Sprintf("%d of %d cells are finished: %s", len(r.Cells), len(w.matrix.Cells()), kept)
	switch {
	case errors.Is(cut, context.Canceled):
		p.note("interrupted: %s", done)
		return nil
	case errors.Is(cut, matrix.ErrTimeout):
		p.note("the %s of --%s are over: %s", w.timeout, flagTimeout, done)
		return nil
	default:
		return usage{problem: explainError(cut).problem, hint: done, cause: cut}
	}
}

// toldOfCells shows which cells begin and end, with a bar for all of them on a terminal.
func toldOfCells(show *progressShow, w matrixPlan, folder *matrix.Folder) (func(matrix.Progress), error) {
	var before []matrix.Outcome
	if folder != nil {
		before = folder.Done()
	}
	missing := w.matrix.Missing(before)
	least, most, err := w.matrix.EstimateAll(missing, w.parallel)
	if err != nil {
		return nil, err
	}
	all := len(w.matrix.Cells())
	text := fmt.Sprintf("seed %d, %s", w.matrix.Seed, counted(all, "cell"))
	if n := all - len(missing); n > 0 {
		text += fmt.Sprintf(", %d of them finished before", n)
	}
	if len(missing) > 0 {
		text += fmt.Sprintf(", %d at a time: %s", min(w.parallel, len(missing)), between(least, most))
	}
	show.say(text)
	var bar *progress.Tracker
	if show.bars != nil {
		bar = &progress.Tracker{Total: int64(max(all, 1)), AutoStopDisabled: true}
		bar.UpdateMessage("cells")
		show.bars.AppendTracker(bar)
	}
	return func(t matrix.Progress) {
		if bar != nil {
			bar.SetValue(int64(t.Done))
			bar.UpdateMessage(fmt.Sprintf("%d of %d cells", t.Done, t.All))
		}
		if t.Outcome == nil {
			return
		}
		show.lines.noteAt(t.Time, fmt.Sprintf("%d of %d  %s: %s", t.Done, t.All, redact(oneLine(t.Cell.String())), t.Outcome.Words()))
	}, nil
}

// cellWords puts the name of a cell before each line that its program writes.
type cellWords struct {
	cell matrix.Cell
	show *progressShow
	rest []byte // of a line that is not whole yet
}

func (w *cellWords) Write(b []byte) (int, error) {
	w.rest = append(w.rest, b...)
	for {
		line, rest, whole := bytes.Cut(w.rest, []byte("\n"))
		if !whole && len(w.rest) < longestWords {
			return len(b), nil
		}
		w.show.say(redact(oneLine(w.cell.String() + ": " + string(line))))
		w.rest = rest
	}
}

// longestWords is what a line is cut at.
const longestWords = 4096

// between is a time that is known by its bounds.
func between(least, most time.Duration) string {
	least, most = least.Round(time.Second), most.Round(time.Second)
	if least == most {
		return "about " + most.String()
	}
	return least.String() + " to " + most.String()
}

// writeMatrix writes the reports of the folder.
func (r reportPlan) writeMatrix(result matrix.Result) error {
	return r.writeFiles(func(f io.Writer, form report.Format) error { return matrix.Write(f, form, result) })
}

// reportMatrix reports what a file holds.
func (p *program) reportMatrix(c *cli.Context, reports reportPlan) error {
	if err := otherThanFrom(c); err != nil {
		return err
	}
	name := c.String(flagFromFile)
	f, err := os.Open(name)
	if err != nil {
		return usage{problem: fmt.Sprintf("flag --%s: %v", flagFromFile, err), cause: err}
	}
	defer f.Close() //nolint:errcheck // it was only read
	r, err := matrix.Decode(f)
	if err != nil {
		u := usage{problem: fmt.Sprintf("flag --%s: %s: %s", flagFromFile, name, oneLine(err.Error())), cause: err}
		if errors.Is(err, matrix.ErrSchema) {
			u.hint = "chaos matrix --report json writes such a file"
		}
		return u
	}
	onlyOurs, err := judgesOurs(c, r.Targets)
	if err != nil {
		return err
	}
	if err := reports.open(); err != nil {
		return err
	}
	if err := matrix.Write(p.stdout, reports.stdout, r); err != nil {
		return err
	}
	if err := reports.writeMatrix(r); err != nil {
		return err
	}
	return outcome{exitOfMatrix(r, onlyOurs, false)}
}

// printMatrixPlan tells which cells there are, and how long they take.
func (p *program) printMatrixPlan(w matrixPlan) error {
	type cell struct {
		matrix.Cell
		Seed   uint64 `json:"seed"`
		Least  string `json:"least"`
		LeastN int64  `json:"least_ns"`
		Most   string `json:"most"`
		MostN  int64  `json:"most_ns"`
	}
	cells := w.matrix.Cells()
	least, most, err := w.matrix.EstimateAll(cells, w.parallel)
	if err != nil {
		return err
	}
	var planned []cell
	for _, c := range cells {
		a, b, err := w.matrix.Estimate(c)
		if err != nil {
			return err
		}
		planned = append(planned, cell{c, w.matrix.Seed + uint64(c.Round) - 1, a.String(), int64(a), b.String(), int64(b)})
	}
	if w.reports.stdout == report.JSON {
		return json.NewEncoder(p.stdout).Encode(struct {
			Schema   string `json:"schema"`
			Parallel int    `json:"parallel"`
			Least    string `json:"least"`
			LeastN   int64  `json:"least_ns"`
			Most     string `json:"most"`
			MostN    int64  `json:"most_ns"`
			Cells    []cell `json:"cells"`
		}{"nats-reader/chaos-matrix-dry-run/v1", w.parallel, least.String(), int64(least), most.String(), int64(most), planned})
	}
	lines := &printer{out: p.stdout, gone: func() {}}
	lines.print("dry run: nothing is started")
	for _, c := range planned {
		lines.print(fmt.Sprintf("%s  %s", oneLine(c.Cell.String()), between(time.Duration(c.LeastN), time.Duration(c.MostN))))
	}
	lines.print(fmt.Sprintf("%s, %d at a time: %s", counted(len(planned), "cell"), min(w.parallel, len(planned)), between(least, most)))
	return nil
}
