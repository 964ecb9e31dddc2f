package reader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/an-open-reader/nats-reader/reader/session"
)

// Close ends the reader: every waiting call returns ErrClosed at once, buffered
// messages are forgotten (a durable's are given back), and the consumer and the
// subscription are removed. It returns nil when that is done, or an error that
// says what is left. When ctx ends first it returns ctx's error at once and the
// clean-up goes on for one AttemptTimeout more; without a deadline the clean-up
// takes two AttemptTimeouts at most. A second Close waits for the first one's
// clean-up.
func (r *Reader) Close(ctx context.Context) error {
	r.closed.Store(true)
	r.input(func(m *session.Machine, now time.Duration) { m.Close(now, now+r.cleanup(ctx)) })
	// Behind the unsubscribe: a message given back earlier would be sent again to
	// a pull of ours that still waits.
	r.forgetBuffer()
	if _, ok := ctx.Deadline(); !ok {
		// nats.go can block for a minute behind a frozen server: the worker may be
		// waiting for it, the caller does not.
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.cleanup(ctx)+r.cfg.Retry.AttemptTimeout)
		defer cancel()
	}
	if ctx.Err() == nil {
		select {
		case <-r.settled:
			return r.leftBehind()
		case <-ctx.Done():
		}
	}
	select {
	case <-r.settled:
		return r.leftBehind()
	default:
	}
	return fmt.Errorf("close reader: the clean-up goes on: %w", ctx.Err())
}

// cleanup is how long the clean-up may take.
func (r *Reader) cleanup(ctx context.Context) time.Duration {
	t := 2 * r.cfg.Retry.AttemptTimeout
	if at, ok := ctx.Deadline(); ok {
		t = max(time.Until(at), 0) + r.cfg.Retry.AttemptTimeout
	}
	if ctx.Err() != nil {
		t = r.cfg.Retry.AttemptTimeout
	}
	return t
}

// forgetBuffer drops what was not handed out. A durable's messages are given back,
// so that another reader gets them at once.
func (r *Reader) forgetBuffer() {
	r.take.Lock()
	defer r.take.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cfg.Durable != "" {
		for _, waiting := range [][]Message{r.batch[r.at:], r.ready} {
			for _, m := range waiting {
				r.returns = append(r.returns, m.Msg)
			}
		}
		r.giveBackAll()
	}
	r.batch, r.ready, r.at = nil, nil, 0
	r.markDone()
}

// giveBackAll gives back what was not handed out, once the rules say so; mu is held.
func (r *Reader) giveBackAll() {
	if !r.givesBack {
		return
	}
	for _, msg := range r.returns {
		r.giveBack(msg)
	}
	r.returns = nil
}

func (r *Reader) leftBehind() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.rules.View(r.now())
	if v.Orphans == 0 {
		return nil
	}
	return fmt.Errorf("close reader: %d consumers were not deleted in time; the server removes them after %s without a pull",
		v.Orphans, r.cfg.InactiveThreshold)
}

// Drain stops reading, waits until the buffered messages are handed out, then
// closes. When ctx ends first the rest of the buffer is forgotten. What is handed out
// last is acknowledged after that, by its caller: a process that ends behind a Drain
// confirms that with DoubleAck, or flushes its connection.
func (r *Reader) Drain(ctx context.Context) error {
	r.input(func(m *session.Machine, now time.Duration) { m.Drain(now) })
	if r.emptied() {
		return r.Close(ctx)
	}
	select {
	case <-r.done:
		return r.Close(ctx)
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("drain reader: %w", ctx.Err()), r.Close(ctx))
	}
}

// emptied says that the buffer was handed out before the end came.
func (r *Reader) emptied() bool {
	r.take.Lock()
	defer r.take.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	empty := r.at >= len(r.batch) && len(r.ready) == 0
	if empty {
		r.markDone()
	}
	return empty
}

// Done is closed when the reader has ended and everything buffered is handed out.
func (r *Reader) Done() <-chan struct{} { return r.done }

// Err says why the reader ended: nil while it is open, io.EOF at a chosen end,
// ErrClosed after Close, the RecoveryError under OnErrorFinish, or what ended it.
func (r *Reader) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over == errEnd {
		return io.EOF
	}
	return r.over
}
