package reader

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"
)

// roundTrip sends one API request on a reply inbox of its own and waits for the
// answer. nats.go's own requests share one subscription for the life of the
// connection: once the server has forgotten it, or a permission took it away for a
// moment, no request is ever answered again.
func (r *Reader) roundTrip(ctx context.Context, subject string, body []byte) (*nats.Msg, error) {
	answers := make(chan *nats.Msg, 1)
	reply := r.nc.NewInbox()
	sub, err := r.nc.ChanSubscribe(reply, answers)
	if err != nil {
		return nil, fmt.Errorf("subscribe to %s: %w", reply, err)
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only on a closed connection
	if err := r.nc.PublishRequest(subject, reply, body); err != nil {
		return nil, fmt.Errorf("publish to %s: %w", subject, err)
	}
	select {
	case msg := <-answers:
		if st, ok := parseStatus(msg); ok && st.Code == 503 {
			return nil, nats.ErrNoResponders
		}
		return msg, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
