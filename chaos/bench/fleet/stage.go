package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/reader"
)

// stage is where readers are measured: servers, connections and streams.
type stage struct {
	plan    *Plan
	hosts   []*host      // of the lab; none: a server of others
	cluster *lab.Cluster // nil: one server, or one of others
	url     string       // empty: of others

	manage  jetstream.JetStream // publishes and asks
	readers []jetstream.JetStream
	wire    wire
	streams []string
	removes []func(context.Context) error // of the streams on a server of others
	asked   int64                         // API requests on manage that were answered, by one goroutine

	fail     context.CancelCauseFunc // ends the run
	watching sync.WaitGroup
}

// set makes servers and connections; what it made is closed by close, after an error too.
func (s *stage) set(ctx context.Context) error {
	if err := s.startServers(ctx); err != nil {
		return err
	}
	var err error
	if s.manage, err = s.plan.Dial(ctx, s.url, "manage", s.denied()); err != nil {
		return err
	}
	for i := range s.plan.Connections {
		js, err := s.plan.Dial(ctx, s.url, fmt.Sprintf("readers %d", i+1), s.wire.option())
		if err != nil {
			return fmt.Errorf("connection %d of the readers: %w", i+1, err)
		}
		s.readers = append(s.readers, js)
	}
	return nil
}

// denied ends the run with what the server denies to those who publish and ask: it tells the connection alone, and
// never answers. Their own handler hears it too.
func (s *stage) denied() nats.Option {
	return func(o *nats.Options) error {
		inner := o.AsyncErrorCB
		o.AsyncErrorCB = func(nc *nats.Conn, sub *nats.Subscription, err error) {
			if inner != nil {
				inner(nc, sub, err)
			}
			if errors.Is(err, nats.ErrPermissionViolation) {
				s.fail(fmt.Errorf("%w: %w", reader.ErrPermission, err))
			}
		}
		return nil
	}
}

// Bounds of what is done around the readers.
const (
	requestTime = 5 * time.Second // one API request
	serverTime  = 5 * time.Minute // until a server is ready that may have thousands of consumers
	settleTime  = time.Minute     // until a young cluster makes a stream
	closeTime   = 15 * time.Second
	pollEvery   = 100 * time.Millisecond
)

// streamPrefix begins the names of all streams.
const streamPrefix = "BENCH-"

// replicas is how many nodes keep a stream.
func (s *stage) replicas() int { return max(1, min(3, s.plan.Nodes)) }

// makeStreams makes streams of one subject each, and tells how many consumers one may have.
func (s *stage) makeStreams(ctx context.Context, n int, bound func(*jetstream.StreamConfig)) error {
	id := nuid.Next()
	for i := range n {
		name := fmt.Sprintf("%s%s-%d", streamPrefix, id, i)
		cfg := jetstream.StreamConfig{Name: name, Subjects: []string{name + ".m"}, Replicas: s.replicas()}
		if s.plan.Memory {
			cfg.Storage = jetstream.MemoryStorage
		}
		if bound != nil {
			bound(&cfg)
		}
		if err := s.makeStream(ctx, cfg); err != nil {
			return err
		}
		s.streams = append(s.streams, name)
		s.plan.Told(Progress{Text: "making streams", Done: i + 1, All: n})
	}
	return nil
}

func (s *stage) makeStream(ctx context.Context, cfg jetstream.StreamConfig) error {
	if s.plan.Given {
		limited, cancel := context.WithTimeout(ctx, 2*requestTime)
		defer cancel()
		remove, err := chaos.MakeStream(limited, s.manage, cfg, s.plan.Journal)
		if remove != nil {
			s.removes = append(s.removes, remove)
		}
		s.asked += 2
		return err
	}
	// The first elections of a cluster take their time, and its nodes may count as away for a moment.
	limited, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	err := again(limited, func() error {
		err := s.request(limited, func(ctx context.Context) error {
			_, err := s.manage.CreateStream(ctx, cfg)
			return err
		})
		if err != nil && s.cluster == nil && !transient(err) {
			return final{err}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("make stream %s: %w", cfg.Name, err)
	}
	return nil
}

// transient errors say that a server is not there, not what it thinks.
func transient(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout) || errors.Is(err, nats.ErrNoResponders) ||
		errors.Is(err, nats.ErrDisconnected) || errors.Is(err, nats.ErrReconnectBufExceeded) || errors.Is(err, jetstream.ErrNoStreamResponse)
}

// request does one API request within its time, and counts it.
func (s *stage) request(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	err := do(ctx)
	if err == nil {
		s.asked++
	}
	return err
}

// final is an error that is not to be tried again.
type final struct{ error }

// again does something until it is done, fails for good, or ctx ends: then the last error counts.
func again(ctx context.Context, do func() error) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		err := do()
		var last final
		switch {
		case err == nil:
			return nil
		case errors.As(err, &last):
			return last.error
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			if cause := context.Cause(ctx); !errors.Is(cause, context.DeadlineExceeded) {
				return cause
			}
			return err
		}
	}
}

// consumers counts the consumers of all streams.
func (s *stage) consumers(ctx context.Context) (int, error) {
	n := 0
	for _, name := range s.streams {
		info, err := s.info(ctx, name)
		if err != nil {
			return 0, err
		}
		n += info.State.Consumers
	}
	return n, nil
}

// info asks for a stream, again and again where nobody answers.
func (s *stage) info(ctx context.Context, name string) (info *jetstream.StreamInfo, err error) {
	limited, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	err = again(limited, func() error {
		return s.request(limited, func(ctx context.Context) error {
			stream, err := s.manage.Stream(ctx, name)
			if err != nil {
				if transient(err) || s.cluster != nil {
					return err
				}
				return final{err}
			}
			info = stream.CachedInfo()
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("look at stream %s: %w", name, err)
	}
	return info, nil
}

// publish stores one message in each stream, once however often it is sent.
func (s *stage) publish(ctx context.Context, text string) error {
	for _, name := range s.streams {
		err := again(ctx, func() error {
			one, cancel := context.WithTimeout(ctx, requestTime)
			defer cancel()
			_, err := s.manage.Publish(one, name+".m", []byte(text), jetstream.WithMsgID(text))
			return err
		})
		if err != nil {
			return fmt.Errorf("publish to stream %s: %w", name, err)
		}
	}
	return nil
}

// close leaves nothing behind, and works after the run's ctx has ended.
func (s *stage) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	var failures []error
	failures = append(failures, s.removeStreams(ctx))
	for _, js := range append(slices.Clone(s.readers), s.manage) {
		if js != nil {
			js.Conn().Close()
		}
	}
	switch {
	case s.cluster != nil:
		failures = append(failures, s.cluster.Close())
	case len(s.hosts) > 0:
		failures = append(failures, s.hosts[0].server.Close())
	}
	s.watching.Wait()
	return errors.Join(failures...)
}

// removeStreams removes the streams on a server of others. What it could not remove is in the journal.
func (s *stage) removeStreams(ctx context.Context) (first error) {
	left := 0
	for _, remove := range s.removes {
		if err := remove(ctx); err != nil {
			left++
			first = cmp.Or(first, err)
		}
	}
	if left > 1 {
		return fmt.Errorf("%d streams are left: %w", left, first)
	}
	return first
}
