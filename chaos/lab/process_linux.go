package lab

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// serverAttributes give the server a process group of its own and bind its
// life to the keeper's thread.
func serverAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// serverDiesWithKeeper says that the kernel kills an orphaned server.
const serverDiesWithKeeper = true

// awaitStopped returns when every thread of the process stands still: until
// then one that was running may still answer a client.
func awaitStopped(pid int) error {
	const limit = 5 * time.Second
	var err error
	settled := ask(time.Millisecond, limit, func() bool {
		var stopped bool
		stopped, err = allThreadsStopped(pid)
		return stopped || err != nil
	})
	if !settled {
		err = fmt.Errorf("pid %d still runs %s after SIGSTOP", pid, limit)
	}
	if err != nil {
		return fmt.Errorf("freeze the server: %w", err)
	}
	return nil
}

func allThreadsStopped(pid int) (bool, error) {
	stats, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "stat"))
	if err != nil {
		return false, err
	}
	if len(stats) == 0 {
		return false, os.ErrProcessDone
	}
	for _, stat := range stats {
		text, err := os.ReadFile(stat)
		if err != nil {
			continue // this thread has just ended
		}
		// The state follows the name, which is in parentheses and may hold any.
		end := bytes.LastIndexByte(text, ')')
		if end < 0 || end+2 >= len(text) {
			return false, fmt.Errorf("%s: unexpected content", stat)
		}
		switch text[end+2] {
		case 'T', 't':
		case 'Z', 'X':
			return false, os.ErrProcessDone
		default:
			return false, nil
		}
	}
	return true, nil
}
