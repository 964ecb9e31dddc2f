package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A panic on a goroutine ends the run, and its trace is in a file that the hint names.
func TestCrash(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	stopped := make(chan struct{}, 2)
	c := &crashes{stop: func() { stopped <- struct{}{} }}
	if err := c.err(); err != nil {
		t.Fatalf("got %v without a crash", err)
	}
	for _, why := range []string{"first", "second"} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer c.guard()
			panic(why)
		}()
		<-done
		<-stopped
	}
	u := explainError(c.err())
	files, _ := filepath.Glob(filepath.Join(dir, "nats-reader-crash-*.txt"))
	if u.problem != "a bug of nats-reader: first" || len(files) != 1 || !strings.Contains(u.hint, files[0]) {
		t.Fatalf("got %q %q, files %v", u.problem, u.hint, files)
	}
	trace, err := os.ReadFile(files[0])
	if err != nil || !strings.Contains(string(trace), "first") || !strings.Contains(string(trace), "TestCrash") {
		t.Errorf("%v: the trace is %s", err, trace)
	}
}
