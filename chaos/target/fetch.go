package target

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// readFetch fetches again and again. A batch that brought nothing is followed by a
// pause; only a closed connection ends it.
func readFetch(ctx context.Context, r *reading) error {
	c, err := r.consumer(ctx)
	if err != nil {
		return err
	}
	size, wait := r.peer.settings.count("batch"), jetstream.FetchMaxWait(r.peer.settings.duration("max-wait"))
	return r.run(ctx, func() error {
		for ctx.Err() == nil {
			batch, err := c.Fetch(size, wait)
			got := 0
			if err == nil {
				got = r.batch(ctx, batch)
				err = batch.Error()
			}
			switch {
			case ctx.Err() != nil:
				return nil
			case connectionClosed(err):
				return fmt.Errorf("it gave up: %w", err)
			case err != nil:
				r.failed(err)
			}
			if err != nil || got == 0 {
				pause(ctx)
			}
		}
		return nil
	})
}

// batch reads one batch to its end, or until ctx ends: nats.go lets go of the rest when
// its time is over.
func (r *reading) batch(ctx context.Context, batch jetstream.MessageBatch) (got int) {
	for {
		select {
		case m, open := <-batch.Messages():
			if !open {
				return got
			}
			got++
			r.handle(ctx, m)
		case <-ctx.Done():
			lettingGo.Go(func() {
				for range batch.Messages() {
				}
			})
			return got
		}
	}
}
