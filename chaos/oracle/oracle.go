package oracle

import (
	"context"
	"sync"
	"time"

	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

// Oracle collects what was published, read, told and made to fail, and judges it.
// Its methods are safe for concurrent use; times come from the caller.
type Oracle struct {
	rules Rules

	mu           sync.Mutex
	writers      map[string]*writer
	attempted    uint64
	acknowledged uint64
	unsettled    uint64 // acknowledged and not read
	accounted    uint64 // of them explained, when it was last looked
	looked       int    // what was told by then
	delivered    uint64
	duplicated   uint64
	disordered   uint64
	unexpected   uint64
	unknownRead  uint64 // read, and not acknowledged so far
	heights      heights
	order        order
	quiet        quiet
	series       series
	runs         []run
	events       eventFacts
	requests     requests // told by the server's side
	ownRequests  requests // told by the reader's events
	consumers    int
	position     uint64
	samples      samples
	changed      chan struct{} // holds a value when something came in since the last look
}

// New makes an oracle that has seen nothing.
func New(rules Rules) *Oracle {
	if rules.Deafness == 0 {
		rules.Deafness = DefaultDeafness()
	}
	if rules.AckWait == 0 {
		rules.AckWait = DefaultAckWait
	}
	return &Oracle{rules: rules, writers: map[string]*writer{}, samples: samples{}, changed: make(chan struct{}, 1)}
}

// Ready tells that reading has begun: what is stored by then waits from then on.
func (o *Oracle) Ready(at time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.quiet.ready = nanos(at)
}

// Attempted tells that an id is to be published, before it is, each time.
func (o *Oracle) Attempted(id string, at time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	name, n, ok := splitID(id)
	if !ok {
		return
	}
	w := o.writers[name]
	if w == nil {
		w = &writer{name: name}
		o.writers[name] = w
	}
	switch r, forgotten := w.store.at(n); {
	case forgotten:
	case r.attempted == 0:
		o.attempted++
		w.latest = max(w.latest, n)
		r.attempted = nanos(at)
		w.store.put(n, r)
	default:
		w.copies.attempted(n)
	}
}

// Deduplicated tells that the last attempt to publish an id stored nothing, since the server had it.
func (o *Oracle) Deduplicated(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	name, n, ok := splitID(id)
	if w := o.writers[name]; ok && w != nil {
		w.copies.deduplicated(n)
	}
}

// Acknowledged tells that the server stored an id under a stream sequence.
func (o *Oracle) Acknowledged(id string, sequence uint64, at time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	name, n, ok := splitID(id)
	w := o.writers[name]
	if !ok || w == nil {
		return // it was never attempted
	}
	r, forgotten := w.store.at(n)
	if forgotten || r.attempted == 0 || r.acknowledged != 0 {
		return
	}
	o.acknowledged++
	r.acknowledged, r.sequence = nanos(at), sequence
	o.heights.acknowledged(r)
	o.series.at(r.acknowledged).published++
	if r.read {
		o.unknownRead--
		o.settle(r, 0)
	} else {
		o.unsettled++
	}
	w.store.put(n, r)
}

// settle notes that a message is acknowledged and read. passed is when a message behind it was read before it.
func (o *Oracle) settle(r record, passed int64) {
	o.series.at(max(r.acknowledged, r.readAt)).settled++
	for _, x := range o.waiting(r.acknowledged, passed, r.readAt) {
		o.quiet.wait(x.from, x.to)
	}
}

// waiting is when a message waits for the reader, from its acknowledgement until it is read or over. One that a
// durable has passed over is on its way, until the server sends it again.
func (o *Oracle) waiting(acknowledged, passed, until int64) (all []interval) {
	parts := []interval{{acknowledged, until}}
	if passed != 0 && o.rules.AtLeastOnce {
		parts = []interval{{acknowledged, min(passed, until)}, {max(acknowledged, passed+int64(o.rules.AckWait)), until}}
	}
	for _, x := range parts {
		if x.from < x.to {
			all = append(all, x)
		}
	}
	return all
}

// Event tells an event of the reader.
func (o *Oracle) Event(e reader.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.signal()
	o.events.add(e)
	switch e.Kind {
	case session.KindAPIRequest:
		o.ownRequests.add(e.Request, nanos(e.Time))
	case session.KindPaused:
		o.events.pausedSince(o.quiet.last, nanos(e.Time))
	default:
	}
}

// Request tells one JetStream API request of the target, as seen on the wire. Once one is told, those that a
// reader's events tell do not count.
func (o *Oracle) Request(kind string, at time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.requests.add(kind, nanos(at))
}

// Consumers tells how many consumers the target has on the server at the moment.
func (o *Oracle) Consumers(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.consumers = max(o.consumers, n)
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
	o.mu.Lock()
	o.looked = 0
	o.mu.Unlock()
	for o.outstanding(end) > 0 {
		select {
		case <-o.changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// outstanding is how many acknowledged ids were neither read nor explained. It looks through the records only
// where the answer may be none.
func (o *Oracle) outstanding(end Ending) uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.looked == len(o.events.told)+1 && o.unsettled > o.accounted {
		return o.unsettled - o.accounted
	}
	o.looked = len(o.events.told) + 1
	o.accounted = 0
	a := o.accounts(end)
	for _, w := range o.writers {
		for _, r := range w.store.all() {
			if at, _ := a.explains(r); r.waits() && at != 0 {
				o.accounted++
			}
		}
	}
	return o.unsettled - o.accounted
}

// Delivered is how many messages were read so far.
func (o *Oracle) Delivered() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.delivered
}

// Position is the stream sequence of the message that was read last; 0: none, or the target does not tell it.
func (o *Oracle) Position() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.position
}
