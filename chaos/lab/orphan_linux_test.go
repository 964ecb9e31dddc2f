package lab_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// processesOf lists those whose environment names the folder.
func processesOf(t *testing.T, folder string) []string {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range all {
		// One that has ended meanwhile cannot be read, and a dead one is empty.
		if environ, err := os.ReadFile(file); err == nil && bytes.Contains(environ, []byte("TMPDIR="+folder)) {
			found = append(found, file)
		}
	}
	return found
}

// At whatever moment of the start the program is killed: no process and no
// folder of it is left.
func TestParentKilledWhileItStarts(t *testing.T) {
	for after := time.Duration(0); after <= 80*time.Millisecond; after += 4 * time.Millisecond {
		home := t.TempDir()
		p := startProgram(t, "running", "TMPDIR="+home)
		<-time.After(after) // the moment is the case
		if err := p.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = p.cmd.Wait()
		eventually(t, "no process is left", func() bool { return len(processesOf(t, home)) == 0 })
		if left, err := os.ReadDir(home); err != nil || len(left) != 0 {
			t.Errorf("killed after %s, left behind: %v, %v", after, left, err)
		}
	}
}
