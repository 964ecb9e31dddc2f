//go:build unix

package bench

import (
	"syscall"
	"time"
)

// cpuTime is what this process has used so far, of user and system.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0 // it cannot fail for a process of its own
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
