//go:build long

package reader_test

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/reader"
)

// Ten thousand idle readers of one process, on twenty streams: what each costs, what
// they ask, and how long all take to read again after the server was killed, and after
// it was stopped. MANY_READERS is another number; MANY_STRICT=1 also judges the time,
// which is the machine's as much as ours.
func TestTenThousandReaders(t *testing.T) {
	const streams, within = 20, 20 * time.Second
	readers := 10_000
	if s := os.Getenv("MANY_READERS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			t.Fatalf("MANY_READERS is %q: a number of readers is wanted", s)
		}
		readers = n
	}
	b, f := withFlights(t, streams)
	f.patience = 2 * time.Second // the default AttemptTimeout: later nobody waits for the answer
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	t.Cleanup(cancel)
	b.ctx = ctx
	b.publishEach(streams, 1)
	bytes, goroutines := inUse(), runtime.NumGoroutine()
	began := time.Now()
	all := b.openMany(readers, streams, reader.RetryPolicy{})
	t.Logf("%d readers opened in %s", readers, time.Since(began).Round(time.Millisecond))
	read := func(payload int) {
		t.Helper()
		for _, r := range all {
			m, err := r.Next(b.ctx)
			b.must(err)
			if string(m.Data) != num(payload) {
				t.Fatalf("got message %s, want %d", m.Data, payload)
			}
		}
	}
	read(1)
	f.within(b)
	if n := f.sent("CONSUMER.CREATE"); n != readers {
		t.Errorf("%d creates for %d readers: answers came too late", n, readers)
	}
	b.eventually("all are idle", func() bool { return runtime.NumGoroutine() <= goroutines+readers+100 })
	perReader := float64(runtime.NumGoroutine()-goroutines) / float64(readers)
	size := float64(inUse()-bytes) / float64(readers) / 1024
	if perReader > 2 || size > 24 {
		t.Errorf("%.2f goroutines and %.1f KiB a reader, want 2 and 24 at most", perReader, size)
	}
	asked, pulled := f.sum(), b.pulls(all)
	b.pass(time.Minute)
	t.Logf("idle: %.2f goroutines and %.1f KiB each; in one minute %d API requests and %.2f pulls each",
		perReader, size, f.sum()-asked, float64(b.pulls(all)-pulled)/float64(readers))
	for i, end := range []func(context.Context) error{b.server.Kill, b.server.Term} {
		before := f.sum()
		b.must(end(b.ctx))
		began = time.Now()
		b.must(b.server.Start(b.ctx))
		up := time.Since(began)
		b.eventually("the publisher is back", b.direct.IsConnected)
		began = time.Now()
		b.publishEach(streams, 2+i)
		read(2 + i)
		took := time.Since(began)
		t.Logf("after %s: the server was up in %s, all read again %s later, %d API requests",
			[]string{"KILL", "TERM"}[i], up.Round(time.Millisecond), took.Round(time.Millisecond), f.sum()-before)
		if took > within && os.Getenv("MANY_STRICT") == "1" {
			t.Errorf("all read again after %s, want %s at most", took, within)
		}
		f.within(b)
	}
	began = time.Now()
	b.closeMany(all)
	t.Logf("closed in %s", time.Since(began).Round(time.Millisecond))
}

// inUse is the memory that is kept after a collection.
func inUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// pulls counts the pulls of all readers.
func (b *bed) pulls(all []*reader.Reader) (n uint64) {
	for _, r := range all {
		n += r.Status().Pulls
	}
	return n
}

// pass lets a time pass in which something is counted.
func (b *bed) pass(d time.Duration) {
	b.Helper()
	passed := time.NewTimer(d)
	defer passed.Stop()
	select {
	case <-passed.C:
	case <-b.ctx.Done():
		b.Fatal("the test's time is over")
	}
}

// sent gives how many requests of a name were sent.
func (f *flights) sent(name string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count[name]
}

// sum gives how many requests were sent in all.
func (f *flights) sum() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.count {
		n += c
	}
	return n
}
