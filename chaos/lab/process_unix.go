//go:build unix

package lab

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

var signalNumbers = map[string]syscall.Signal{
	"TERM": syscall.SIGTERM,
	"KILL": syscall.SIGKILL,
	"STOP": syscall.SIGSTOP,
	"CONT": syscall.SIGCONT,
	"HUP":  syscall.SIGHUP,
	"USR2": syscall.SIGUSR2,
}

// stopSignals are the signals that would end a process and may be caught.
func stopSignals() []os.Signal {
	return []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGPIPE}
}

// keeperAttributes put the keeper in a session of its own: no terminal, and so
// neither Ctrl-C nor a closed window reaches it or its server.
func keeperAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true}
}

// signalServer signals the server's process group, so that a wrapper script
// and the server it started get the same.
func signalServer(p *os.Process, name string) error {
	number, known := signalNumbers[name]
	if !known {
		return fmt.Errorf("unknown signal %q", name)
	}
	err := syscall.Kill(-p.Pid, number)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	if err != nil {
		return fmt.Errorf("signal %s to the server: %w", name, err)
	}
	if name == "STOP" {
		return awaitStopped(p.Pid)
	}
	return nil
}

// killGroup kills a server whose keeper is gone.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
