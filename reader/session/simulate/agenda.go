package simulate

import (
	"time"

	"github.com/an-open-reader/nats-reader/reader/session/simulate/model"
)

// entry is something that becomes due. What comes at one instant comes in the order
// it was planned, but a machine's own clock always goes first.
type entry struct {
	at     time.Duration
	seq    uint64
	server bool // done by the server: late while it is frozen
	do     model.Timer
}

func (e *entry) before(o *entry) bool { return e.at < o.at || e.at == o.at && e.seq < o.seq }

// agenda is a heap of what is due, the first on top.
type agenda struct {
	heap []entry
	seq  uint64
}

// ticks go before everything else of their instant.
const others = 1 << 40

func (a *agenda) add(at time.Duration, server, tick bool, do model.Timer) {
	a.seq++
	e := entry{at, a.seq + others, server, do}
	if tick {
		e.seq = a.seq
	}
	a.push(e)
}

// delay puts an entry off. It keeps its place among those that come then: what is sent
// first arrives first, also at a server that is frozen, and frozen again.
func (a *agenda) delay(e entry, at time.Duration) {
	e.at = at
	a.push(e)
}

func (a *agenda) push(e entry) {
	a.heap = append(a.heap, e)
	i := len(a.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !a.heap[i].before(&a.heap[up]) {
			break
		}
		a.heap[i], a.heap[up] = a.heap[up], a.heap[i]
		i = up
	}
}

func (a *agenda) next() (at time.Duration, ok bool) {
	if len(a.heap) == 0 {
		return 0, false
	}
	return a.heap[0].at, true
}

func (a *agenda) take() entry {
	top := a.heap[0]
	n := len(a.heap) - 1
	a.heap[0] = a.heap[n]
	a.heap[n] = entry{}
	a.heap = a.heap[:n]
	for i := 0; ; {
		least := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < n && a.heap[child].before(&a.heap[least]) {
				least = child
			}
		}
		if least == i {
			return top
		}
		a.heap[i], a.heap[least] = a.heap[least], a.heap[i]
		i = least
	}
}

// call is a function as a timer.
type call func()

// Fire calls it.
func (f call) Fire() { f() }
