package bench

import (
	"context"
	"time"
)

// work stands for what a caller does with a message: it takes so long, and no CPU.
type work struct {
	each  time.Duration
	timer *time.Timer
}

// do takes its time, or less where ctx ends.
func (w *work) do(ctx context.Context) {
	if w.timer == nil {
		w.timer = time.NewTimer(w.each)
	} else {
		w.timer.Reset(w.each)
	}
	select {
	case <-w.timer.C:
	case <-ctx.Done():
		w.timer.Stop()
	}
}
