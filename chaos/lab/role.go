package lab

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
)

// roleVariable tells a process started by the lab which child it is. It is
// taken out of the environment at once, so that no process below inherits it.
const roleVariable = "NATS_READER_LAB_ROLE"

const (
	roleKeeper = "keeper"
	roleServer = "server"
)

// mainCalled says that children of this executable will find their role.
var mainCalled atomic.Bool

// Main turns a process that the lab started as a child into that child, and
// never returns there. In every other process it returns at once. Call it
// first in TestMain, before m.Run, and first in main.
func Main() {
	role, asked := os.LookupEnv(roleVariable)
	if !asked {
		mainCalled.Store(true)
		return
	}
	os.Unsetenv(roleVariable)
	switch role {
	case roleKeeper:
		os.Exit(keep(os.Stdin, os.Stdout, os.Stderr))
	case roleServer:
		os.Exit(serve(os.Args[1:]))
	default:
		os.Stderr.WriteString("nats-reader: error: " + roleVariable + "=" + role +
			" is no role: the variable is set by the lab alone, unset it\n")
		os.Exit(exitCannotServe)
	}
}

// childCommand is the command that runs this executable in a role. The words
// after its name are what a list of processes shows.
func childCommand(role string, args ...string) (*exec.Cmd, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(runnable(path))
	cmd.Args = append([]string{path}, args...)
	// In a build with -race every process sleeps a second before it exits, so
	// that late reports get out; nobody waits for those of a child. A wish of the
	// environment comes later and wins.
	race := "GORACE=" + strings.TrimSpace("atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	cmd.Env = append(os.Environ(), roleVariable+"="+role, race)
	return cmd, nil
}

// runnable is a path by which this very executable can be started: on Linux
// also after its file was removed or replaced, as "go run" and a rebuild do.
func runnable(path string) string {
	if runtime.GOOS != "linux" {
		return path
	}
	const self = "/proc/self/exe"
	running, err := os.Stat(self)
	if err != nil {
		return path
	}
	if onDisk, err := os.Stat(path); err == nil && os.SameFile(onDisk, running) {
		return path
	}
	return self
}
