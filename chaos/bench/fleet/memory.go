package fleet

import (
	"context"
	"fmt"
	"runtime"
	"strings"
)

// held is what this process keeps.
type held struct {
	bytes      uint64 // heap and stacks in use
	resident   uint64 // 0: unknown
	goroutines int
}

// heldNow collects first: twice, since what a finalizer or a pool lets go falls to the second.
func heldNow() held {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return held{bytes: m.HeapInuse + m.StackInuse, resident: resident(), goroutines: runtime.NumGoroutine()}
}

// costs are what n readers added, each.
func costs(before, now held, n int) Costs {
	each := func(a, b uint64) float64 { return (float64(b) - float64(a)) / float64(n) }
	c := Costs{Goroutines: float64(now.goroutines-before.goroutines) / float64(n), Memory: each(before.bytes, now.bytes)}
	if now.resident > 0 {
		c.Resident = each(before.resident, now.resident)
	}
	return c
}

// mostTimed is on how many readers timers are counted: the heap profile has every object then, which is slow.
const mostTimed = 50

// countTimers opens a few readers with every allocation in the heap profile, and counts the timers that they hold
// while idle: nothing else tells how many a process has. They are closed again.
func (f *fleet) countTimers(ctx context.Context) (each float64, of int, err error) {
	of = min(mostTimed, f.plan.Readers)
	f.plan.Told(Progress{Text: fmt.Sprintf("counting the timers of %d readers", of)})
	before := timers()
	rate := runtime.MemProfileRate
	runtime.MemProfileRate = 1
	defer func() { runtime.MemProfileRate = rate }()
	if err := f.open(ctx, of); err != nil {
		return 0, of, err
	}
	if _, err := f.readAll(ctx); err != nil {
		return 0, of, err
	}
	if err := f.settled(ctx); err != nil {
		return 0, of, err
	}
	each = float64(timers()-before) / float64(of)
	return each, of, f.closeAll(ctx)
}

// timers counts the timers in the heap profile that readers made.
func timers() (n int64) {
	// The profile is that of the last collection but one.
	runtime.GC()
	runtime.GC()
	records := make([]runtime.MemProfileRecord, 1024)
	for {
		got, ok := runtime.MemProfile(records, false)
		if ok {
			records = records[:got]
			break
		}
		records = make([]runtime.MemProfileRecord, got+got/4)
	}
	for _, r := range records {
		if madeByReaders(r.Stack()) {
			n += r.InUseObjects()
		}
	}
	return n
}

// madeByReaders says whether a stack is the making of a timer in the package of the readers.
func madeByReaders(stack []uintptr) bool {
	frames := runtime.CallersFrames(stack)
	timer := false
	for {
		f, more := frames.Next()
		switch f.Function {
		case "runtime.growslice":
			return false // the runtime's own list of all timers
		case "time.AfterFunc", "time.NewTimer", "time.NewTicker":
			timer = true
		}
		if timer && strings.HasPrefix(f.Function, readerPackage) {
			return true
		}
		if !more {
			return false
		}
	}
}

const readerPackage = "github.com/an-open-reader/nats-reader/reader."
