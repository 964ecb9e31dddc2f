package control

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// Options configure a Control. The zero value works.
type Options struct {
	Name    string // of the proxy, as GET /proxies lists it; default "proxy"
	Version string // as GET /version tells it
	Token   string // every request must bring it as "Authorization: Bearer TOKEN"; "" asks for none

	// OnChange is told when a fault is put into force and when it is over, in that order. It must be quick.
	OnChange func(Change)
}

// Change tells that a fault was put into force, or is over.
type Change struct {
	Time  time.Time
	Fault Fault
	Over  bool
}

// Fault is a fault that was put into force.
type Fault struct {
	ID    uint64    `json:"id"` // as in its firings
	Fault string    `json:"fault"`
	Since time.Time `json:"since"`
	Once  bool      `json:"once,omitempty"` // it has acted and is over
	For   string    `json:"for,omitempty"`  // how long it lasts; without: until it is taken out
	ForNS int64     `json:"for_ns,omitempty"`
}

// ErrNoSuchFault is returned for an id that no fault in force has.
var ErrNoSuchFault = errors.New("no such fault is in force")

// Control puts faults into force on one proxy; their ids are those of their firings. All methods are safe for concurrent use.
type Control struct {
	proxy   *proxy.Proxy
	options Options
	guard   guard
	run     string // of this Control, and of no other

	applying sync.Mutex // one Apply at a time: the order of ids is that of the list

	mu      sync.Mutex
	closed  bool
	inForce map[uint64]*held
	ending  sync.WaitGroup // ends by their own time
}

// held is a fault in force.
type held struct {
	fault Fault
	end   func() // ends it and tells so; harmless when called again
	timer *time.Timer
}

// New makes a control for a proxy. It does not own the proxy.
func New(p *proxy.Proxy, o Options) *Control {
	if o.Name == "" {
		o.Name = "proxy"
	}
	return &Control{proxy: p, options: o, guard: newGuard(o.Token), run: rand.Text(), inForce: map[uint64]*held{}}
}

// Apply puts a fault into force; one with a duration ends by itself. Errors are those of proxy.Apply.
func (c *Control) Apply(f proxy.Fault) (Fault, error) {
	c.applying.Lock()
	defer c.applying.Unlock()
	if err := f.Validate(); err != nil {
		return Fault{}, err
	}
	length := f.For
	f.For = 0 // ended here, so that its end can be told
	c.mu.Lock()
	closed := c.closed
	c.mu.Unlock()
	if closed {
		return Fault{}, fmt.Errorf("apply %s: %w", f, proxy.ErrClosed)
	}
	prepared, err := c.proxy.Prepare(f)
	if err != nil {
		return Fault{}, err
	}
	out := Fault{ID: prepared.ID(), Fault: f.String(), Since: time.Now().UTC(), Once: once(f.Name)}
	if length > 0 {
		out.For, out.ForNS = length.String(), int64(length)
	}
	// Told first: what the fault does may be told from within Apply.
	c.tell(Change{Time: out.Since, Fault: out})
	undo, err := prepared.Apply()
	if err != nil {
		c.tell(Change{Time: time.Now(), Fault: out, Over: true})
		return Fault{}, err
	}
	if !out.Once {
		c.hold(out, undo, length)
	}
	return out, nil
}

func (c *Control) hold(f Fault, undo func(), length time.Duration) {
	h := &held{fault: f}
	h.end = sync.OnceFunc(func() {
		undo()
		c.mu.Lock()
		delete(c.inForce, f.ID)
		c.mu.Unlock()
		c.tell(Change{Time: time.Now(), Fault: f, Over: true})
	})
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		h.end()
		return
	}
	c.inForce[f.ID] = h
	if length > 0 {
		c.ending.Add(1)
		h.timer = time.AfterFunc(length, func() {
			defer c.ending.Done()
			h.end()
		})
	}
	c.mu.Unlock()
}

// Undo takes a fault out of force; ErrNoSuchFault when it is over already.
func (c *Control) Undo(id uint64) (Fault, error) {
	c.mu.Lock()
	h := c.inForce[id]
	c.mu.Unlock()
	if h == nil {
		return Fault{}, fmt.Errorf("fault %d: %w", id, ErrNoSuchFault)
	}
	c.stop(h)
	return h.fault, nil
}

// stop ends a fault before its time.
func (c *Control) stop(h *held) {
	if h.timer != nil && h.timer.Stop() {
		c.ending.Done()
	}
	h.end()
}

// Faults lists what is in force, in the order it was put there.
func (c *Control) Faults() []Fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]Fault, 0, len(c.inForce))
	for _, h := range c.inForce {
		out = append(out, h.fault)
	}
	slices.SortFunc(out, func(a, b Fault) int { return int(a.ID) - int(b.ID) })
	return out
}

// Reset takes every fault out of force and says how many these were.
func (c *Control) Reset() int {
	c.mu.Lock()
	var all []*held
	for _, h := range c.inForce {
		all = append(all, h)
	}
	c.mu.Unlock()
	slices.SortFunc(all, func(a, b *held) int { return int(a.fault.ID) - int(b.fault.ID) })
	for _, h := range all {
		c.stop(h)
	}
	return len(all)
}

// Close takes every fault out of force and returns when that is done; later ones are refused with
// proxy.ErrClosed. The proxy goes on.
func (c *Control) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.Reset()
	c.ending.Wait()
}

func (c *Control) tell(change Change) {
	if c.options.OnChange != nil {
		c.options.OnChange(change)
	}
}

func once(name string) bool {
	for _, e := range proxy.Catalogue() {
		if e.Name == name {
			return e.Once
		}
	}
	return false
}
