package fleet

import (
	"fmt"
	"os"
)

// resident is the memory of this process that lies in RAM, in bytes; 0: unknown.
func resident() uint64 {
	b, err := os.ReadFile("/proc/self/statm") // proc(5): size and resident, in pages
	if err != nil {
		return 0
	}
	var size, pages uint64
	if _, err := fmt.Sscan(string(b), &size, &pages); err != nil {
		return 0
	}
	return pages * uint64(os.Getpagesize())
}
