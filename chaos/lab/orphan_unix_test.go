//go:build unix

package lab_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

// program is another process that uses the lab.
type program struct {
	cmd     *exec.Cmd
	reports *bufio.Scanner
}

func startProgram(t *testing.T, state string, env ...string) *program {
	t.Helper()
	p := &program{cmd: exec.Command(self(t), state)}
	p.cmd.Env = append(append(os.Environ(), actVariable+"="+actParent), env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // as a shell does
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.reports = bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	})
	return p
}

func (p *program) report(t *testing.T) parentReport {
	t.Helper()
	var r parentReport
	if !p.reports.Scan() {
		t.Fatalf("the program says nothing: %v", p.reports.Err())
	}
	if err := json.Unmarshal(p.reports.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if r.Error != "" {
		t.Fatal(r.Error)
	}
	return r
}

// expectNothingLeft waits until the keeper, the server and the folder are gone.
func expectNothingLeft(t *testing.T, r parentReport) {
	t.Helper()
	eventually(t, "the keeper is gone", func() bool { return !alive(r.Keeper) })
	eventually(t, "the server is gone", func() bool { return r.PID == 0 || !alive(r.PID) })
	// Removed before the keeper ended.
	if _, err := os.Stat(r.TempDir); !os.IsNotExist(err) {
		t.Errorf("the temporary folder is still there: %v", err)
	}
	if nc, err := nats.Connect(r.URL); err == nil {
		nc.Close()
		t.Error("the server still answers")
	}
}

func TestParentKilled(t *testing.T) {
	for _, state := range []string{"running", "frozen", "stopped", "foreign"} {
		t.Run(state, func(t *testing.T) {
			p := startProgram(t, state, foreignServer(t)...)
			r := p.report(t)
			if (r.PID == 0) != (state == "stopped") {
				t.Fatalf("pid %d in state %s", r.PID, state)
			}
			if err := p.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = p.cmd.Wait()
			expectNothingLeft(t, r)
		})
	}
}

func TestParentOfAClusterKilled(t *testing.T) {
	p := startProgram(t, "cluster")
	r := p.report(t)
	if len(r.Nodes) != 3 {
		t.Fatalf("%d nodes", len(r.Nodes))
	}
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait()
	for _, n := range r.Nodes {
		expectNothingLeft(t, n)
	}
}

func TestParentKilledKeepsANamedStore(t *testing.T) {
	store := t.TempDir()
	p := startProgram(t, "running", "LAB_TEST_STORE="+store)
	r := p.report(t)
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait()
	expectNothingLeft(t, r)
	if left, err := os.ReadDir(store); err != nil || len(left) == 0 {
		t.Errorf("the named store was removed: %v, %v", left, err)
	}
}

// Ctrl-C and a service stop signal all processes of a terminal or service; the
// servers wait for what their parent decides.
func TestAnInterruptReachesTheParentAlone(t *testing.T) {
	p := startProgram(t, "running")
	r := p.report(t)
	for range 2 {
		if err := syscall.Kill(-p.cmd.Process.Pid, syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		if again := p.report(t); again.PID != r.PID {
			t.Fatalf("server %d before the interrupt, %d after", r.PID, again.PID)
		}
	}
}

func TestTheKeeperOutlivesSignalsMeantForItsParent(t *testing.T) {
	s := start(t, lab.Options{})
	for _, number := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		if err := syscall.Kill(s.KeeperPID(), number); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Restart(patient(t)); err != nil {
		t.Fatal(err)
	}
}

func TestKeeperKilled(t *testing.T) {
	for _, state := range []string{"running", "frozen"} {
		t.Run(state, func(t *testing.T) {
			s := start(t, lab.Options{})
			if state == "frozen" {
				if err := s.Freeze(); err != nil {
					t.Fatal(err)
				}
			}
			pid := s.PID()
			if err := syscall.Kill(s.KeeperPID(), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			select {
			case <-s.Gone():
			case <-patient(t).Done():
				t.Fatal("Gone was not closed")
			}
			eventually(t, "the server is gone", func() bool { return !alive(pid) })
			if err := s.Start(patient(t)); err == nil {
				t.Error("a server without keeper started")
			}
			if err := s.Close(); err != nil {
				t.Errorf("Close without keeper: %v", err)
			}
		})
	}
}

// foreignServer lets the program use this test binary as a foreign nats-server.
func foreignServer(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	script := dir + "/foreign-server"
	text := "#!/bin/sh\n" + actVariable + "=" + actServer + " exec '" + self(t) + "' \"$@\"\n"
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return []string{"LAB_TEST_SERVER=" + script}
}
