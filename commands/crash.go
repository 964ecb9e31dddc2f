package commands

import (
	"fmt"
	"os"
	"runtime/debug"
	"sync"
)

// crashes keeps the first panic of the goroutines of a run, so that it ends in order: faults are undone, the
// terminal is restored, and the trace is in a file.
type crashes struct {
	stop func() // ends the run

	mu    sync.Mutex
	value any
	stack []byte
}

// guard is deferred on every goroutine of the run.
func (c *crashes) guard() {
	if v := recover(); v != nil {
		c.caught(v, debug.Stack())
	}
}

func (c *crashes) caught(v any, stack []byte) {
	c.mu.Lock()
	if c.value == nil {
		c.value, c.stack = v, stack
	}
	c.mu.Unlock()
	c.stop()
}

// err is the crash as an error, its trace in a file; nil: there was none.
func (c *crashes) err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.value == nil {
		return nil
	}
	u := usage{problem: redact(fmt.Sprintf("a bug of nats-reader: %v", c.value))}
	f, err := os.CreateTemp("", "nats-reader-crash-*.txt")
	if err != nil {
		u.hint = "the trace could not be written: " + err.Error()
		return u
	}
	u.hint = "please report it with the trace in " + f.Name()
	if _, err = f.WriteString(redact(fmt.Sprintf("nats-reader: %v\n\n%s", c.value, c.stack))); err != nil {
		u.hint = "the trace could not be written: " + err.Error()
	}
	if err := f.Close(); err != nil {
		u.hint = "the trace could not be written: " + err.Error()
	}
	return u
}

// lastWords has the trace of a panic that nothing can catch, on a goroutine of a library, written to a file,
// too: on the screen it could not be read. forget takes the file away. Without a file there is none.
func lastWords() (forget func()) {
	f, err := os.CreateTemp("", "nats-reader-crash-*.txt")
	if err != nil {
		return func() {}
	}
	remove := func() {
		f.Close()           //nolint:errcheck // nothing was written
		os.Remove(f.Name()) //nolint:errcheck // it is empty
	}
	if err := debug.SetCrashOutput(f, debug.CrashOptions{}); err != nil {
		remove()
		return func() {}
	}
	return func() {
		debug.SetCrashOutput(nil, debug.CrashOptions{}) //nolint:errcheck // it takes nothing away only
		remove()
	}
}
