package target

import (
	"context"
	"sync"
	"time"
)

// Times of the end of a reader of nats.go.
const (
	stopWait   = 2 * time.Second // for it to stop as its documentation says
	deleteWait = time.Second     // for its durable to be deleted
)

// lettingGo are the goroutines that may wait for nats.go after Read has returned.
var lettingGo crowd

// crowd counts goroutines, so that one can wait for the end of all.
type crowd struct {
	mu      sync.Mutex
	running int
	none    chan struct{} // closed when the last one has ended
}

// Go runs f on a goroutine of its own.
func (c *crowd) Go(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == 0 {
		c.none = make(chan struct{})
	}
	c.running++
	go func() {
		defer c.ended()
		f()
	}()
}

func (c *crowd) ended() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running--; c.running == 0 {
		close(c.none)
	}
}

// wait waits until none is left, or ctx ends.
func (c *crowd) wait(ctx context.Context) error {
	c.mu.Lock()
	running, none := c.running, c.none
	c.mu.Unlock()
	if running == 0 {
		return nil
	}
	select {
	case <-none:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Settle waits until nats.go has let go of everything that a Read of this process has
// left behind it: at most some ten seconds. A program that only reads need not care.
func Settle(ctx context.Context) error { return lettingGo.wait(ctx) }

// end stops the reader, and returns soon. Stopping may block (an ordered consumer's
// Stop waits for its reset, a closing connection for its flusher): the connection is
// then closed behind it, and a goroutine waits for the rest.
func (r *reading) end() {
	r.ending.Store(true)
	stopped := make(chan struct{})
	lettingGo.Go(func() {
		defer close(stopped)
		for _, stop := range r.stops {
			stop()
		}
		r.deleteDurable()
		r.nc.Close()
		if r.loop != nil {
			<-r.loop
		}
	})
	limit := time.NewTimer(stopWait)
	defer limit.Stop()
	select {
	case <-stopped:
	case <-limit.C:
		r.say("nats.go has not stopped within %s: its connection is closed", stopWait)
		lettingGo.Go(r.nc.Close)
	}
	r.reports.end()
	r.gate.close()
}

// deleteDurable leaves no durable of a name that nobody gave.
func (r *reading) deleteDurable() {
	if !r.own {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), deleteWait)
	defer cancel()
	if err := r.js.DeleteConsumer(ctx, r.in.Stream, r.durable); err != nil && !gone(err) {
		r.say("its durable %s is left on the server: %v", r.durable, err)
	}
}
