package reader

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader/session"
)

// openTimeout bounds an Open whose ctx has no deadline.
const openTimeout = 5 * time.Second

// Open makes a reader and returns it once its first session is proven: the server
// answered its first pull. What heals by itself (no quorum, time-outs, consumer
// limits) is retried until ctx ends, without a deadline for 5s, and then returned
// as the last cause; a missing stream (unless Config.WaitForStream), a missing
// permission, an account without JetStream and a configuration that cannot work
// are returned at once, typed. On an error nothing is left on the server, as far
// as it can be reached.
func Open(ctx context.Context, js jetstream.JetStream, cfg Config) (*Reader, error) {
	full, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	if p := full.Start.position; full.Start.kind == startPosition && full.Stream == "" && p.Stream != "" {
		full.Stream = p.Stream
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open reader: %w", err)
	}
	if js.Conn().IsClosed() {
		return nil, fmt.Errorf("open reader: %w", ErrConnectionClosed)
	}
	if _, ok := ctx.Deadline(); !ok && !full.WaitForStream {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, openTimeout)
		defer cancel()
	}
	r := newReader(js, full)
	r.begin()
	select {
	case err := <-r.opened:
		if err != nil {
			r.leave(ctx)
			return nil, err
		}
		return r, nil
	case <-ctx.Done():
	}
	r.input(func(m *session.Machine, now time.Duration) { m.OpenTimedOut(now, context.Cause(ctx)) })
	err = <-r.opened
	if err == nil {
		// The proof came together with the end of ctx.
		return r, nil
	}
	r.leave(ctx)
	return nil, err
}

// begin attaches the reader to its connection and starts the rules, on the one
// goroutine that calls nats.go.
func (r *Reader) begin() {
	r.mu.Lock()
	r.enqueue(job{run: func() {
		l := attach(r)
		connected := r.nc.IsConnected()
		r.mu.Lock()
		r.link = l
		if !connected {
			r.rules.Disconnected(r.now())
		}
		r.rules.Start(r.now())
		r.follow()
		r.mu.Unlock()
		// The connection may have come back between the look and the start.
		if !connected && r.nc.IsConnected() {
			r.input(func(m *session.Machine, now time.Duration) { m.Reconnected(now) })
		}
	}})
	r.mu.Unlock()
}

// leave waits until a reader that could not be opened is cleaned up, at most one
// request's time.
func (r *Reader) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.cfg.Retry.AttemptTimeout)
	defer cancel()
	_ = r.Close(ctx) // what is left lapses by itself; the caller gets why Open ended
}
