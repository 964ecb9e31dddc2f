package chaos

import (
	"context"
	"sync"
	"time"

	"github.com/an-open-reader/nats-reader/reader"
)

// Measure says what the figures of a verdict were measured against.
type Measure string

// The measures.
const (
	// ByIDs: every id a publisher of ours got acknowledged must be read once, in order.
	ByIDs Measure = "publisher ids"
	// BySequences: consumer and stream sequences of what was read must have no holes
	// but those that were told.
	BySequences Measure = "sequences"
	// ByNothing: a durable that others may read too, on a stream of others: a hole
	// or a repetition says nothing.
	ByNothing Measure = "nothing"
)

// Rules are what the oracle judges by.
type Rules struct {
	Measure Measure
	// Filtered: the reader does not read the whole stream, so that a hole in the
	// stream's sequences says nothing.
	Filtered bool
	// AtLeastOnce: a durable. It may redeliver, and others may read it too.
	AtLeastOnce bool
	// Deafness is how long a reader may be deaf beyond the length of the faults
	// that act meanwhile.
	Deafness time.Duration
}

// DeafnessLimit is the contract's allowance: detection twice, and two recoveries.
func DeafnessLimit(heartbeat, attemptTimeout, longestPause time.Duration) time.Duration {
	return 2*heartbeat + 2*(attemptTimeout+longestPause)
}

// Delivery is one message as the reader's caller saw it.
type Delivery struct {
	ID               string // the payload; empty where no ids are judged
	Sequence         uint64
	ConsumerSequence uint64
	Session          int
	Time             time.Time
}

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

// NewOracle makes an oracle that has seen nothing.
func NewOracle(rules Rules) *Oracle {
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
		o.foreign++
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
