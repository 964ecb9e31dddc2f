package bench

import (
	"syscall"
	"time"
)

// cpuTime is what this process has used so far, of user and kernel.
func cpuTime() time.Duration {
	own, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0
	}
	used, _ := timesOf(own)
	return used
}

// queryLimited is PROCESS_QUERY_LIMITED_INFORMATION, the right to ask for the times of a process.
const queryLimited = 0x1000

// cpuOf is what another process has used so far, of user and kernel; false: that is not known.
func cpuOf(pid int) (time.Duration, bool) {
	p, err := syscall.OpenProcess(queryLimited, false, uint32(pid))
	if err != nil {
		return 0, false
	}
	defer syscall.CloseHandle(p) //nolint:errcheck // it was only asked
	return timesOf(p)
}

func timesOf(p syscall.Handle) (time.Duration, bool) {
	var created, ended, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(p, &created, &ended, &kernel, &user); err != nil {
		return 0, false
	}
	length := func(t syscall.Filetime) time.Duration { // in steps of 100 ns
		return time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * 100
	}
	return length(kernel) + length(user), true
}
