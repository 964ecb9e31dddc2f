package oracle

import (
	"context"
	"sync"
	"time"

	"github.com/an-open-reader/nats-reader/reader"
)

// Oracle collects what was published, read, told and made to fail, and judges it.
// Its methods are safe for concurrent use; times come from the caller.
type Oracle struct {
	rules Rules

	mu        sync.Mutex
	writers   map[string]*writer
	foreign   uint64 // messages that are no publisher's of ours
	delivered uint64
	lastRead  time.Time
	runs      []run
	events    eventFacts
	changed   chan struct{} // holds a value when something came in since the last look
}

// New makes an oracle that has seen nothing.
func New(rules Rules) *Oracle {
	if rules.Deafness == 0 {
		rules.Deafness = DefaultDeafness()
	}
	return &Oracle{rules: rules, writers: map[string]*writer{}, changed: make(chan struct{}, 1)}
}

// Attempted tells that an id is published for the first time.
func (o *Oracle) Attempted(id string, at time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if name, n, ok := splitID(id); ok {
		if p := o.writer(name).at(n); p != nil {
			p.attempted = at
		}
	}
}

// Acknowledged tells that the server stored an id under a stream sequence.
func (o *Oracle) Acknowledged(id string, sequence uint64, at time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if name, n, ok := splitID(id); ok {
		w := o.writer(name)
		if p := w.at(n); p != nil {
			p.acknowledged, p.sequence = at, sequence
		}
		w.forget(o.rules.Deafness)
	}
}

// Read tells one message that the reader handed out.
func (o *Oracle) Read(d Delivery) {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.signal()
	o.delivered++
	o.lastRead = d.Time
	o.runs = extend(o.runs, d)
	if o.rules.Measure != ByIDs {
		return
	}
	name, n, ok := splitID(d.ID)
	if !ok {
		o.foreign++ // nobody published it, unless others do
		return
	}
	o.writer(name).read(n, d)
}

// Event tells an event of the reader.
func (o *Oracle) Event(e reader.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.signal()
	o.events.add(e)
}

// signal wakes AwaitRead; it never waits.
func (o *Oracle) signal() {
	select {
	case o.changed <- struct{}{}:
	default:
	}
}

// AwaitRead waits until every acknowledged id was read, or is accounted for by
// what the reader told or the periods of destructive faults; at most until ctx
// ends. One goroutine may wait at a time.
func (o *Oracle) AwaitRead(ctx context.Context, end Ending) error {
	for o.outstanding(end) > 0 {
		select {
		case <-o.changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (o *Oracle) outstanding(end Ending) (n uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	destroyed := o.destructions(end)
	for _, w := range o.writers {
		lost, _ := w.lost(o.events.told, destroyed)
		n += lost
	}
	return n
}

// Delivered is how many messages were read so far.
func (o *Oracle) Delivered() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.delivered
}

func (o *Oracle) writer(name string) *writer {
	w := o.writers[name]
	if w == nil {
		w = &writer{}
		o.writers[name] = w
	}
	return w
}
