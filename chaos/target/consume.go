package target

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// consumer makes the pull consumer of consume, messages and fetch.
func (r *reading) consumer(ctx context.Context) (jetstream.Consumer, error) {
	cfg := jetstream.ConsumerConfig{AckPolicy: jetstream.AckExplicitPolicy, Durable: r.durable}
	if r.durable == "" {
		cfg.AckPolicy, cfg.MemoryStorage = jetstream.AckNonePolicy, true
	}
	if len(r.in.Subjects) == 1 {
		cfg.FilterSubject = r.in.Subjects[0]
	} else {
		cfg.FilterSubjects = r.in.Subjects
	}
	c, err := r.js.CreateOrUpdateConsumer(ctx, r.in.Stream, cfg)
	if err != nil {
		return nil, fmt.Errorf("create the consumer: %w", err)
	}
	return c, nil
}

func (r *reading) orderedConsumer(ctx context.Context) (jetstream.Consumer, error) {
	c, err := r.js.OrderedConsumer(ctx, r.in.Stream, jetstream.OrderedConsumerConfig{FilterSubjects: r.in.Subjects})
	if err != nil {
		return nil, fmt.Errorf("create the ordered consumer: %w", err)
	}
	return c, nil
}

func readConsume(ctx context.Context, r *reading) error {
	c, err := r.consumer(ctx)
	if err != nil {
		return err
	}
	return r.consume(ctx, c)
}

func readOrderedConsume(ctx context.Context, r *reading) error {
	c, err := r.orderedConsumer(ctx)
	if err != nil {
		return err
	}
	return r.consume(ctx, c)
}

// consume reads by a callback until ctx ends, or until the reader has closed itself.
func (r *reading) consume(ctx context.Context, c jetstream.Consumer) error {
	options := []jetstream.PullConsumeOpt{
		jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) { r.failed(err) }),
	}
	if d := r.peer.settings.duration("expires"); d > 0 {
		options = append(options, jetstream.PullExpiry(d))
	}
	if d := r.peer.settings.duration("heartbeat"); d > 0 {
		options = append(options, jetstream.PullHeartbeat(d))
	}
	consuming, err := c.Consume(func(m jetstream.Msg) { r.handle(ctx, m) }, options...)
	if err != nil {
		return fmt.Errorf("consume: %w", err)
	}
	closed := consuming.Closed()
	r.stops = append(r.stops, consuming.Stop, func() { <-closed })
	r.in.ready()
	select {
	case <-closed:
		return r.gaveUp()
	case <-ctx.Done():
		return nil
	}
}

func readMessages(ctx context.Context, r *reading) error {
	c, err := r.consumer(ctx)
	if err != nil {
		return err
	}
	return r.messages(ctx, c)
}

func readOrderedMessages(ctx context.Context, r *reading) error {
	c, err := r.orderedConsumer(ctx)
	if err != nil {
		return err
	}
	return r.messages(ctx, c)
}

// messages reads by Next until ctx ends, or until the iterator is closed. Any other
// error is one that Next is called again after.
func (r *reading) messages(ctx context.Context, c jetstream.Consumer) error {
	var options []jetstream.PullMessagesOpt
	if d := r.peer.settings.duration("expires"); d > 0 {
		options = append(options, jetstream.PullExpiry(d))
	}
	if d := r.peer.settings.duration("heartbeat"); d > 0 {
		options = append(options, jetstream.PullHeartbeat(d))
	}
	it, err := c.Messages(options...)
	if err != nil {
		return fmt.Errorf("messages: %w", err)
	}
	r.stops = append(r.stops, it.Stop)
	var next []jetstream.NextOpt
	if d := r.peer.settings.duration("max-wait"); d > 0 {
		next = append(next, jetstream.NextMaxWait(d))
	}
	return r.run(ctx, func() error {
		for ctx.Err() == nil {
			m, err := it.Next(next...)
			switch {
			case err == nil:
				r.handle(ctx, m)
			case errors.Is(err, nats.ErrTimeout): // nothing came within max-wait
			case errors.Is(err, jetstream.ErrMsgIteratorClosed):
				return r.gaveUp() // Next said why before, if not the connection
			default:
				r.failed(err)
				pause(ctx)
			}
		}
		return nil
	})
}

// gone says whether what should be deleted is no longer there.
func gone(err error) bool {
	return errors.Is(err, jetstream.ErrConsumerNotFound) || errors.Is(err, jetstream.ErrStreamNotFound)
}
