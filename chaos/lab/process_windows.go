package lab

import (
	"fmt"
	"os"
	"syscall"
)

const serverDiesWithKeeper = false

func stopSignals() []os.Signal { return []os.Signal{os.Interrupt} }

// keeperAttributes keep Ctrl-C of the console away from the keeper.
func keeperAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func serverAttributes() *syscall.SysProcAttr { return nil }

// signalServer can kill, and nothing else: there are no such signals here.
func signalServer(p *os.Process, name string) error {
	if name != "KILL" {
		return fmt.Errorf("signal %s: windows has no such signal: only Kill works there", name)
	}
	return p.Kill()
}

func killGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}
