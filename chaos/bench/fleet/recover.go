package fleet

import (
	"context"
	"time"

	"github.com/an-open-reader/nats-reader/reader"
)

// How a server is ended.
const (
	endKill = "kill"
	endStop = "stop"
)

// restarts ends servers and sees all readers read again: one server by kill and by stop; each node of a cluster by kill,
// in turn, the others being there.
func (f *fleet) restarts(ctx context.Context, r *Result) error {
	for i, h := range f.hosts {
		ends := []string{endKill}
		if f.cluster == nil {
			ends = []string{endKill, endStop}
		}
		for _, how := range ends {
			f.plan.Told(Progress{Text: how + " " + h.name})
			recovery, err := f.recovery(ctx, f.hosts[i], how)
			if err != nil {
				return err
			}
			r.Recoveries = append(r.Recoveries, recovery)
			if recovery.NotRead+recovery.Restless > 0 {
				return nil // what comes behind would tell of the same readers
			}
		}
	}
	return nil
}

// recovery ends a server and measures how its readers come back.
func (f *fleet) recovery(ctx context.Context, h *host, how string) (Recovery, error) {
	v := Recovery{What: how}
	if f.cluster != nil {
		v.Node = h.name
	}
	for _, js := range f.readers {
		if f.cluster == nil || js.Conn().ConnectedServerName() == h.name {
			v.Connection = true
		}
	}
	numbers, api := f.numbers(), f.api()
	f.tally.begin()
	began := time.Now()
	if err := h.end(ctx, how); err != nil {
		return v, err
	}
	if f.cluster == nil {
		if err := f.start(ctx, h); err != nil {
			return v, err
		}
		v.Down = time.Since(began)
	}
	var err error
	missing := []reader.Status(nil)
	if v.Read, missing, err = f.readAgain(ctx, began); err != nil {
		return v, err
	}
	v.NotRead = len(missing)
	v.show(missing)
	if f.cluster == nil {
		v.ReadReady = v.Read - v.Down
	}
	if proofs := f.tally.soFar().proofs; len(proofs) > 0 {
		v.HalfProven, v.AllProven = proofs[len(proofs)/2], proofs[len(proofs)-1]
	}
	if f.cluster != nil {
		if err := f.start(ctx, h); err != nil {
			return v, err
		}
		back := time.Now()
		if v.Back, missing, err = f.readAgain(ctx, back); err != nil {
			return v, err
		}
		v.NotRead = max(v.NotRead, len(missing))
		v.show(missing)
	}
	clean := time.Now()
	if v.Consumers, v.Orphans, err = f.clean(ctx, len(f.all)); err != nil {
		return v, err
	}
	v.Clean = time.Since(clean)
	restless, err := f.settle(ctx)
	if err != nil {
		return v, err
	}
	v.Restless = len(restless)
	v.show(restless)
	c := f.tally.soFar()
	v.Deaf, v.Healed = c.deaf, c.healed
	for i, r := range f.all {
		if r.Status().Session.Number > numbers[i] {
			v.Replaced++
		}
	}
	v.API = since(api, f.api())
	return v, nil
}

// mostExamples is how many readers a result shows that did not do what they should.
const mostExamples = 5

func (v *Recovery) show(some []reader.Status) {
	v.Examples = append(v.Examples, some[:min(len(some), mostExamples-len(v.Examples))]...)
}

// readAgain publishes a message to every stream and waits until all readers have it.
func (f *fleet) readAgain(ctx context.Context, from time.Time) (took time.Duration, missing []reader.Status, err error) {
	if err := f.publishOne(ctx); err != nil {
		return 0, nil, err
	}
	missing, err = f.readAll(ctx)
	return time.Since(from), missing, err
}

// numbers are those of the sessions in use.
func (f *fleet) numbers() []int {
	all := make([]int, len(f.all))
	for i, r := range f.all {
		all[i] = r.Status().Session.Number
	}
	return all
}
