package chaos

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// FillKey is the metadata key of the consumers that fill-consumers makes. Its
// value is the tag of one fault.
const FillKey = "nats-reader.fill"

const (
	// maxFill bounds how many consumers are made: above what a server allows a
	// stream by default from 2.15 on.
	maxFill = 1100
	// fillMargin is how much longer than the fault its consumers live when nobody
	// deletes them.
	fillMargin = time.Minute
)

// limited refuses a stream without a max_consumers of its own where nothing else bounds its consumers: a server
// would take them all.
func (e *Environment) limited(ctx context.Context) error {
	if atLeast(e.JS.Conn().ConnectedServerVersion(), 2, 15) {
		return nil
	}
	account, err := e.JS.AccountInfo(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("limits of the account: %w", err)
	case account.Limits.MaxConsumers <= 0:
		return fmt.Errorf("stream %s has no max_consumers: there is nothing to fill", e.Stream)
	}
	return nil
}

// fillConsumers makes consumers until the server refuses one.
func (e *Environment) fillConsumers(ctx context.Context, a action, stream jetstream.Stream, s Spec) (action, error) {
	config := stream.CachedInfo().Config
	if config.Retention != jetstream.LimitsPolicy {
		return a, fmt.Errorf("stream %s has %s retention, where a consumer decides what is kept: fill-consumers needs limits retention", e.Stream, config.Retention)
	}
	limit := fmt.Sprintf("max_consumers %d", config.MaxConsumers)
	if config.MaxConsumers <= 0 {
		limit = "the limit of the account or the server"
		if err := e.limited(ctx); err != nil {
			return a, err
		}
	}
	tag := nuid.Next()
	length := s.Length() + fillMargin
	a.entry = e.entryOf(s, time.Now().Add(length))
	a.entry.Fill = tag
	a.steps = []string{fmt.Sprintf("%s, again and again up to %s (%d are there): in memory, expiring after %s", e.subject("CONSUMER.CREATE."+e.Stream+"."+fillName(tag, 0)), limit, stream.CachedInfo().State.Consumers, length)}
	a.undo = []string{e.subject("CONSUMER.DELETE."+e.Stream+"."+fillName(tag, 0)) + ", each of them"}
	a.do = func(ctx context.Context) error {
		for n := range maxFill {
			_, err := stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
				Name: fillName(tag, n), AckPolicy: jetstream.AckNonePolicy, DeliverPolicy: jetstream.DeliverNewPolicy,
				MemoryStorage: true, Replicas: 1, InactiveThreshold: length,
				Metadata: map[string]string{OwnerKey: "fill-consumers", FillKey: tag},
			})
			switch {
			case errors.Is(err, jetstream.ErrMaximumConsumersLimit) && n == 0:
				return fmt.Errorf("stream %s has no slot left already: %w", e.Stream, err)
			case errors.Is(err, jetstream.ErrMaximumConsumersLimit):
				return nil
			case err != nil:
				return fmt.Errorf("consumer %d: %w", n+1, err)
			}
		}
		return fmt.Errorf("stream %s took %d consumers and has no limit that fill-consumers reaches: set max_consumers", e.Stream, maxFill)
	}
	return a, nil
}

func fillName(tag string, n int) string { return fmt.Sprintf("nats-reader-fill-%s-%d", tag, n+1) }

// empty deletes the consumers of one fault.
func empty(ctx context.Context, js jetstream.JetStream, stream, tag string) error {
	s, err := js.Stream(ctx, stream)
	if gone(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("stream %s: %w", stream, err)
	}
	found, err := consumersOf(ctx, s, func(c jetstream.ConsumerConfig) bool { return c.Metadata[FillKey] == tag })
	if err != nil {
		return err
	}
	for _, c := range found {
		if err := s.DeleteConsumer(ctx, c.Name); err != nil && !gone(err) {
			return fmt.Errorf("delete consumer %s: %w", c.Name, err)
		}
	}
	return nil
}
