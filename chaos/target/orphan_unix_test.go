//go:build unix

package target

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
)

// parentVariable makes this test binary a program that runs a target and is killed.
const parentVariable = "TARGET_TEST_PARENT"

// actParent runs the outside program that the variable names, and prints what it does.
func actParent() {
	command := os.Getenv(parentVariable)
	if command == "" {
		return
	}
	kind, err := Parse("exec:" + command)
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	p := kind.(*program)
	err = p.Read(context.Background(), Input{Read: func(d oracle.Delivery) {
		if os.Getenv("TARGET_TEST_FROZEN") != "" {
			if err := p.Freeze(); err != nil {
				fmt.Println("error", err)
			}
		}
		fmt.Println(d.ID, p.PID())
	}})
	fmt.Println("error", err)
	os.Exit(0)
}

// members lists the living processes of a group.
func members(t *testing.T, group int) (pids []string) {
	t.Helper()
	out, err := exec.Command("ps", "-eo", "pid=,pgid=,stat=").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(out), "\n") {
		if f := strings.Fields(line); len(f) == 3 && f[1] == strconv.Itoa(group) && f[2][0] != 'Z' {
			pids = append(pids, f[0])
		}
	}
	return pids
}

// eventually asks again and again until it is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	limit := time.After(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("still not so: %s", what)
		}
	}
}

// Whoever runs a target is killed: nothing of the target is left, whatever it started
// and whether it is frozen.
func TestKilledParentLeavesNothing(t *testing.T) {
	for name, env := range map[string][]string{
		"running": {parentVariable + "=sleep 1000 & (trap '' TERM HUP; sleep 1000) & echo begun; sleep 1000"},
		"frozen":  {parentVariable + "=echo begun; sleep 1000", "TARGET_TEST_FROZEN=1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			parent := exec.Command(self)
			parent.Env = append(os.Environ(), env...)
			stdout, err := parent.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := parent.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(stdout).ReadString('\n')
			var group int
			if _, scanErr := fmt.Sscanf(line, "begun %d", &group); err != nil || scanErr != nil {
				t.Errorf("it said %q, %v", line, err)
			}
			if group != 0 && len(members(t, group)) == 0 {
				t.Error("nothing runs before the end")
			}
			if err := parent.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = parent.Wait() // killed
			eventually(t, "nothing of the target is left", func() bool { return group != 0 && len(members(t, group)) == 0 })
		})
	}
}

// alive says whether a process is there.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func killProcess(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}

// allStopped says whether every living process of a group stands still: stopped, or
// (D) a shell that waits for the stopped child that it has just begun by vfork.
func allStopped(t *testing.T, group int) bool {
	t.Helper()
	out, err := exec.Command("ps", "-eo", "pgid=,stat=").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(out), "\n") {
		if f := strings.Fields(line); len(f) == 2 && f[0] == strconv.Itoa(group) && !strings.ContainsRune("TDZ", rune(f[1][0])) {
			return false
		}
	}
	return true
}
