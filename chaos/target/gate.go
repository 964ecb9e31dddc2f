package target

import "sync"

// gate lets callbacks through until it is shut, and then waits for those inside: so
// that nothing is told after Read has returned, whatever goroutine of a library is
// still at it.
type gate struct {
	mu     sync.Mutex
	shut   bool
	inside int
	empty  chan struct{} // closed when shut and nobody is inside
}

func newGate() *gate { return &gate{empty: make(chan struct{})} }

// enter says whether one may go on; then leave must follow.
func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut {
		return false
	}
	g.inside++
	return true
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	g.told()
}

// close shuts the gate and returns when nobody is inside.
func (g *gate) close() {
	g.mu.Lock()
	if !g.shut {
		g.shut = true
		g.told()
	}
	g.mu.Unlock()
	<-g.empty
}

func (g *gate) told() {
	if g.shut && g.inside == 0 {
		close(g.empty)
	}
}
