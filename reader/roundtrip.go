package reader

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/reader/session"
)

// roundTrip sends the API request that the slot was granted for, on a reply inbox of
// its own, waits for the answer and gives the slot back. nats.go's own requests share
// one subscription for the life of the connection: once the server has forgotten it,
// or a permission took it away for a moment, no request is ever answered again.
//
// A request that is not wanted any more is still under way: roundTrip returns only
// when it is answered, after session.LateHold, when gone is closed (its connection was
// lost) or when life ends, so that its stream's slot is not given away before.
func (s *slot) roundTrip(ctx, life context.Context, gone <-chan struct{}, subject string, body []byte) (*nats.Msg, error) {
	defer s.release()
	nc := s.link.nc
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
	select {
	case msg := <-answers:
		s.answered()
		if st, ok := parseStatus(msg); ok && st.Code == 503 {
			return nil, nats.ErrNoResponders
		}
		return msg, nil
	case <-ctx.Done():
	}
	s.late()
	hold := time.NewTimer(session.LateHold)
	defer hold.Stop()
	select {
	case <-answers:
		s.answered()
	case <-hold.C:
	case <-gone:
	case <-life.Done():
	}
	return nil, ctx.Err()
}
