//go:build long

package mutants

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const simulator = ".."

var onlyFlag = flag.String("mutant", "", "break only the rules whose name contains this, and tell how each is found")

// hunt is one way to find a mutant.
type hunt struct {
	name, pkg string
	arguments []string
}

// hunts are the ways, the quickest first.
var hunts = []hunt{
	{"the transcripts", rules, []string{"-test.run=^TestTranscripts$"}},
	{"the rules' other tests", rules, nil},
	{"2000 schedules", simulator, []string{"-test.run=^TestSimulation$", "-runs=2000"}},
}

// TestEveryMutantIsFound breaks one rule after the other.
func TestEveryMutantIsFound(t *testing.T) {
	dir := t.TempDir()
	file := overlay(t, dir)
	binaries := map[string]string{}
	for _, pkg := range []string{rules, simulator} {
		binaries[pkg] = filepath.Join(dir, "test"+strconv.Itoa(len(binaries))+".exe")
		build := exec.CommandContext(t.Context(), "go", "test", "-c", "-overlay", file, "-o", binaries[pkg], ".")
		build.Dir = pkg
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build %s with every mutant: %v\n%s", pkg, err, out)
		}
	}
	run := func(h hunt, mutant string) (out string, found bool) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		test := exec.CommandContext(ctx, binaries[h.pkg], append([]string{"-test.timeout=100s"}, h.arguments...)...)
		test.Dir, test.Env = h.pkg, append(os.Environ(), variable+"="+mutant)
		said, err := test.CombinedOutput()
		exit := (*exec.ExitError)(nil)
		if err != nil && !errors.As(err, &exit) {
			t.Errorf("%s: %v", mutant, err)
		}
		return string(said), err != nil
	}
	for _, h := range hunts {
		if out, failed := run(h, ""); failed {
			t.Fatalf("%s find the rules broken where none is:\n%s", h.name, out)
		}
	}
	ids := statusMutants(t)
	for _, m := range mutants {
		ids = append(ids, m.id)
	}
	var workers sync.WaitGroup
	var told sync.Mutex
	next := make(chan string)
	found := map[string]int{}
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for id := range next {
				by := ""
				for _, h := range hunts {
					if _, ok := run(h, id); ok {
						by = h.name
						break
					}
				}
				told.Lock()
				found[by]++
				told.Unlock()
				if by == "" {
					t.Errorf("nothing finds the mutant %q: write the transcript that shows it", id)
				} else if *onlyFlag != "" {
					t.Logf("%q is found by %s", id, by)
				}
			}
		})
	}
	for _, id := range ids {
		if strings.Contains(id, *onlyFlag) {
			next <- id
		}
	}
	close(next)
	workers.Wait()
	t.Logf("%d mutants, found by: %v", len(ids), found)
}
