package run

import (
	"context"
	"sync"

	"github.com/an-open-reader/nats-reader/chaos/plan"
)

// moments are the counts that steps wait for: sessions, heartbeats, sequences.
type moments struct {
	mu    sync.Mutex
	count map[plan.WhenKind]uint64
	from  map[plan.WhenKind]uint64 // what had been counted when the inject phase began
	waits []*moment
}

// moment is one that somebody waits for.
type moment struct {
	kind   plan.WhenKind
	number uint64
	come   chan struct{}
}

func newMoments() *moments {
	return &moments{count: map[plan.WhenKind]uint64{}, from: map[plan.WhenKind]uint64{}}
}

// more counts one more of a kind.
func (m *moments) more(kind plan.WhenKind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count[kind]++
	m.look()
}

// reached tells how far a kind has come.
func (m *moments) reached(kind plan.WhenKind, number uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if number > m.count[kind] {
		m.count[kind] = number
		m.look()
	}
}

// begin has heartbeats counted from now on.
func (m *moments) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.from[plan.Heartbeat] = m.count[plan.Heartbeat]
}

// await waits until so many of a kind were counted, and says whether they were before
// ctx ended.
func (m *moments) await(ctx context.Context, kind plan.WhenKind, number uint64) bool {
	m.mu.Lock()
	w := &moment{kind: kind, number: number + m.from[kind], come: make(chan struct{})}
	m.waits = append(m.waits, w)
	m.look()
	m.mu.Unlock()
	select {
	case <-w.come:
		return true
	case <-ctx.Done():
		return false
	}
}

func (m *moments) look() {
	left := m.waits[:0]
	for _, w := range m.waits {
		if m.count[w.kind] >= w.number {
			close(w.come)
		} else {
			left = append(left, w)
		}
	}
	m.waits = left
}
