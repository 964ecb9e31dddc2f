package commands_test

import (
	"os"
	"os/exec"
	"testing"
)

// A run of some scripts leaves nothing in the folder for temporary files, as a run of all does.
func TestScriptsLeaveNothing(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	run := exec.CommandContext(t.Context(), self, "-test.run", "^TestScripts$/^metricsbad$", "-test.v")
	run.Env = append(os.Environ(), "TMPDIR="+temp, "TEMP="+temp, "TMP="+temp, "GOTMPDIR=")
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("left are %v: %v", left, err)
	}
}
