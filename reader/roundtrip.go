package reader

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// roundTrip sends one API request on a reply inbox of its own and waits for the
// answer. nats.go's own requests share one subscription for the life of the
// connection: once the server has forgotten it, or a permission took it away for a
// moment, no request is ever answered again.
//
// A request that is not wanted any more is still under way: roundTrip returns only
// when it is answered, when within has passed since it was sent, when gone is closed
// (its connection was lost) or when life ends, so that its slot is not given away
// before.
func roundTrip(ctx, life context.Context, gone <-chan struct{}, within time.Duration, nc *nats.Conn, subject string, body []byte) (*nats.Msg, error) {
	answers := make(chan *nats.Msg, 1)
	reply := nc.NewInbox()
	sub, err := nc.ChanSubscribe(reply, answers)
	if err != nil {
		return nil, fmt.Errorf("subscribe to %s: %w", reply, err)
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only on a closed connection
	if err := nc.PublishRequest(subject, reply, body); err != nil {
		return nil, fmt.Errorf("publish to %s: %w", subject, err)
	}
	sent := time.Now()
	select {
	case msg := <-answers:
		if st, ok := parseStatus(msg); ok && st.Code == 503 {
			return nil, nats.ErrNoResponders
		}
		return msg, nil
	case <-ctx.Done():
	}
	life, cancel := context.WithTimeout(life, within-time.Since(sent))
	defer cancel()
	select {
	case <-answers:
	case <-gone:
	case <-life.Done():
	}
	return nil, ctx.Err()
}
