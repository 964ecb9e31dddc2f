//go:build unix

package lab_test

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// alive tells whether there is such a process. One that is dead and waits for
// whoever inherited it to take note counts as gone.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return syscall.Kill(pid, 0) != syscall.ESRCH
	}
	end := bytes.LastIndexByte(stat, ')')
	return end < 0 || end+2 >= len(stat) || stat[end+2] != 'Z'
}
