package fleet

import (
	"slices"
	"sync"
	"time"

	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

// tally counts the events of all readers since the last begin.
type tally struct {
	mu    sync.Mutex
	began time.Time
	seen
}

// seen is what a tally has counted.
type seen struct {
	proofs []time.Duration // when a session replaced another, since the begin
	deaf   time.Duration   // the longest that ended
	healed int             // sessions that answered again and stayed
}

func (t *tally) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.began, t.seen = time.Now(), seen{}
}

// observe is every reader's Observer.
func (t *tally) observe(e reader.Event) {
	if e.Kind != session.KindSessionReplaced && e.Kind != session.KindSessionHealed {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.deaf = max(t.deaf, e.Deaf)
	if e.Kind == session.KindSessionHealed {
		t.healed++
		return
	}
	t.proofs = append(t.proofs, e.Time.Sub(t.began))
}

// soFar gives what was seen, the proofs in their order.
func (t *tally) soFar() seen {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.seen
	c.proofs = slices.Sorted(slices.Values(c.proofs))
	return c
}
