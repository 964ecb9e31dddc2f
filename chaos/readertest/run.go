package readertest

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Run makes a Bed outside of go test, such as in an example or a program of one's own, and gives what would
// have failed a test. The program's main calls lab.Main first.
func Run(ctx context.Context, o Options, do func(*Bed)) error {
	t := &standIn{ctx: ctx}
	t.body(func() { do(New(t, o)) })
	t.clean()
	return errors.Join(t.failures...)
}

// standIn is a test where there is none.
type standIn struct {
	ctx context.Context

	mu       sync.Mutex
	cleanups []func()
	failures []error
}

// fatal ends the body of a stand-in.
type fatal struct{}

func (t *standIn) Helper() {}

func (t *standIn) Context() context.Context { return t.ctx }

func (t *standIn) Cleanup(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cleanups = append(t.cleanups, f)
}

func (t *standIn) Errorf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failures = append(t.failures, fmt.Errorf(format, args...))
}

func (t *standIn) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	panic(fatal{})
}

func (t *standIn) body(do func()) {
	defer func() {
		switch v := recover(); v.(type) {
		case nil, fatal:
		default:
			t.clean() // a panic of the caller's leaves nothing either
			panic(v)
		}
	}()
	do()
}

// clean calls the cleanups, the newest first.
func (t *standIn) clean() {
	for {
		t.mu.Lock()
		n := len(t.cleanups)
		if n == 0 {
			t.mu.Unlock()
			return
		}
		last := t.cleanups[n-1]
		t.cleanups = t.cleanups[:n-1]
		t.mu.Unlock()
		last()
	}
}
