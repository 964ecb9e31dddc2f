package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
)

// fleet is many readers on a stage.
type fleet struct {
	*stage
	tally tally
	all   []*reader.Reader
	last  uint64 // sequence of the last message in each stream, which holds nothing but ours
}

// open opens n readers, all at once; those that are open are closed by whoever called, after an error too.
func (f *fleet) open(ctx context.Context, n int) error {
	ctx, cancel := context.WithTimeout(ctx, f.plan.Patience)
	defer cancel()
	type opened struct {
		reader *reader.Reader
		err    error
	}
	done := make(chan opened, n)
	for i := range n {
		cfg := f.plan.Config
		cfg.Stream, cfg.Observer = f.streams[i%len(f.streams)], f.tally.observe
		js := f.readers[i%len(f.readers)]
		go func() {
			r, err := reader.Open(ctx, js, cfg)
			done <- opened{r, err}
		}()
	}
	var failures []error
	for i := range n {
		o := <-done
		if o.err != nil {
			cancel() // the others are not waited for
			failures = append(failures, o.err)
			continue
		}
		f.all = append(f.all, o.reader)
		f.plan.Told(Progress{Text: "opening readers", Done: i + 1 - len(failures), All: n})
	}
	if len(failures) > 0 {
		return fmt.Errorf("%d of %d readers did not open: %w", len(failures), n, failures[0])
	}
	return nil
}

// readAll has each reader read until the last message of its stream, and gives those that have not got it within the
// patience of the plan.
func (f *fleet) readAll(ctx context.Context) (missing []reader.Status, err error) {
	limited, cancel := context.WithTimeout(ctx, f.plan.Patience)
	defer cancel()
	for i, r := range f.all {
		err := f.readOne(ctx, limited, r)
		switch {
		case errors.Is(err, errNothing):
			missing = append(missing, r.Status())
		case err != nil:
			return missing, fmt.Errorf("reader %d of %d: %w", i+1, len(f.all), err)
		}
		f.plan.Told(Progress{Text: "reading", Done: i + 1 - len(missing), All: len(f.all)})
	}
	return missing, nil
}

// errNothing: a reader has not got its message in good time.
var errNothing = errors.New("nothing was read")

func (f *fleet) readOne(ctx, limited context.Context, r *reader.Reader) error {
	for r.Position().Sequence < f.last {
		within := limited
		if r.Status().Buffered > 0 {
			within = ctx // it has it, however late it is asked
		}
		m, err := r.Next(within)
		switch {
		case err != nil && ctx.Err() == nil && limited.Err() != nil:
			return errNothing
		case err != nil:
			return err
		case m.Sequence > f.last:
			return fmt.Errorf("message %d of a stream of %d", m.Sequence, f.last)
		}
	}
	return nil
}

// publishOne stores one message in each stream, that all are to read.
func (f *fleet) publishOne(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, f.plan.Patience)
	defer cancel()
	if err := f.publish(limited, fmt.Sprintf("message %d", f.last+1)); err != nil {
		return err
	}
	f.last++
	return nil
}

// settle waits until every reader says that nothing waits for it, and gives those that do not within the patience of the
// plan.
func (f *fleet) settle(ctx context.Context) (restless []reader.Status, err error) {
	limited, cancel := context.WithTimeout(ctx, f.plan.Patience)
	defer cancel()
	errRestless := errors.New("some are not idle")
	err = again(limited, func() error {
		restless = restless[:0]
		for _, r := range f.all {
			if s := r.Status(); s.State != reader.StateIdle {
				restless = append(restless, s)
			}
		}
		f.plan.Told(Progress{Text: "waiting until all are idle", Done: len(f.all) - len(restless), All: len(f.all)})
		if len(restless) > 0 {
			return errRestless
		}
		return nil
	})
	if errors.Is(err, errRestless) {
		return restless, nil
	}
	return nil, err
}

// settled is settle where readers that are not idle cannot be measured.
func (f *fleet) settled(ctx context.Context) error {
	restless, err := f.settle(ctx)
	if err == nil && len(restless) > 0 {
		err = fmt.Errorf("%d of %d readers are not idle after %s: one is %s", len(restless), len(f.all), f.plan.Patience, restless[0].State)
	}
	return err
}

// deleteTime is what a server may take to delete one consumer of many.
const deleteTime = 10 * time.Millisecond

// closeAll closes every reader, all at once.
func (f *fleet) closeAll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closeTime+time.Duration(len(f.all))*deleteTime)
	defer cancel()
	failures := make([]error, len(f.all))
	var closing sync.WaitGroup
	for i, r := range f.all {
		closing.Go(func() { failures[i] = r.Close(ctx) })
	}
	closing.Wait()
	f.all = nil
	return errors.Join(failures...)
}

// api adds up what all readers have asked, by kind.
func (f *fleet) api() map[string]uint64 {
	all := map[string]uint64{}
	for _, r := range f.all {
		for kind, n := range r.Status().APIRequests {
			all[kind] += n
		}
	}
	return all
}

// since gives what was added to counts.
func since(before, now map[string]uint64) map[string]uint64 {
	added := map[string]uint64{}
	for kind, n := range now {
		if n > before[kind] {
			added[kind] = n - before[kind]
		}
	}
	return added
}

func sum(counts map[string]uint64) (n uint64) {
	for _, c := range counts {
		n += c
	}
	return n
}

// pass lets a time pass, in steps that are told.
func (f *fleet) pass(ctx context.Context, text string, d time.Duration) error {
	const step = time.Second
	end := time.Now().Add(d)
	for {
		left := time.Until(end)
		if left <= 0 {
			return nil
		}
		f.plan.Told(Progress{Text: text, Done: int((d - left) / step), All: int(d / step)})
		next := time.NewTimer(min(left, step))
		select {
		case <-next.C:
		case <-ctx.Done():
			next.Stop()
			return context.Cause(ctx)
		}
	}
}

// room tells how many consumers a stream may have, and refuses readers that do not fit.
func (s *stage) room(ctx context.Context) (Room, error) {
	var info *jetstream.AccountInfo
	limited, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	err := again(limited, func() error {
		return s.request(limited, func(ctx context.Context) (err error) {
			info, err = s.manage.AccountInfo(ctx)
			if err != nil && !transient(err) && s.cluster == nil {
				return final{err}
			}
			return err
		})
	})
	if err != nil {
		return Room{}, fmt.Errorf("look at the account: %w", err)
	}
	limits := info.Limits
	if tier, ok := info.Tiers[fmt.Sprintf("R%d", s.replicas())]; ok {
		limits = tier.Limits
	}
	limit, from := limitOf(limits.MaxConsumers, s.manage.Conn().ConnectedServerVersion())
	r := roomFor(s.plan.Readers, s.plan.Streams, limit, from)
	return r, r.refuse(s.plan.Readers, s.plan.Streams)
}
