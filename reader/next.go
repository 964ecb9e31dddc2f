package reader

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"github.com/an-open-reader/nats-reader/reader/session"
)

// errEnd marks a chosen end inside the reader; callers see io.EOF.
var errEnd = errors.New("end")

// endOf gives why nothing more is accepted; no error is a chosen end.
func endOf(err error) error {
	if err == nil {
		return errEnd
	}
	return err
}

// Next waits for the next message and returns it. It returns io.EOF at a chosen
// end (StopAtEnd, Drain, OnErrorFinish), ErrClosed after Close, the newest failure
// once under OnErrorRaise, what ended the reader for good, or ctx's error.
// Buffered messages come before any error but ErrClosed and ctx's.
func (r *Reader) Next(ctx context.Context) (Message, error) {
	for {
		if err := r.refused(ctx); err != nil {
			return Message{}, err
		}
		r.take.Lock()
		if r.at < len(r.batch) || r.refill() {
			m := r.hand()
			r.share()
			r.take.Unlock()
			return m, nil
		}
		r.take.Unlock()
		if err := r.await(ctx); err != nil {
			return Message{}, err
		}
	}
}

// refused says why a call gets nothing at all.
func (r *Reader) refused(ctx context.Context) error {
	if !r.closed.Load() {
		return ctx.Err()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over != nil {
		return r.endLocked()
	}
	return ErrClosed
}

// NextBatch waits for at least one message and fills dst with what is there. It
// returns how many, and Next's errors. An empty dst is ErrConfig.
func (r *Reader) NextBatch(ctx context.Context, dst []Message) (int, error) {
	if len(dst) == 0 {
		return 0, bad("dst", "NextBatch needs room for one message at least")
	}
	for {
		if err := r.refused(ctx); err != nil {
			return 0, err
		}
		n := 0
		r.take.Lock()
		for n < len(dst) && (r.at < len(r.batch) || r.refill()) {
			dst[n] = r.hand()
			n++
		}
		r.share()
		r.take.Unlock()
		if n > 0 {
			return n, nil
		}
		if err := r.await(ctx); err != nil {
			return 0, err
		}
	}
}

// Messages iterates over the messages until io.EOF, which it does not yield. An
// error is yielded once with an empty message; under OnErrorRaise the iteration
// goes on after it, every other error ends it. A reader that ended by
// OnErrorFinish yields its failure last.
func (r *Reader) Messages(ctx context.Context) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		for {
			m, err := r.Next(ctx)
			switch {
			case err == nil:
				if !yield(m, nil) {
					return
				}
			case errors.Is(err, io.EOF):
				if err := r.Err(); err != nil && !errors.Is(err, io.EOF) {
					yield(Message{}, err)
				}
				return
			default:
				if !yield(Message{}, err) || !r.goesOn(ctx, err) {
					return
				}
			}
		}
	}
}

// goesOn says whether an error of Next was a failure under OnErrorRaise.
func (r *Reader) goesOn(ctx context.Context, err error) bool {
	var f *RecoveryError
	if ctx.Err() != nil || !errors.As(err, &f) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over == nil
}

// hand gives the next message of the batch; take is held.
func (r *Reader) hand() Message {
	m := r.batch[r.at]
	r.batch[r.at] = Message{}
	r.at++
	size := m.Size()
	r.taken++
	r.weight += size
	r.passed.sequence, r.passed.time, r.passed.created = m.Sequence, m.Timestamp, m.created
	r.passed.count++
	r.passed.bytes += uint64(len(m.Data))
	if r.taken*8 >= r.cfg.Pull.MaxMessages || r.weight*8 >= r.cfg.Pull.MaxBytes {
		r.mu.Lock()
		r.tellTaken()
		r.mu.Unlock()
	}
	return m
}

// share looks behind what was handed out; take is held. What is left belongs to
// another caller that waits; what was the last of an ended reader ends it for good.
func (r *Reader) share() {
	left := r.at < len(r.batch)
	if left && r.waiters.Load() > 0 {
		r.rouse()
	}
	if left || !r.ending.Load() {
		return
	}
	r.mu.Lock()
	if len(r.ready) == 0 {
		r.markDone()
	}
	r.mu.Unlock()
}

// tellTaken tells the rules how much room there is; both locks are held.
func (r *Reader) tellTaken() {
	if r.taken == 0 {
		return
	}
	r.rules.Took(r.now(), r.taken, r.weight)
	r.taken, r.weight = 0, 0
	if r.rules.Busy() {
		r.follow()
	}
}

// refill takes what is ready; take is held. The slice that was handed out becomes
// the next one to be filled.
func (r *Reader) refill() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tellTaken()
	r.batch, r.ready = r.ready, r.batch[:0]
	r.at = 0
	return len(r.batch) > 0
}

// await waits until there is something for a caller, or gives why there is not.
func (r *Reader) await(ctx context.Context) error {
	if wait, err := r.enlist(); !wait {
		return err
	}
	var err error
	select {
	case <-r.wake:
	case <-r.ended:
	case <-ctx.Done():
		err = ctx.Err()
	}

	r.mu.Lock()
	// The token stands for all that is there: another waiter may have a share.
	if r.waiters.Add(-1) > 0 && (len(r.ready) > 0 || r.raised != nil) {
		r.rouse()
	}
	r.mu.Unlock()
	return err
}

// enlist makes the caller a waiter, or says why it need not wait. Both locks are
// held, so that whoever takes messages meanwhile knows of it.
func (r *Reader) enlist() (wait bool, err error) {
	r.take.Lock()
	defer r.take.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.at < len(r.batch) || len(r.ready) > 0:
		return false, nil
	case r.raised != nil && r.over == nil:
		err, r.raised = r.raised, nil
		return false, err
	case r.over != nil:
		return false, r.endLocked()
	}
	r.waiters.Add(1)
	return true, nil
}

// endLocked is what a caller gets once the buffer is handed out; mu is held.
func (r *Reader) endLocked() error {
	r.markDone()
	var f *RecoveryError
	switch {
	case r.over == errEnd:
		return io.EOF
	case r.cfg.OnError == OnErrorFinish && errors.As(r.over, &f) && !errors.Is(r.over, ErrGaveUp):
		return io.EOF
	}
	return r.over
}

func (r *Reader) markDone() {
	select {
	case <-r.done:
	default:
		close(r.done)
	}
}

// Replace replaces the session in use by an operator's wish and returns when the
// new one is proven. A failure, or the end of ctx, leaves the session in use
// untouched; a recovery that runs already is joined.
func (r *Reader) Replace(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c := make(chan error, 1)
	r.mu.Lock()
	r.tickets++
	ticket := r.tickets
	r.wishes[ticket] = c
	r.rules.Replace(r.now(), ticket)
	r.follow()
	r.mu.Unlock()
	select {
	case err := <-c:
		return err
	case <-ctx.Done():
	}
	r.input(func(m *session.Machine, now time.Duration) { m.Unwish(now, ticket) })
	r.mu.Lock()
	delete(r.wishes, ticket)
	r.mu.Unlock()
	select {
	case err := <-c:
		return err
	default:
		return ctx.Err()
	}
}
