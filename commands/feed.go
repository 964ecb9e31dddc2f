package commands

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// feedRoom is how many remarks may wait for the output.
const feedRoom = 4096

// feed prints remarks in order on a goroutine of its own, for goroutines that must
// not wait for the output.
type feed struct {
	remarks chan func()
	left    atomic.Uint64 // offered while there was no room
	end     func()
}

func newFeed(lines *printer) *feed {
	f := &feed{remarks: make(chan func(), feedRoom)}
	var printing sync.WaitGroup
	printing.Go(func() {
		for print := range f.remarks {
			print()
			if len(f.remarks) == 0 {
				f.tellLeft(lines)
			}
		}
		f.tellLeft(lines)
	})
	f.end = sync.OnceFunc(func() {
		close(f.remarks)
		printing.Wait()
	})
	return f
}

func (f *feed) tellLeft(lines *printer) {
	if n := f.left.Swap(0); n > 0 {
		lines.note("lines left out: the output is slower than the faults", "count", fmt.Sprint(n))
	}
}

// offer has a remark printed if there is room, and never waits.
func (f *feed) offer(print func()) {
	select {
	case f.remarks <- print:
	default:
		f.left.Add(1)
	}
}

// say has a remark printed, and waits for room.
func (f *feed) say(print func()) { f.remarks <- print }

// close prints what waits and ends. Nothing may be offered or said from then on.
func (f *feed) close() { f.end() }
