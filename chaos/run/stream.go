package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/plan"
)

// Bounds of the stream's making: its first election may take longer than a request.
const (
	electionLimit = time.Minute
	electionRetry = 100 * time.Millisecond
)

// streamConfig is the stream of a plan.
func (s *stage) streamConfig(p plan.Plan) jetstream.StreamConfig {
	config := jetstream.StreamConfig{
		Name: s.stream, Subjects: s.subjects, Storage: storage(p.Server.Storage), Replicas: p.Server.Replicas,
		MaxMsgs: unlimited(p.Stream.MaxMessages), MaxBytes: unlimited(p.Stream.MaxBytes),
		MaxMsgsPerSubject: unlimited(p.Stream.MaxMessagesPerSubject), MaxAge: p.Stream.MaxAge,
		MaxConsumers: int(unlimited(int64(p.Stream.MaxConsumers))), FirstSeq: p.Stream.FirstSequence,
	}
	switch p.Stream.Retention {
	case plan.Interest:
		config.Retention = jetstream.InterestPolicy
	case plan.WorkQueue:
		config.Retention = jetstream.WorkQueuePolicy
	case plan.Limits:
	}
	if p.Stream.Discard == plan.DiscardNew {
		config.Discard = jetstream.DiscardNew
	}
	if p.Stream.MaxAge > 0 && p.Stream.MaxAge < 2*time.Minute {
		config.Duplicates = p.Stream.MaxAge // a server refuses a window beyond the age
	}
	return config
}

// storage is how the stream keeps its messages.
func storage(s plan.Storage) jetstream.StorageType {
	if s == plan.Memory {
		return jetstream.MemoryStorage
	}
	return jetstream.FileStorage
}

// unlimited is -1 where a plan has no limit.
func unlimited(n int64) int64 {
	if n == 0 {
		return -1
	}
	return n
}

// makeStream makes the stream of the run.
func (s *stage) makeStream(ctx context.Context, p plan.Plan) error {
	config := s.streamConfig(p)
	if s.foreign != nil {
		remove, err := chaos.MakeStream(ctx, s.manage, config, s.foreign.Journal)
		if remove != nil {
			s.onLeave(func() error {
				ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
				defer cancel()
				return remove(ctx)
			})
		}
		return err
	}
	limited, cancel := context.WithTimeout(ctx, electionLimit)
	defer cancel()
	for {
		err := s.createStream(limited, config)
		if err == nil {
			return nil
		}
		// In a young cluster a node may count as away for a moment, and the stream be refused for it.
		if s.cluster == nil || pass(limited, electionRetry) != nil {
			return fmt.Errorf("make stream %s: %w", s.stream, err)
		}
	}
}

// createStream asks once. A cluster whose JetStream has no leader yet answers nothing,
// so that a request there has a time of its own; the same one again changes nothing.
func (s *stage) createStream(ctx context.Context, config jetstream.StreamConfig) error {
	if s.cluster != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, requestLimit)
		defer cancel()
	}
	_, err := s.manage.CreateStream(ctx, config)
	return err
}

// consumers is how many consumers are on the stream.
func (s *stage) consumers(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	stream, err := s.manage.Stream(ctx, s.stream)
	if err != nil {
		return 0, err
	}
	return stream.CachedInfo().State.Consumers, nil
}

// Times of the look for orphans: the last delete may be on its way.
const (
	orphanWait = 5 * time.Second
	orphanLook = 100 * time.Millisecond
)

// orphans counts the consumers that the target has left on the stream: all but durables,
// since nobody else reads there.
func (s *stage) orphans(ctx context.Context) int {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), orphanWait)
	defer cancel()
	found := oracle.NotCounted
	for {
		n, err := s.ephemeral(ctx)
		if err == nil && n == 0 || errors.Is(err, jetstream.ErrStreamNotFound) {
			return 0
		}
		if err == nil {
			found = n
		}
		if pass(ctx, orphanLook) != nil {
			return found
		}
	}
}

func (s *stage) ephemeral(ctx context.Context) (int, error) {
	stream, err := s.manage.Stream(ctx, s.stream)
	if err != nil {
		return 0, err
	}
	n := 0
	list := stream.ListConsumers(ctx)
	for info := range list.Info() {
		if info.Config.Durable == "" {
			n++
		}
	}
	return n, list.Err()
}
