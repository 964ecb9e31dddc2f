package reader

import "context"

// slot waits for a slot for one API request of a reader; the release gives it back.
func (l *link) slot(ctx context.Context, key uint64, stream string) (release func(), err error) {
	l.mu.Lock()
	l.tickets++
	t := l.tickets
	granted := l.rules.Acquire(key, stream, t)
	var ready chan struct{}
	if !granted {
		ready = make(chan struct{})
		l.waiting[t] = ready
	}
	l.mu.Unlock()
	release = func() {
		l.mu.Lock()
		l.grant(l.rules.Release(t))
		l.mu.Unlock()
	}
	if granted {
		return release, nil
	}
	select {
	case <-ready:
		return release, nil
	case <-ctx.Done():
		l.mu.Lock()
		delete(l.waiting, t)
		l.grant(l.rules.Abandon(t))
		l.mu.Unlock()
		return nil, ctx.Err()
	}
}

// grant wakes the tickets that got a slot; the lock is held.
func (l *link) grant(tickets []uint64) {
	for _, t := range tickets {
		if ready := l.waiting[t]; ready != nil {
			delete(l.waiting, t)
			close(ready)
		}
	}
}
