//go:build long

package reader_test

import (
	"runtime"
	"testing"
	"time"
)

// Ten thousand idle readers of one process, on twenty streams: what each costs, and
// how long all take to read again after the server was killed.
func TestLongTenThousandReaders(t *testing.T) {
	const readers, streams = 10_000, 20
	b, f := withFlights(t, streams)
	b.publishEach(streams, 1)
	memory := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	bytes, goroutines := memory(), runtime.NumGoroutine()
	began := time.Now()
	all := b.openMany(readers, streams)
	t.Logf("%d readers opened in %s", readers, time.Since(began).Round(time.Millisecond))
	read := func(payload int) {
		t.Helper()
		for _, r := range all {
			b.expect(r, payload, payload)
		}
	}
	read(1)
	f.within(b)
	b.eventually("all are idle", func() bool { return runtime.NumGoroutine() <= goroutines+readers+100 })
	perReader := float64(runtime.NumGoroutine()-goroutines) / readers
	size := float64(memory()-bytes) / readers / 1024
	t.Logf("idle: %.2f goroutines and %.1f KiB each", perReader, size)
	if perReader > 2 || size > 24 {
		t.Fatalf("%.2f goroutines and %.1f KiB a reader, want 2 and 24 at most", perReader, size)
	}
	b.must(b.server.Kill(b.ctx))
	b.must(b.server.Start(b.ctx))
	b.eventually("the publisher is back", b.direct.IsConnected)
	began = time.Now()
	b.publishEach(streams, 2)
	read(2)
	t.Logf("all read again %s after the restart", time.Since(began).Round(time.Millisecond))
	f.within(b)
	began = time.Now()
	b.closeMany(all)
	t.Logf("closed in %s", time.Since(began).Round(time.Millisecond))
}
