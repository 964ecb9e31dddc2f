package commands

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/chaos/report"
	"github.com/an-open-reader/nats-reader/chaos/result"
)

// reportPlan says which reports are made, and where they go.
type reportPlan struct {
	stdout report.Format   // the form that goes to stdout
	files  []report.Format // that go to the folder
	dir    string          // "": there is none
}

// reportFile is the name of a report in its folder.
func reportFile(f report.Format) string {
	if f == report.JUnit {
		return "junit" + f.Extension()
	}
	return "report" + f.Extension()
}

func reportNames(forms []report.Format) (names []string) {
	for _, f := range forms {
		names = append(names, string(f))
	}
	return names
}

// reportPlanOf reads the flags; forms are the formats that there are, and parse reads a list of them.
func reportPlanOf(c *cli.Context, forms []report.Format, parse func(string) ([]report.Format, error)) (reportPlan, error) {
	asJSON, err := wantsJSON(c)
	if err != nil {
		return reportPlan{}, err
	}
	r := reportPlan{stdout: report.Text, dir: c.String(flagOut)}
	if asJSON {
		r.stdout = report.JSON
	}
	if c.IsSet(flagReport) {
		if r.files, err = parse(c.String(flagReport)); err != nil {
			return r, usage{problem: fmt.Sprintf("flag --%s: %v", flagReport, err), hint: didYouMean(c.String(flagReport), reportNames(forms), ""), cause: err}
		}
	}
	switch {
	case r.dir == "" && c.IsSet(flagOut):
		return r, usage{problem: fmt.Sprintf("flag --%s: the name of a folder is missing", flagOut)}
	case r.dir != "" && len(r.files) == 0:
		r.files = forms
	case r.dir == "" && len(r.files) > 1:
		return r, usage{problem: fmt.Sprintf("flag --%s: %d reports need a place", flagReport, len(r.files)), hint: "add --" + flagOut + " FOLDER"}
	case r.dir == "" && len(r.files) == 1 && (asJSON || c.IsSet(flagFormat)) && r.stdout != r.files[0]:
		return r, usage{problem: fmt.Sprintf("flags --%s %s and --%s %s both want stdout", flagFormat, r.stdout, flagReport, r.files[0]), hint: "add --" + flagOut + " FOLDER, or leave one out"}
	case r.dir == "" && len(r.files) == 1:
		r.stdout, r.files = r.files[0], nil
	}
	return r, nil
}

// open makes the folder, before anything is run for nothing.
func (r reportPlan) open() error {
	if r.dir == "" {
		return nil
	}
	err := os.MkdirAll(r.dir, 0o755)
	if err == nil {
		var probe *os.File
		if probe, err = os.CreateTemp(r.dir, ".nats-reader-*"); err == nil {
			err = errors.Join(probe.Close(), os.Remove(probe.Name()))
		}
	}
	if err != nil {
		return usage{problem: fmt.Sprintf("flag --%s: %v", flagOut, err), hint: "name a folder that can be written to", cause: err}
	}
	return nil
}

// write writes the report to stdout and then those of the folder: one that cannot be
// written there is an error, and the others are there.
func (r reportPlan) write(stdout io.Writer, runs []result.Run) error {
	if err := report.Write(stdout, r.stdout, runs...); err != nil {
		return err
	}
	return r.writeFiles(func(f io.Writer, form report.Format) error { return report.Write(f, form, runs...) })
}

// writeFiles writes the reports of the folder.
func (r reportPlan) writeFiles(write func(io.Writer, report.Format) error) error {
	var failures []string
	var cause error
	for _, f := range r.files {
		if err := writeReport(filepath.Join(r.dir, reportFile(f)), f, write); err != nil {
			failures, cause = append(failures, err.Error()), err
		}
	}
	if cause != nil {
		return usage{problem: "a report could not be written: " + strings.Join(failures, "; "), hint: "the runs are over, and the report on stdout is whole", cause: cause}
	}
	return nil
}

// writeReport replaces a file as a whole: half a report is none.
func writeReport(path string, form report.Format, write func(io.Writer, report.Format) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".nats-reader-*")
	if err != nil {
		return err
	}
	err = write(f, form)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", path, err), os.Remove(f.Name()))
	}
	return nil
}

// printPlannedJSON tells what a run would do, as one document.
func printPlannedJSON(w io.Writer, planned runPlan) error {
	type one struct {
		Target string          `json:"target"`
		Plan   json.RawMessage `json:"plan"`
	}
	doc := struct {
		Schema string `json:"schema"`
		Seed   uint64 `json:"seed"`
		Runs   []one  `json:"runs"`
	}{Schema: "nats-reader/chaos-dry-run/v1", Seed: planned.seed}
	for _, j := range planned.jobs {
		text, err := j.plan.JSON()
		if err != nil {
			return fmt.Errorf("plan %s: %w", j.plan.Name, err)
		}
		doc.Runs = append(doc.Runs, one{j.target.Name(), text})
	}
	return json.NewEncoder(w).Encode(doc)
}
