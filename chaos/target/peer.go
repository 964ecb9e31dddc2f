package target

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// kind is how one of nats.go's readers reads.
type kind struct {
	// read reads until ctx ends, with nil, or until the reader has ended by itself.
	read func(ctx context.Context, p *reading) error
	acks bool // unless its parameter durable says false
}

// peer is a reader of nats.go.
type peer struct {
	kind
	name     string
	settings settings
}

func (p *peer) Name() string { return p.name }

func (p *peer) Traits() Traits {
	durable := p.durable()
	return Traits{Durable: durable, Lossy: p.acks && !durable}
}

func (p *peer) durable() bool { return p.acks && p.settings.flag("durable") }

// Read connects, reads, and leaves nothing.
func (p *peer) Read(ctx context.Context, in Input) error {
	r := newReading(in, p)
	if err := r.connect(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	work, over := context.WithCancel(ctx)
	defer over()
	err := p.kind.read(work, r)
	ended := ctx.Err() != nil
	over() // whatever the caller does with a message ends with the reader
	r.end()
	if ended {
		return nil
	}
	return err
}

// reading is one run of a peer.
type reading struct {
	peer *peer
	in   Input
	gate *gate
	*reports

	nc *nats.Conn
	js jetstream.JetStream

	durable string // the durable's name; "": none
	own     bool   // it was named here, and is deleted at the end

	stops []func()      // what ends the reader, in order; they may block
	loop  chan struct{} // closed at the end of the reader's loop; nil: it has none

	ending atomic.Bool // what the connection tells from now on is our own doing

	mu   sync.Mutex
	last error // the newest that the reader or the connection told
}

func newReading(in Input, p *peer) *reading {
	g := newGate()
	r := &reading{peer: p, in: in, gate: g, reports: newReports(in.Report, g)}
	if p.durable() {
		r.durable = in.Durable
		if r.durable == "" {
			r.durable, r.own = "nats-reader-chaos-"+nuid.Next(), true
		}
	}
	return r
}

// connect makes the target's own connection, with the defaults of nats.go.
func (r *reading) connect(ctx context.Context) (err error) {
	r.nc, err = r.in.Connect(ctx, nats.Name("nats-reader chaos "+r.peer.settings.entry.Name),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { r.failed(err) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil && !r.ending.Load() {
				r.say("disconnected: %v", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { r.say("reconnected") }),
		nats.ClosedHandler(func(*nats.Conn) {
			if !r.ending.Load() {
				r.say("the connection is closed for good")
			}
		}))
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	r.js, err = r.in.jetStream(r.nc)
	return err
}

// failed is an error that the reader or its connection told and goes on after.
func (r *reading) failed(err error) {
	r.mu.Lock()
	r.last = err
	r.mu.Unlock()
	r.say("%v", err)
}

// gaveUp is the error of a reader that ended by itself and named none. That its
// connection is closed for good may be told later than the reader's end.
func (r *reading) gaveUp() error {
	if r.nc.IsClosed() {
		return fmt.Errorf("it gave up: %w", nats.ErrConnectionClosed)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil {
		return errors.New("it gave up and told no error")
	}
	return fmt.Errorf("it gave up: %w", r.last)
}

// take hands a message to the target's caller, whose work takes as long as the pace
// says. It is false once reading is over: the message was not handed out.
func (r *reading) take(ctx context.Context, payload []byte, sequence, consumerSequence uint64) bool {
	if ctx.Err() != nil || !r.gate.enter() {
		return false
	}
	defer r.gate.leave()
	r.in.Read(delivery(payload, sequence, consumerSequence))
	r.in.Pace.Wait(ctx)
	return true
}

// handle is take for a message of the jetstream package, and the ack.
func (r *reading) handle(ctx context.Context, m jetstream.Msg) {
	var sequence, consumerSequence uint64
	if meta, err := m.Metadata(); err == nil {
		sequence, consumerSequence = meta.Sequence.Stream, meta.Sequence.Consumer
	}
	if r.take(ctx, m.Data(), sequence, consumerSequence) && r.durable != "" {
		if err := m.Ack(); err != nil {
			r.failed(fmt.Errorf("ack: %w", err))
		}
	}
}

// run is the reader's loop on a goroutine of its own, which may block in nats.go. It
// returns what the loop says, or nil when ctx ends.
func (r *reading) run(ctx context.Context, loop func() error) error {
	r.in.ready()
	r.loop = make(chan struct{})
	said := make(chan error, 1)
	lettingGo.Go(func() {
		defer close(r.loop)
		said <- loop()
	})
	select {
	case err := <-said:
		return err
	case <-ctx.Done():
		return nil
	}
}

// connectionClosed: nats.go has two errors for the same.
func connectionClosed(err error) bool {
	return errors.Is(err, nats.ErrConnectionClosed) || errors.Is(err, jetstream.ErrConnectionClosed)
}

// retryPause paces a loop whose last call brought nothing.
const retryPause = 50 * time.Millisecond

// pause waits before the next try, and says whether ctx goes on.
func pause(ctx context.Context) bool {
	t := time.NewTimer(retryPause)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
