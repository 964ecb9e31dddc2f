package run

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/plan"
	"github.com/an-open-reader/nats-reader/chaos/target"
	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

// reading is the target at work.
type reading struct {
	ready chan struct{} // closed when it has begun
	first chan struct{} // closed when it has handed out a message
	over  chan struct{} // closed when Read has returned
	err   error         // of Read, once over
	stop  context.CancelFunc

	mu     sync.Mutex
	status func() reader.Status // of ours; nil: not open, or not ours
}

// read lets the target read until it is stopped. When it ends by itself the phases end.
func (r *run) read(ctx context.Context) *reading {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	t := &reading{ready: make(chan struct{}), first: make(chan struct{}), over: make(chan struct{}), stop: stop}
	in := r.input(t)
	go func() { // it is waited for in endReading, and no longer than it may take
		defer close(t.over)
		defer r.crew.catch("target " + r.target.Name())
		err := r.target.Read(ctx, in)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			err = errors.New("it stopped reading, and gave no error")
		}
		t.err = err
		r.cancel(&targetEnded{err, time.Now()})
	}()
	return t
}

// input is what the target is given. A panic in what it calls ends the run.
func (r *run) input(t *reading) target.Input {
	begun := sync.OnceFunc(func() { r.oracle.Ready(time.Now()) })
	ready := sync.OnceFunc(func() {
		if !r.traits.Process { // a program has to start and to connect first: it has begun with its first message
			begun()
		}
		close(t.ready)
	})
	first := sync.OnceFunc(func() { close(t.first) })
	in := target.Input{
		URL: r.stage.url, Stream: r.stage.stream, Durable: r.plan.Target.Durable, Config: readerConfig(r.plan.Target), Seed: r.plan.Seed,
		Connect: r.stage.connectTarget, Pace: &r.pace, Stderr: r.options.Stderr,
		Ready: ready,
		Read: func(d oracle.Delivery) {
			defer r.crew.catch("the judge of a message")
			begun()
			r.ledger.delivered(d)
			if d.Sequence > 0 {
				r.moments.reached(plan.Sequence, d.Sequence)
			}
			first()
		},
		Event: func(e reader.Event) {
			defer r.crew.catch("the judge of an event")
			r.event(e)
		},
		Opened: func(status func() reader.Status) {
			t.mu.Lock()
			t.status = status
			t.mu.Unlock()
			if r.options.Opened != nil {
				defer r.crew.catch("the news of an open reader")
				r.options.Opened(status)
			}
		},
		Report: func(m target.Report) { r.report(m) },
	}
	if api := r.stage.manage.Options(); r.stage.foreign != nil {
		in.APIPrefix, in.Domain = api.APIPrefix, api.Domain
	}
	for _, n := range r.plan.Target.Subjects {
		in.Subjects = append(in.Subjects, r.stage.subjects[n-1])
	}
	return in
}

// event is told an event of our reader.
func (r *run) event(e reader.Event) {
	r.oracle.Event(e)
	r.record.event(e)
	switch e.Kind {
	case session.KindSessionOpened, session.KindSessionReplaced:
		r.moments.reached(plan.Session, uint64(max(e.Session, 0)))
	default:
	}
	r.tell(Progress{Time: e.Time, Event: &e})
}

// statusNow is what faults must know of the target: the consumer that it uses, and how
// far it is. Of one that is not ours the wire tells.
func (r *run) statusNow() reader.Status {
	r.reading.mu.Lock()
	status := r.reading.status
	r.reading.mu.Unlock()
	if status != nil {
		return status()
	}
	return reader.Status{
		Stream: r.stage.stream, Session: reader.SessionStatus{Consumer: r.wire.inUse()},
		Cursor: r.oracle.Position(), Position: r.oracle.Position(),
	}
}

// Bounds of the end of a target: what it does with its server, and what nats.go does
// behind it.
const (
	stopLimit   = 20 * time.Second
	settleLimit = 15 * time.Second
)

// endReading stops the target and waits for its end.
func (r *run) endReading() {
	if r.reading == nil {
		return
	}
	r.reading.stop()
	if err := await(context.Background(), r.reading.over, stopLimit); err != nil {
		r.fail(errors.New("the target did not end within " + stopLimit.String() + " of being told to"))
		return
	}
	settling, cancel := context.WithTimeout(context.Background(), settleLimit)
	defer cancel()
	if err := target.Settle(settling); err != nil {
		r.note("nats.go has not let go of everything within %s", settleLimit)
	}
}
