package commands

import (
	"context"
	"sync"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/reader"
)

// drain gives the reader the time to come to what is stored: as long as it may be
// deaf after the faults, and twice that on a slow machine. An interrupt, and the
// end of the reader, end it.
func (c *watched) drain(ctx context.Context, end *oracle.Ending) {
	r := c.r
	limit := c.drainLimit()
	if ctx.Err() != nil {
		limit = drainInterrupt
	}
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	if ctx.Err() == nil {
		defer context.AfterFunc(ctx, cancel)()
	}
	defer cancelWhen(r.Done(), cancel)()
	defer c.tellWait("what is stored to be read")()
	end.Time = time.Now()
	switch {
	case !c.plan.demo:
		if !awaitReading(wait, r) && ctx.Err() == nil {
			end.Undrained = max(r.Status().Pending, 1)
		}
	case c.oracle.AwaitRead(wait, *end) != nil && ctx.Err() == nil:
		c.lines.note("not all was read within the time to drain", "limit", limit.String())
	}
}

func (c *scene) drainLimit() time.Duration {
	return 2 * oracle.DeafnessLimit(heartbeatOf(c.plan.config), defaultAttemptTimeout, longestPause(c.plan.config))
}

// settling is how long a fault that has just come may take to show: an answer may be on
// its way.
const settling = 250 * time.Millisecond

// awaitAnswer lets the end wait until the server has answered the reader behind the last
// fault: without an answer nobody knows whether it hears anything yet.
func (c *watched) awaitAnswer(ctx context.Context, end *oracle.Ending) {
	r := c.r
	if len(end.Periods) == 0 || ctx.Err() != nil {
		return
	}
	var last time.Time
	for _, f := range end.Periods {
		if f.Destructive {
			return // the stream may be gone for good
		}
		if f.To.After(last) {
			last = f.To
		}
	}
	wait, cancel := context.WithTimeout(ctx, c.drainLimit())
	defer cancel()
	defer cancelWhen(r.Done(), cancel)()
	defer c.tellWait("the server's answer behind the last fault")()
	for !answered(r.Status(), last.Add(settling)) {
		select {
		case <-wait.Done():
			if ctx.Err() == nil && r.Err() == nil {
				end.Undrained = max(end.Undrained, r.Status().Pending, 1)
			}
			return
		case <-time.After(recoverLook):
		}
	}
}

// answered says whether a reader had an answer after a time; one that asks for nothing, since
// its buffer is full, has none to get.
func answered(s reader.Status, after time.Time) bool {
	switch s.State {
	case reader.StateBufferFull, reader.StateClosed:
		return true
	case reader.StateReading, reader.StateIdle, reader.StatePaused, reader.StateWaitingAcks:
		return s.Session.LastAnswer.After(after)
	default:
		return false
	}
}

// tellWait says what the end waits for, where that takes its time.
func (c *scene) tellWait(what string, facts ...string) (over func()) {
	t := time.AfterFunc(waitTold, func() { c.lines.note("the end waits for "+what, facts...) })
	return func() { t.Stop() }
}

// cancelWhen cancels when done is closed. stop ends the watch and waits for its end.
func cancelWhen(done <-chan struct{}, cancel func()) (stop func()) {
	over := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-done:
			cancel()
		case <-over:
		}
	})
	return func() {
		close(over)
		watching.Wait()
	}
}

// awaitReading waits until the reader has a session that answers.
func awaitReading(ctx context.Context, r *reader.Reader) bool {
	tick := time.NewTicker(recoverLook)
	defer tick.Stop()
	for {
		switch r.Status().State {
		case reader.StateReading, reader.StateIdle, reader.StatePaused, reader.StateWaitingAcks, reader.StateBufferFull:
			return true
		case reader.StateClosed:
			return true // why it ended is judged on its own
		case reader.StateOpening, reader.StateRecovering, reader.StateDisconnected:
		}
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
}

// ownEnd is why the reader ended before we closed it; nil: it did not.
func ownEnd(r *reader.Reader) error {
	select {
	case <-r.Done():
		return endError(r.Err())
	default:
		return nil
	}
}

// awaitNoOrphans counts what is left on the server, for as long as the last
// delete may take.
func (c *scene) awaitNoOrphans(ctx context.Context, stream string) int {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), orphanWait)
	defer cancel()
	tick := time.NewTicker(10 * recoverLook)
	defer tick.Stop()
	defer c.tellWait("the last consumer to be deleted")()
	found := oracle.NotCounted
	for {
		n := c.orphans(ctx, stream)
		if n == 0 {
			return 0
		}
		if n != oracle.NotCounted {
			found = n
		}
		select {
		case <-ctx.Done():
			return found
		case <-tick.C:
		}
	}
}
