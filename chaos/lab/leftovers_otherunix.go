//go:build unix && !linux

package lab

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// serversOf finds the processes that run from a folder.
func serversOf(dir string) ([]int, error) {
	out, err := exec.Command("ps", "-axww", "-o", "pid=,command=").Output()
	if err != nil {
		return nil, fmt.Errorf("ps: %w", err)
	}
	var pids []int
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		number, command, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
		if pid, err := strconv.Atoi(number); err == nil && runsFrom(dir, words(command, " ")) {
			pids = append(pids, pid)
		}
	}
	return pids, lines.Err()
}
