package target

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go"
)

// subscription gives the context and the options that both older readers have, and
// the subject: with several it is left to the filters.
func (r *reading) subscription() (js nats.JetStreamContext, subject string, options []nats.SubOpt, err error) {
	js, err = r.in.legacy(r.nc)
	if err != nil {
		return nil, "", nil, err
	}
	options = []nats.SubOpt{nats.BindStream(r.in.Stream)}
	switch len(r.in.Subjects) {
	case 0:
		subject = ">"
	case 1:
		subject = r.in.Subjects[0]
	default:
		options = append(options, nats.ConsumerFilterSubjects(r.in.Subjects...))
	}
	return js, subject, options, nil
}

func readLegacyOrdered(ctx context.Context, r *reading) error {
	js, subject, options, err := r.subscription()
	if err != nil {
		return err
	}
	sub, err := js.Subscribe(subject, func(m *nats.Msg) { r.handleLegacy(ctx, m) }, append(options, nats.OrderedConsumer())...)
	if err != nil {
		return fmt.Errorf("subscribe: %w", err)
	}
	closed := make(chan struct{})
	end := sync.OnceFunc(func() { close(closed) })
	sub.SetClosedHandler(func(string) { end() })
	if !sub.IsValid() { // it was closed before anybody asked to hear of it
		end()
	}
	r.stops = append(r.stops, func() {
		if sub.Unsubscribe() == nil {
			<-closed
		}
	})
	r.in.ready()
	select {
	case <-closed:
		return r.gaveUp()
	case <-ctx.Done():
		return nil
	}
}

// readLegacyFetch fetches again and again. A fetch that brought nothing is followed
// by a pause; only a closed connection or subscription ends it.
func readLegacyFetch(ctx context.Context, r *reading) error {
	js, subject, options, err := r.subscription()
	if err != nil {
		return err
	}
	if r.durable == "" {
		options = append(options, nats.AckNone(), nats.ConsumerMemoryStorage())
	}
	sub, err := js.PullSubscribe(subject, r.durable, options...)
	if err != nil {
		return fmt.Errorf("subscribe: %w", err)
	}
	r.stops = append(r.stops, func() {
		if r.durable != "" && !r.own {
			return // unsubscribing deletes the durable
		}
		if err := sub.Unsubscribe(); err != nil && !errors.Is(err, nats.ErrBadSubscription) && !connectionClosed(err) {
			r.say("unsubscribe: %v", err)
		}
	})
	size, wait := r.peer.settings.count("batch"), nats.MaxWait(r.peer.settings.duration("max-wait"))
	return r.run(ctx, func() error {
		for ctx.Err() == nil {
			messages, err := sub.Fetch(size, wait)
			for _, m := range messages {
				r.handleLegacy(ctx, m)
			}
			switch {
			case ctx.Err() != nil:
				return nil
			case connectionClosed(err):
				return fmt.Errorf("it gave up: %w", err)
			case errors.Is(err, nats.ErrBadSubscription):
				r.failed(err)
				return r.gaveUp()
			case err != nil && !errors.Is(err, nats.ErrTimeout):
				r.failed(err)
			}
			if err != nil {
				pause(ctx)
			}
		}
		return nil
	})
}

// handleLegacy is handle for a message of the older API.
func (r *reading) handleLegacy(ctx context.Context, m *nats.Msg) {
	var sequence, consumerSequence uint64
	if meta, err := m.Metadata(); err == nil {
		sequence, consumerSequence = meta.Sequence.Stream, meta.Sequence.Consumer
	}
	if r.take(ctx, m.Data, sequence, consumerSequence) && r.durable != "" {
		if err := m.Ack(); err != nil {
			r.failed(fmt.Errorf("ack: %w", err))
		}
	}
}
