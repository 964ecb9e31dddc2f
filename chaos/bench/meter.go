package bench

import (
	"runtime"
	"time"
)

// meter measures what happens between its start and its stop.
type meter struct {
	server func() (time.Duration, bool)
	wire   *wire

	memory    runtime.MemStats
	routines  int
	serverCPU time.Duration
	known     bool // the server's
	cpu       time.Duration
	bytes     uint64
	began     time.Time
}

// startMeter begins behind a garbage collection: what others left is not this reader's to clean up.
func startMeter(server func() (time.Duration, bool), w *wire) *meter {
	m := &meter{server: server, wire: w}
	runtime.GC()
	runtime.ReadMemStats(&m.memory)
	m.routines = runtime.NumGoroutine()
	m.serverCPU, m.known = server()
	m.bytes = w.bytes.Load()
	m.cpu = cpuTime()
	m.began = time.Now()
	return m
}

// stop gives what was used for so many messages.
func (m *meter) stop(messages uint64) Reading {
	r := Reading{Messages: messages, Took: time.Since(m.began), CPU: cpuTime() - m.cpu, Wire: m.wire.bytes.Load() - m.bytes}
	if used, known := m.server(); known && m.known {
		used -= m.serverCPU
		r.ServerCPU = &used
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	r.Allocations, r.Allocated = memory.Mallocs-m.memory.Mallocs, memory.TotalAlloc-m.memory.TotalAlloc
	r.Heap, r.Goroutines = m.memory.HeapAlloc, m.routines
	return r
}
