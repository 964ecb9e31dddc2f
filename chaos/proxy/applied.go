package proxy

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// effect is one fault at work: a filter, a starter, a joiner, or several of them.
type effect any

// starter is an effect that acts at once, on the connections open when the fault is applied.
type starter interface {
	start(a *applied, conns []*conn)
}

// joiner is an effect that changes whole connections for as long as the fault lasts: those open when it is
// applied, those that come later, and those that tell the name it asks for. join may be called more than
// once for a connection and does nothing when a is over.
type joiner interface {
	join(a *applied, c *conn)
	leave(a *applied, c *conn)
}

// directed is a filter whose parameters choose the direction it judges.
type directed interface {
	direction() Direction
}

// stopper is an effect with more to undo than its filter and joiner.
type stopper interface {
	stop(a *applied)
}

// applied is a fault in force.
type applied struct {
	p      *Proxy
	id     uint64
	entry  *Entry
	fault  Fault
	text   string // the fault as it prints
	since  time.Time
	effect effect
	over   atomic.Bool
	begun  bool   // it was put into force, at most once; guarded by p.mu
	latest uint64 // the number of the latest connection when it was applied
	undo   func()
	timer  *time.Timer // ends it after its own duration; guarded by p.mu
}

func (a *applied) join(c *conn) {
	if j, ok := a.effect.(joiner); ok {
		j.join(a, c)
	}
}

// Apply puts a fault into force. From its return on the fault acts on every frame and connection it
// matches. undo ends it, as do the fault's own duration, Reset and Close; calling it again is harmless.
// Errors are *FaultError for a fault that is not in order, and ErrClosed.
func (p *Proxy) Apply(f Fault) (undo func(), err error) {
	prepared, err := p.Prepare(f)
	if err != nil {
		return nil, err
	}
	return prepared.Apply()
}

// Prepared is a fault that has its id and does not act yet.
type Prepared struct{ a *applied }

// ID is the id of the fault in Faults and in its firings, from 1. No other fault of the proxy has it.
func (r *Prepared) ID() uint64 { return r.a.id }

// Prepare checks a fault and gives it its id, for who has to know that before the first firing. It does nothing
// else: one that is never applied only leaves out a number. Errors are *FaultError.
func (p *Proxy) Prepare(f Fault) (*Prepared, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	e := entryNamed(f.Name)
	args, err := e.arguments(f)
	if err != nil {
		return nil, err
	}
	a := &applied{p: p, entry: e, fault: f.clone(), text: f.String()}
	if a.effect, err = e.build(args); err != nil {
		return nil, err
	}
	a.undo = sync.OnceFunc(func() { p.end(a) })
	a.id = p.faults.Add(1)
	return &Prepared{a}, nil
}

// Apply puts the fault into force as Proxy.Apply does, once. Errors are ErrClosed, and one for a second time.
func (r *Prepared) Apply() (undo func(), err error) {
	a, p := r.a, r.a.p
	p.mu.Lock()
	if a.begun {
		p.mu.Unlock()
		return nil, fmt.Errorf("%s: apply %s: it was applied before: prepare another", p.options.Name, a.text)
	}
	if p.closed {
		p.mu.Unlock()
		return nil, fmt.Errorf("%s: apply %s: %w", p.options.Name, a.text, ErrClosed)
	}
	a.begun = true
	a.since = time.Now()
	a.latest = p.accepted.Load()
	conns := p.snapshotLocked()
	p.applied = append(p.applied, a)
	if a.fault.For > 0 {
		a.timer = time.AfterFunc(a.fault.For, a.undo)
	}
	p.setFiltersLocked()
	p.mu.Unlock()

	if s, ok := a.effect.(starter); ok {
		s.start(a, conns)
	}
	for _, c := range conns {
		a.join(c)
	}
	if a.entry.Once {
		a.undo()
	}
	return a.undo, nil
}

// setFiltersLocked publishes the filters of each direction to the flows; without one a flow asks nobody.
func (p *Proxy) setFiltersLocked() {
	var lists [2][]*applied
	for _, a := range p.applied {
		if _, ok := a.effect.(filter); ok {
			way := a.entry.direction
			if d, ok := a.effect.(directed); ok {
				way = d.direction()
			}
			lists[way] = append(lists[way], a)
		}
	}
	for d := range lists {
		if len(lists[d]) == 0 {
			p.filters[d].Store(nil)
			continue
		}
		p.filters[d].Store(&lists[d])
	}
}

// end takes a fault out of force and lets go what it held.
func (p *Proxy) end(a *applied) {
	a.over.Store(true)
	p.mu.Lock()
	if a.timer != nil {
		a.timer.Stop()
	}
	p.applied = slices.DeleteFunc(p.applied, func(b *applied) bool { return a == b })
	p.setFiltersLocked()
	conns := p.snapshotLocked()
	p.mu.Unlock()
	j, joins := a.effect.(joiner)
	_, holds := a.effect.(expirer)
	for _, c := range conns {
		if joins {
			j.leave(a, c)
		}
		if holds {
			c.up.poke()
			c.down.poke()
		}
	}
	if s, ok := a.effect.(stopper); ok {
		s.stop(a)
	}
}

// InForce is one fault that was applied and is not over.
type InForce struct {
	ID    uint64    `json:"id"` // as in its firings
	Fault Fault     `json:"fault"`
	Since time.Time `json:"since"`
}

// Faults returns what is in force, in the order it was applied.
func (p *Proxy) Faults() []InForce {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []InForce
	for _, a := range p.applied {
		out = append(out, InForce{ID: a.id, Fault: a.fault.clone(), Since: a.since})
	}
	return out
}

// Reset undoes every fault.
func (p *Proxy) Reset() {
	p.mu.Lock()
	inForce := slices.Clone(p.applied)
	p.mu.Unlock()
	for _, a := range inForce {
		a.undo()
	}
}
