//go:build unix

package fleet

import "syscall"

// openFilesLimit is how many files this process may have open; 0: unknown.
func openFilesLimit() uint64 {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil || l.Cur <= 0 {
		return 0
	}
	return uint64(l.Cur) // signed on some systems
}
