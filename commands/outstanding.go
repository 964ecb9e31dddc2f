package commands

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// An ack that was sent a moment ago may not be counted yet: how often and for how
// long a durable is asked until nothing is out.
const (
	outstandingLook  = 50 * time.Millisecond
	outstandingLimit = time.Second
)

// warnOutstanding tells that the end of a durable's stream is not the end of its
// messages: those that were handed out, here before a crash or to another reader,
// and are not acknowledged. Where the consumer may not be looked at it tells nothing.
func (p *program) warnOutstanding(ctx context.Context, js jetstream.JetStream, stream, durable string) {
	ctx, cancel := context.WithTimeout(ctx, outstandingLimit)
	defer cancel()
	look := time.NewTicker(outstandingLook)
	defer look.Stop()
	var out *jetstream.ConsumerInfo
	for ctx.Err() == nil {
		c, err := js.Consumer(ctx, stream, durable)
		if err != nil {
			break
		}
		if out = c.CachedInfo(); out.NumAckPending == 0 {
			return
		}
		select {
		case <-look.C:
		case <-ctx.Done():
		}
	}
	if out == nil {
		return
	}
	what := fmt.Sprintf("%d messages of durable %s are out and not acknowledged: they come", out.NumAckPending, durable)
	if out.NumAckPending == 1 {
		what = fmt.Sprintf("a message of durable %s is out and not acknowledged: it comes", durable)
	}
	p.note("warning: %s again after its ack_wait (%s)", what, out.Config.AckWait)
}
