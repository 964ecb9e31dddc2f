package owner

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const holderVariable = "OWNER_TEST_MARK"

// TestMain lets this binary be the process that holds a mark.
func TestMain(m *testing.M) {
	path := os.Getenv(holderVariable)
	if path == "" {
		os.Exit(m.Run())
	}
	if _, err := Take(path); err != nil {
		os.Stdout.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	os.Stdout.WriteString("held\n")
	_, _ = os.Stdin.Read(make([]byte, 1)) // until the test goes away or kills it
}

func TestMarkDiesWithItsProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mark")
	if life, _ := Of(path); life != Unknown {
		t.Errorf("without a mark: %s", life)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holderVariable+"="+path)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close() //nolint:errcheck // the process is gone by then
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("the holder says %q, %v", line, err)
	}
	if life, pid := Of(path); life != Alive || pid != cmd.Process.Pid {
		t.Errorf("while it is held by %d: %s, %d", cmd.Process.Pid, life, pid)
	}
	if _, err := Take(path); err == nil {
		t.Error("a mark that is held was taken")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed: the error is known
	if life, pid := Of(path); life != Dead || pid != cmd.Process.Pid {
		t.Errorf("after kill -9 of %d: %s, %d", cmd.Process.Pid, life, pid)
	}
	m, err := Take(path)
	if err != nil {
		t.Fatalf("a dead owner's mark: %v", err)
	}
	if life, _ := Of(path); life != Alive {
		t.Errorf("taken again: %s", life)
	}
	if err := m.Release(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("released, and still there: %v", err)
	}
}
