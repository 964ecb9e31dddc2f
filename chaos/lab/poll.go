package lab

import (
	"context"
	"errors"
	"time"
)

// poll calls try at once and then after growing pauses, up to 50 ms, until it is
// done or fails, the run is over (errRunOver) or ctx ends (its cause).
func poll(ctx context.Context, r *run, try func() (done bool, err error)) error {
	const first, longest = 2 * time.Millisecond, 50 * time.Millisecond
	timer := time.NewTimer(0)
	defer timer.Stop()
	for pause := first; ; pause = min(2*pause, longest) {
		select {
		case <-timer.C:
		case <-r.gone:
			return errRunOver
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if done, err := try(); done || err != nil {
			return err
		}
		timer.Reset(pause)
	}
}

// errRunOver: the process ended while something was awaited of it.
var errRunOver = errors.New("the server process ended")

// ask calls try at once and then every pause, until it is done or limit is
// over: for what happens outside of this process and that nobody tells.
func ask(pause, limit time.Duration, try func() (done bool)) bool {
	if try() {
		return true
	}
	tick := time.NewTicker(pause)
	defer tick.Stop()
	end := time.NewTimer(limit)
	defer end.Stop()
	for {
		select {
		case <-tick.C:
			if try() {
				return true
			}
		case <-end.C:
			return false
		}
	}
}
