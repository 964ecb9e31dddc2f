package lab

import (
	"os"
	"path/filepath"
	"strconv"
)

// serversOf finds the processes that run from a folder. Those of others cannot be read, and are not ours.
func serversOf(dir string) ([]int, error) {
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, path := range lines {
		text, err := os.ReadFile(path)
		if err != nil || !runsFrom(dir, words(string(text), "\x00")) {
			continue // a zombie has no command line
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}
