package reader_test

import (
	"context"
	"errors"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
)

// trial is a reader under a fault, a publisher that goes on through it, and what
// both did when.
type trial struct {
	*bed
	l       lengths
	r       *reader.Reader
	durable bool
	dialer  *byway
	due     chan struct{} // closed when it is time for the fault

	start, end time.Time // of the fault
	resumed    time.Time // the publisher, after a quiet time that belongs to the fault
	refusal    time.Duration
	opening    uint64 // API requests of Open

	turn sync.Mutex // held while a message is published
	next int        // the next payload, under turn

	mu        sync.Mutex
	stored    []storing // by payload, from 1
	read      []reading
	different map[int]bool // payloads read
}

type storing struct {
	sequence uint64
	at       time.Time
}

type reading struct {
	payload int
	stored  time.Time // by the server, as the message says
	at      time.Time
}

// byway dials the first way until it is diverted.
type byway struct {
	first, second nats.CustomDialer
	diverted      atomic.Bool
}

func (b *byway) divert() { b.diverted.Store(true) }

// Dial connects; it is what nats.go calls.
func (b *byway) Dial(network, address string) (net.Conn, error) {
	if b.diverted.Load() {
		return b.second.Dial(network, address)
	}
	return b.first.Dial(network, address)
}

// lasts is the length of a fault.
func (x *trial) lasts(d time.Duration) {
	x.Helper()
	over := time.NewTimer(d)
	defer over.Stop()
	select {
	case <-over.C:
	case <-x.ctx.Done():
		x.Fatal("the test's own time is over")
	}
}

// publishing publishes at its pace while do goes on, and returns when both are
// done. Whatever the server does not acknowledge is published again under the
// same id.
func (x *trial) publishing(do func()) {
	x.Helper()
	x.beside(func(ctx context.Context) error {
		pace := time.NewTicker(x.l.pace)
		defer pace.Stop()
		due := sync.OnceFunc(func() { close(x.due) })
		for more := true; more; {
			select {
			case <-pace.C:
			case <-ctx.Done():
				return ctx.Err()
			}
			var err error
			x.turn.Lock()
			if more = x.next <= x.l.before+x.l.after; more {
				err = x.publishNext(ctx)
			}
			if x.next > x.l.before {
				due()
			}
			x.turn.Unlock()
			if err != nil {
				return err
			}
		}
		return nil
	}, do)
}

// reading reads while do goes on, until everything that was stored is read.
func (x *trial) reading(do func()) {
	x.Helper()
	x.beside(func(ctx context.Context) error {
		for {
			m, err := x.r.Next(ctx)
			if errors.Is(err, context.DeadlineExceeded) {
				return nil // what is not there now is lost
			}
			if err != nil {
				return err
			}
			n, err := strconv.Atoi(string(m.Data))
			if err != nil {
				return err
			}
			if x.durable {
				_ = m.Ack() // what does not arrive brings the message again
			}
			x.mu.Lock()
			x.read = append(x.read, reading{n, m.Timestamp, time.Now()})
			x.different[n] = true
			x.mu.Unlock()
			x.nudge()
			if x.readSoFar() == x.l.before+x.l.after {
				return nil
			}
		}
	}, do)
}

// beside runs work while do goes on and waits for both.
func (x *trial) beside(work func(context.Context) error, do func()) {
	x.Helper()
	ctx, cancel := context.WithTimeout(x.ctx, x.patience())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- work(ctx) }()
	ended := false
	defer func() {
		if !ended { // do ended the test
			cancel()
			<-done
		}
	}()
	do()
	err := <-done
	ended = true
	if err != nil {
		x.Fatalf("%v, %d read\n%s", err, x.readSoFar(), x.story())
	}
}

// patience is the load's own time, twice, and what a fault may cost at most.
func (x *trial) patience() time.Duration {
	return 2*time.Duration(x.l.before+x.l.after)*x.l.pace + x.l.api + x.l.quiet + x.l.down + x.l.denied + patience
}

// readSoFar is how many different messages were read.
func (x *trial) readSoFar() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.different)
}

// publishNext stores the next message, however often it takes. The caller has the turn.
func (x *trial) publishNext(ctx context.Context) error {
	payload := strconv.Itoa(x.next)
	x.next++
	for {
		try, cancel := context.WithTimeout(ctx, time.Second)
		m := nats.NewMsg("orders.new")
		m.Data = []byte(payload)
		ack, err := x.admin.PublishMsg(try, m, jetstream.WithMsgID(payload), jetstream.WithRetryAttempts(0))
		cancel()
		if err == nil {
			x.mu.Lock()
			x.stored = append(x.stored, storing{ack.Sequence, time.Now()})
			x.mu.Unlock()
			x.nudge()
			return nil
		}
		again := time.NewTimer(x.l.pace)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return errors.Join(ctx.Err(), err)
		}
	}
}

// hold stops the publisher between two messages.
func (x *trial) hold() (release func()) {
	x.turn.Lock()
	return x.turn.Unlock
}

// readAll waits until everything that is stored was read. The caller holds the publisher.
func (x *trial) readAll() {
	x.Helper()
	x.eventually("all that is stored was read", func() bool { return x.readSoFar() == x.next-1 })
}

// judge compares what was read with what was stored.
func (x *trial) judge() (o outcome) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.r.Status()
	o.refusal, o.requests, o.sessions, o.twice = x.refusal, requests(x.r)-x.opening, s.Session.Number, s.Buffered
	first := map[int]time.Time{}
	highest, last := 0, time.Time{}
	for _, r := range x.read {
		// A killed server may forget what it had acknowledged, or delivered without
		// an acknowledgement: the same payload stored again is another message.
		if before, again := first[r.payload]; again && before.Equal(r.stored) {
			o.twice++
		} else if r.payload < highest && !again {
			o.disordered++
		}
		first[r.payload] = r.stored
		highest = max(highest, r.payload)
		if from := latest(last, x.start); r.at.After(x.start) && !(from.Before(x.resumed) && r.at.After(x.resumed)) {
			o.whole = max(o.whole, r.at.Sub(from))
		}
		if r.at.After(x.end) { // silent is who has something to read
			o.after = max(o.after, r.at.Sub(latest(last, x.end, x.stored[r.payload-1].at)))
		}
		last = r.at
	}
	for i := range x.stored {
		if !x.different[i+1] && x.holds(i+1) {
			o.lost++
		}
	}
	return o
}

// holds says whether the server still has a message that it had acknowledged.
func (x *trial) holds(payload int) bool {
	s, err := x.admin.Stream(x.ctx, x.stream)
	x.must(err)
	m, err := s.GetMsg(x.ctx, x.stored[payload-1].sequence)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return false
	}
	x.must(err)
	return string(m.Data) == strconv.Itoa(payload)
}

func latest(times ...time.Time) (t time.Time) {
	for _, o := range times {
		if o.After(t) {
			t = o
		}
	}
	return t
}
