package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/an-open-reader/nats-reader/chaos"
)

// hands makes the faults of a run: those of the schedule, and those that somebody makes by hand.
type hands struct {
	env  func(reader int) *chaos.Environment
	tell func(chaos.Firing)
	bug  func(*chaos.Panic) // ends the run

	mu        sync.Mutex
	ctx       context.Context // of the faults that are on and to come; ended by clear
	cancel    context.CancelFunc
	parent    context.Context
	over      bool // no more faults
	running   sync.WaitGroup
	scheduled *chaos.Runner
	runners   []*chaos.Runner // by hand
	on        map[string]int  // faults that act, by how they print
	process   int             // of them on the server's process
	fired     map[*chaos.Runner]bool
}

// newHands checks the schedule, whose faults act on the first reader. env gives what faults act on.
func newHands(env func(reader int) *chaos.Environment, specs []chaos.Spec, tell func(chaos.Firing), bug func(*chaos.Panic)) (*hands, error) {
	first := env(0)
	h := &hands{env: func(n int) *chaos.Environment {
		// A copy of the first one shares what was done to the server.
		e, of := *first, env(n)
		e.Status, e.Stream = of.Status, of.Stream
		return &e
	}, tell: tell, bug: bug, on: map[string]int{}, fired: map[*chaos.Runner]bool{}}
	var err error
	h.scheduled, err = chaos.NewRunner(first, specs, func(f chaos.Firing) { h.told(f); tell(f) })
	return h, err
}

// told counts what is on.
func (h *hands) told(f chaos.Firing) {
	h.mu.Lock()
	defer h.mu.Unlock()
	entry, _ := chaos.FindFault(f.Spec.Name)
	if entry.Once {
		return
	}
	name, by := f.Spec.Fault(), 1
	if f.Phase != chaos.PhaseFired {
		if h.on[name] == 0 {
			return // it never acted
		}
		by = -1
	}
	if h.on[name] += by; h.on[name] == 0 {
		delete(h.on, name)
	}
	if entry.Layer == chaos.LayerProcess {
		h.process += by
	}
}

// run makes the scheduled faults, and lets others be made, until ctx ends; then all are undone.
func (h *hands) run(ctx context.Context) {
	h.mu.Lock()
	h.parent = ctx
	h.ctx, h.cancel = context.WithCancel(ctx)
	scheduled := h.ctx
	h.mu.Unlock()
	h.make(scheduled, h.scheduled)
	<-ctx.Done()
	h.mu.Lock()
	h.over = true
	h.cancel()
	h.mu.Unlock()
	h.running.Wait()
}

var errNotReading = errors.New("the run makes no faults at the moment")

// refused says why a fault cannot be made by hand now; "": it can.
func (h *hands) refused(reader int, s chaos.Spec) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	entry, _ := chaos.FindFault(s.Name)
	switch {
	case h.ctx == nil || h.over:
		return errNotReading.Error()
	case h.on[s.Fault()] > 0:
		return "it is on: 0 undoes it"
	case entry.Layer == chaos.LayerProcess && h.process > 0:
		return "another fault of the server's process is on: 0 undoes it"
	}
	env := h.env(reader)
	if entry.Destructive {
		env.TargetName = env.Stream // it is asked for
	}
	if err := env.Allow(s); err != nil {
		return strings.TrimPrefix(err.Error(), "fault "+s.Name+": refused: ")
	}
	return ""
}

// fire makes a fault at once. typed is what was typed as the name of the target.
func (h *hands) fire(reader int, s chaos.Spec, typed string) error {
	if why := h.refused(reader, s); why != "" {
		return fmt.Errorf("%s: %s", s.Name, why)
	}
	env := h.env(reader)
	if typed != "" {
		env.TargetName = typed
	}
	var r *chaos.Runner
	r, err := chaos.NewRunner(env, []chaos.Spec{s}, func(f chaos.Firing) {
		if f.Phase == chaos.PhaseFired {
			h.mu.Lock()
			h.fired[r] = true
			h.mu.Unlock()
		}
		h.told(f)
		h.tell(f)
	})
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over || h.ctx == nil {
		return errNotReading
	}
	h.runners = append(h.runners, r)
	ctx := h.ctx
	h.running.Go(func() { h.make(ctx, r) })
	return nil
}

// make runs faults until they are over and undone.
func (h *hands) make(ctx context.Context, r *chaos.Runner) {
	r.Run(ctx)
	if p := r.Panic(); p != nil {
		h.bug(p)
	}
}

// clear undoes what is on and calls off what is to come.
func (h *hands) clear() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx == nil || h.over {
		return "no fault is on"
	}
	n := len(h.on)
	h.cancel()
	h.ctx, h.cancel = context.WithCancel(h.parent)
	switch n {
	case 0:
		return "no fault is on; none is to come"
	case 1:
		return "1 fault is undone; none is to come"
	default:
		return fmt.Sprintf("%d faults are undone; none is to come", n)
	}
}

// periods are those of all faults that were made.
func (h *hands) periods() []chaos.Period {
	h.mu.Lock()
	runners := h.runners
	h.mu.Unlock()
	all := h.scheduled.Periods()
	for _, r := range runners {
		all = append(all, r.Periods()...)
	}
	return all
}

// failed tells what leaves nothing to judge: a fault of the schedule that could not act, and any that could
// not be undone. One that was asked for by hand and could not act was told to who asked.
func (h *hands) failed() []error {
	all := h.scheduled.Failed()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.runners {
		if h.fired[r] {
			all = append(all, r.Failed()...)
		}
	}
	return all
}
