package run

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// ErrTimeout is why a run ended that its hard limit cut short.
var ErrTimeout = errors.New("the time of the run is over")

// targetEnded is why a run ends whose target ended by itself.
type targetEnded struct {
	err error
	at  time.Time
}

func (e *targetEnded) Error() string { return "the target ended: " + e.err.Error() }
func (e *targetEnded) Unwrap() error { return e.err }

// crash is a panic, of a target or of ours.
type crash struct {
	where string
	value any
	stack []byte
}

func (e *crash) Error() string { return fmt.Sprintf("a panic in %s: %v", e.where, e.value) }

// crashed ends the phases for a panic, and tells where it was.
func (r *run) crashed(err *crash) {
	r.cancel(err)
	if r.options.Trace != nil {
		fmt.Fprintf(r.options.Trace, "plan %s, target %s: %v\n%s\n", r.plan.Name, r.target.Name(), err, err.stack) //nolint:errcheck // there is nobody else to tell
	}
}

// crew are the goroutines of a run. A panic in one of them ends the run, not the process:
// faults would stay.
type crew struct {
	failed  func(*crash) // told of a panic
	running sync.WaitGroup
}

// spawn runs do as a part of the crew.
func (c *crew) spawn(where string, do func()) {
	c.running.Go(func() {
		defer c.catch(where)
		do()
	})
}

// catch is deferred around code that may panic.
func (c *crew) catch(where string) {
	if v := recover(); v != nil {
		c.failed(&crash{where: where, value: v, stack: debug.Stack()})
	}
}

func (c *crew) wait() { c.running.Wait() }

// errLate says that what was waited for did not come within its limit.
var errLate = errors.New("it did not come in time")

// await waits for something to happen, at most for limit, and says why it did not.
func await(ctx context.Context, happened <-chan struct{}, limit time.Duration) error {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-happened:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return errLate
	}
}

// pass waits for a time to pass.
func pass(ctx context.Context, d time.Duration) error {
	err := await(ctx, nil, d)
	if errors.Is(err, errLate) {
		return nil
	}
	return err
}
