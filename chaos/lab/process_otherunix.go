//go:build unix && !linux

package lab

import "syscall"

func serverAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// serverDiesWithKeeper says that the kernel kills an orphaned server.
const serverDiesWithKeeper = false

// awaitStopped: a delivered SIGSTOP is all that these systems tell.
func awaitStopped(int) error { return nil }
