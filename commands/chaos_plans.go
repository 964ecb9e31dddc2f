package commands

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/an-open-reader/nats-reader/chaos/plan"
)

// standardInput stands for a plan that comes through a pipe.
const standardInput = "-"

// isPlanFile says whether a word names a file, and not a plan that the program brings.
func isPlanFile(word string) bool {
	return word == standardInput || strings.ContainsAny(word, `/\`) || slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(word)))
}

// mostPlan is how much of a file is read: more is no plan.
const mostPlan = 1<<20 + 1

// readPlan reads a file, or what comes through a pipe, and gives the name that errors have for it.
func (p *program) readPlan(word string) (name string, text []byte, err error) {
	if word == standardInput {
		text, err = io.ReadAll(io.LimitReader(p.stdin, mostPlan))
		return "stdin", text, err
	}
	f, err := os.Open(word)
	if err != nil {
		return word, nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return word, nil, errors.New("it is a folder: name its files, such as " + filepath.Join(word, "*.yaml"))
	}
	text, err = io.ReadAll(io.LimitReader(f, mostPlan))
	return word, text, err
}

// loadPlan gives a plan by the name of a bundled one or by its file.
func (p *program) loadPlan(word string) (plan.Plan, error) {
	if !isPlanFile(word) {
		return bundledPlan(word)
	}
	name, text, err := p.readPlan(word)
	if err != nil {
		return plan.Plan{}, unreadable(name, err)
	}
	one, err := plan.Parse(name, text)
	var all plan.Problems
	if errors.As(err, &all) {
		u := usage{problem: all[0].Error(), cause: err}
		if len(all) > 1 {
			u.hint = fmt.Sprintf("nats-reader chaos validate %s tells all %d problems", word, len(all))
		}
		return plan.Plan{}, u
	}
	return one, err
}

// unreadable is a file that cannot be read, without the name of the system call.
func unreadable(name string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return usage{problem: fmt.Sprintf("plan %s: %v", name, err), cause: err}
}

func bundledPlan(word string) (plan.Plan, error) {
	one, err := plan.Find(word)
	var unknown *plan.UnknownError
	if !errors.As(err, &unknown) {
		return one, err
	}
	u := usage{problem: fmt.Sprintf("no plan is called %q", word), hint: "nats-reader chaos list --plans lists them; a file has a path or ends in .yaml"}
	switch _, err := os.Stat(word); {
	case err == nil:
		u.hint = "to read the file of that name write ./" + word
	case len(unknown.Near) > 0:
		u.hint = "did you mean " + strings.Join(unknown.Near, " or ") + "?"
	}
	return plan.Plan{}, u
}
