package chaos

import (
	"context"
	"sync"
	"time"
)

// Pace is how fast the code behind a reader works. The code calls Wait after each
// message that it was handed; slow-reader and stalled-reader set the pace meanwhile.
// The zero value, and nil, is full speed. It is safe for concurrent use.
type Pace struct {
	mu      sync.Mutex
	pauses  map[*hold]struct{}
	changed chan struct{} // closed at the next change; nil: nobody waits for one
}

// hold is what one fault asks for.
type hold struct {
	pause time.Duration // after each message; 0: until it is ended
}

// Slow makes the code pause after each message until end is called. Of several
// pauses the longest counts.
func (p *Pace) Slow(pause time.Duration) (end func()) { return p.set(&hold{pause}) }

// Stall makes the code stand still after its next message until end is called.
func (p *Pace) Stall() (end func()) { return p.set(&hold{}) }

func (p *Pace) set(h *hold) (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pauses == nil {
		p.pauses = map[*hold]struct{}{}
	}
	p.pauses[h] = struct{}{}
	p.wake()
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.pauses, h)
		p.wake()
	}
}

func (p *Pace) wake() {
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// Wait is the work on one message: it takes as long as the faults in force say, and
// ends early with them, or with ctx.
func (p *Pace) Wait(ctx context.Context) {
	if p == nil {
		return
	}
	began := time.Now()
	for {
		pause, stalled, changed := p.now()
		if !stalled && pause == 0 {
			return
		}
		var over <-chan time.Time
		if !stalled {
			t := time.NewTimer(time.Until(began.Add(pause)))
			defer t.Stop() // of a few changes at most
			over = t.C
		}
		select {
		case <-over:
			return
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func (p *Pace) now() (pause time.Duration, stalled bool, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.pauses) == 0 {
		return 0, false, nil
	}
	for h := range p.pauses {
		stalled = stalled || h.pause == 0
		pause = max(pause, h.pause)
	}
	if p.changed == nil {
		p.changed = make(chan struct{})
	}
	return pause, stalled, p.changed
}
