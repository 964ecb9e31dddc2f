package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// errEnded: a reader ended by itself before the last message.
var errEnded = errors.New("it ended by itself")

// handled takes one message of the jetstream package, and says whether it is the last one.
func (r *reading) handled(ctx context.Context, m jetstream.Msg) bool {
	last := r.count(m.Data())
	if last || r.metadata {
		if meta, err := m.Metadata(); err == nil {
			r.at(meta.Sequence.Stream)
		} else {
			r.odd++
		}
	}
	if r.each > 0 {
		r.do(ctx)
	}
	return last
}

// keptFor is how long the server keeps a consumer that nobody pulls from, as long as that of nats.go's ordered
// consumers: a caller that works through a whole Fetch for longer would lose it.
const keptFor = 5 * time.Minute

// consumer makes a consumer as a private reader of ours is one: it acks nothing.
func (r *reading) consumer(ctx context.Context) (jetstream.Consumer, error) {
	c, err := r.js.CreateConsumer(ctx, r.stream, jetstream.ConsumerConfig{
		AckPolicy:         jetstream.AckNonePolicy,
		InactiveThreshold: keptFor,
	})
	if err != nil {
		return nil, fmt.Errorf("create the consumer: %w", err)
	}
	name := c.CachedInfo().Name
	r.close = func(ctx context.Context) error { return r.js.DeleteConsumer(ctx, r.stream, name) }
	return c, nil
}

func (r *reading) orderedConsumer(ctx context.Context) (jetstream.Consumer, error) {
	c, err := r.js.OrderedConsumer(ctx, r.stream, jetstream.OrderedConsumerConfig{})
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

// consume reads by a callback.
func (r *reading) consume(ctx context.Context, c jetstream.Consumer) error {
	options := []jetstream.PullConsumeOpt{
		jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) { r.told(err) }),
	}
	if r.pulls == Equal {
		options = append(options, jetstream.PullMaxMessages(r.batch))
	}
	over, ended := false, make(chan struct{})
	consuming, err := c.Consume(func(m jetstream.Msg) {
		if !over && r.handled(ctx, m) {
			over = true
			close(ended)
		}
	}, options...)
	if err != nil {
		return fmt.Errorf("consume: %w", err)
	}
	closed := consuming.Closed()
	then := r.close
	r.close = func(ctx context.Context) error {
		consuming.Stop()
		select {
		case <-closed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if then == nil {
			return nil
		}
		return then(ctx)
	}
	select {
	case <-ended:
		return nil
	case <-closed:
		return r.gaveUp()
	case <-ctx.Done():
		consuming.Stop()
		<-closed
		return context.Cause(ctx)
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

// messages reads by Next. What it says and goes on after is no end.
func (r *reading) messages(ctx context.Context, c jetstream.Consumer) error {
	var options []jetstream.PullMessagesOpt
	if r.pulls == Equal {
		options = append(options, jetstream.PullMaxMessages(r.batch))
	}
	it, err := c.Messages(options...)
	if err != nil {
		return fmt.Errorf("messages: %w", err)
	}
	then := r.close
	r.close = func(ctx context.Context) error {
		it.Stop()
		if then == nil {
			return nil
		}
		return then(ctx)
	}
	defer context.AfterFunc(ctx, it.Stop)() // Next waits for it
	for {
		m, err := it.Next()
		switch {
		case err == nil:
			if r.handled(ctx, m) {
				return nil
			}
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, jetstream.ErrMsgIteratorClosed), r.nc.IsClosed():
			return r.gaveUp()
		default:
			r.told(err)
		}
	}
}

// readFetch fetches again and again.
func readFetch(ctx context.Context, r *reading) error {
	c, err := r.consumer(ctx)
	if err != nil {
		return err
	}
	size := usualBatch
	if r.pulls == Equal {
		size = r.batch
	}
	fetching, stop := context.WithCancel(ctx)
	defer stop() // the last batch is not full, and would be waited for
	for {
		batch, err := c.Fetch(size, jetstream.FetchContext(fetching))
		if err != nil {
			return fmt.Errorf("fetch: %w", err)
		}
		for m := range batch.Messages() {
			if r.handled(ctx, m) {
				return nil
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := batch.Error(); err != nil {
			return fmt.Errorf("fetch: %w", err)
		}
	}
}

// readLegacyOrdered is pushed the messages, by the older API.
func readLegacyOrdered(ctx context.Context, r *reading) error {
	over, ended, closed := false, make(chan struct{}), make(chan struct{})
	sub, err := r.legacy.Subscribe(r.subject, func(m *nats.Msg) {
		if over {
			return
		}
		last := r.count(m.Data)
		if last || r.metadata {
			if meta, err := m.Metadata(); err == nil {
				r.at(meta.Sequence.Stream)
			} else {
				r.odd++
			}
		}
		if r.each > 0 {
			r.do(ctx)
		}
		if last {
			over = true
			close(ended)
		}
	}, nats.BindStream(r.stream), nats.OrderedConsumer())
	if err != nil {
		return fmt.Errorf("subscribe: %w", err)
	}
	end := sync.OnceFunc(func() { close(closed) })
	sub.SetClosedHandler(func(string) { end() })
	if !sub.IsValid() { // it was closed before anybody asked to hear of it
		end()
	}
	r.close = func(context.Context) error { return sub.Unsubscribe() }
	select {
	case <-ended:
		return nil
	case <-closed:
		return r.gaveUp()
	case <-ctx.Done():
		if sub.Unsubscribe() == nil {
			<-closed
		}
		return context.Cause(ctx)
	}
}
