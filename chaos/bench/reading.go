package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// reading is one contestant that reads a stream once.
type reading struct {
	tally
	work
	stream   string
	subject  string
	pulls    Pulls
	batch    int
	metadata bool
	patience time.Duration // how long it may take to close, and to let go when it was stopped

	nc     *nats.Conn
	js     jetstream.JetStream
	legacy nats.JetStreamContext
	wire   *wire

	close func(context.Context) error // the reader; nil: there is none

	mu   sync.Mutex
	said []string // what the reader and its connection told, each once
	last error
}

// mostSaid bounds what is kept of what a reader tells.
const mostSaid = 5

// told keeps what a reader, or its connection, says and goes on after.
func (r *reading) told(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = err
	if text := err.Error(); len(r.said) < mostSaid && !slices.Contains(r.said, text) {
		r.said = append(r.said, text)
	}
}

// gaveUp is the error of a reader that ended by itself.
func (r *reading) gaveUp() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil {
		return errEnded
	}
	return fmt.Errorf("%w: %w", errEnded, r.last)
}

// closeLimit is the patience with a reader that is to end.
const closeLimit = 5 * time.Second

// ErrStuck marks a reading that did not come to its last message in time.
var ErrStuck = errors.New("it did not come to the last message")

// errNotStopped: a reader goes on, whatever is done to it. What it has counted cannot be known.
var errNotStopped = errors.New("and it cannot be stopped")

// run reads, and measures. The error says why there is no figure.
func (r *reading) run(ctx context.Context, c *Contestant, limit time.Duration, server func() (time.Duration, bool)) (Reading, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// No deadline in the context: some readers would ask the server for less because of it.
	defer time.AfterFunc(limit, func() { cancel(fmt.Errorf("%w within %s", ErrStuck, limit)) }).Stop()
	done := make(chan error, 1)
	m := startMeter(server, r.wire)
	go func() { done <- c.read(ctx, r) }()
	err := r.await(ctx, done)
	if errors.Is(err, errNotStopped) {
		return Reading{}, err
	}
	out := m.stop(r.read)
	out.Lost, out.Again, out.Odd = r.lost, r.again, r.odd
	out.Reconnects = r.nc.Stats().Reconnects
	r.mu.Lock()
	out.Said = slices.Clone(r.said)
	r.mu.Unlock()
	if err != nil {
		return out, fmt.Errorf("%w (read %d of %d)", err, r.read, r.tally.last)
	}
	return out, nil
}

// await waits for the end of a reading, also of one that does not want to end.
func (r *reading) await(ctx context.Context, done <-chan error) error {
	select {
	case err := <-done:
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	case <-ctx.Done():
	}
	limit := time.NewTimer(r.patience)
	defer limit.Stop()
	select {
	case <-done:
		return context.Cause(ctx)
	case <-limit.C:
	}
	r.nc.Close()
	limit.Reset(r.patience)
	select {
	case <-done:
		return context.Cause(ctx)
	case <-limit.C:
		return fmt.Errorf("%w, %w", context.Cause(ctx), errNotStopped)
	}
}

// end closes the reader and its connection.
func (r *reading) end(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.patience)
	defer cancel()
	var err error
	if r.close != nil {
		if err = r.close(ctx); err != nil {
			err = fmt.Errorf("close: %w", err)
		}
	}
	r.nc.Close()
	return err
}
