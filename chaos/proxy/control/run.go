package control

import (
	"net/http"
	"sync"
)

// runHeader names one run of a control. Ids begin with 1 in each: one of a proxy that was killed and started again may
// be that of somebody else's fault.
const runHeader = "Nats-Reader-Run"

// otherRun refuses a request that is about a fault of a run before this one.
func (c *Control) otherRun(r *http.Request) *problem {
	if run := r.Header.Get(runHeader); run == "" || run == c.run {
		return nil
	}
	return &problem{Status: http.StatusGone, Text: "the proxy was started anew: the faults of before are over", Hint: "GET /faults lists those in force"}
}

// runs remembers in which run of a control a client's faults were put into force.
type runs struct {
	mu sync.Mutex
	of map[uint64]string // by id
}

func (r *runs) set(id uint64, run string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[uint64]string{}
	}
	r.of[id] = run
}

// get is empty for a fault that somebody else put into force.
func (r *runs) get(id uint64) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.of[id]
}
