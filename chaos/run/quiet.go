package run

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/plan"
)

// windows are the times in which nothing is published. Steps that come before the last
// message ahead of one wait for begins, and tell when they act.
type windows struct {
	all    []plan.Window
	begins []chan struct{} // closed when the target has read all that was published before
	acting []sync.WaitGroup
}

func newWindows(p plan.Plan) *windows {
	w := &windows{all: p.Quiet, acting: make([]sync.WaitGroup, len(p.Quiet))}
	for range p.Quiet {
		w.begins = append(w.begins, make(chan struct{}))
	}
	for _, s := range p.Steps {
		if s.When.Kind == plan.Quiet {
			w.acting[s.When.Number-1].Add(1)
		}
	}
	return w
}

// readLimit bounds how long a quiet window waits for the target to read what it has not.
const readLimit = 15 * time.Second

// quiet holds the publishers during every window. It is given up with ctx.
func (r *run) quiet(ctx context.Context, began time.Time) {
	for n, w := range r.windows.all {
		if pass(ctx, time.Until(began.Add(w.From))) != nil {
			return
		}
		resume, err := r.load.pause(ctx)
		if err != nil {
			return
		}
		from := time.Now()
		if r.hasStepBefore(n) {
			r.lastWord(ctx, n)
			from = time.Now()
		}
		r.note("quiet: nothing is published for %s", w.For)
		err = pass(ctx, time.Until(from.Add(w.For)))
		resume()
		if err != nil {
			return
		}
	}
}

// hasStepBefore says whether a step comes before the last message ahead of a window.
func (r *run) hasStepBefore(window int) bool {
	for _, s := range r.plan.Steps {
		if s.When.Kind == plan.Quiet && s.When.Number == uint64(window+1) {
			return true
		}
	}
	return false
}

// lastWord lets the steps ahead of a window act on a target that has read everything,
// and then publishes one message.
func (r *run) lastWord(ctx context.Context, window int) {
	limited, cancel := context.WithTimeout(ctx, readLimit)
	err := r.oracle.AwaitRead(limited, oracle.Ending{Time: time.Now(), Periods: r.periods()})
	cancel()
	if err != nil && ctx.Err() == nil {
		r.fail(errors.New("before a quiet window the target had not read all that was stored: what was to be its last message came among others"))
	}
	close(r.windows.begins[window])
	r.windows.acting[window].Wait() // each says so when it acts, and when ctx ends
	if ctx.Err() == nil && !r.load.lastWord(ctx, r.plan.Target, len(r.stage.subjects)) {
		r.fail(errors.New("the last message before a quiet window was not stored"))
	}
}
