package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// What is looked at for longer than was asked for: consumers that nobody seems to
// pull from, where a little more time decides whether somebody does.
const (
	// longestOn is how much longer is looked: who polls every 30s has come by then.
	longestOn = 30 * time.Second
	onEvery   = time.Second
	// lately is how long ago a consumer may have delivered, or its oldest message may
	// have come, for its reader to be between two polls.
	lately = time.Minute
	// mostAlone is how many consumers may be without a reader for any of them to be
	// looked at for longer: where there are more, it is no reader's pause.
	mostAlone = 50
)

// lookOn looks at consumers that are not decided yet, one by one, until they are or
// the time is over.
func (g *gathering) lookOn(ctx context.Context, last int) error {
	if g.LookOn <= 0 {
		return nil
	}
	var open []*Consumer
	alone := 0
	for i := range g.f.Consumers {
		c := &g.f.Consumers[i]
		if len(c.Samples) > 0 && c.still() {
			alone++
		}
		if g.undecided(c) {
			open = append(open, c)
		}
	}
	if len(open) == 0 || alone > mostAlone {
		return nil
	}
	began := time.Now() // paces the looks only
	for n := 1; len(open) > 0; n++ {
		left := g.LookOn - time.Since(began)
		if left <= 0 {
			return nil
		}
		g.tell(fmt.Sprintf("look on for up to %s: %s may be between two polls", left.Round(time.Second), plural(len(open), "reader")), 0, 0)
		if err := until(ctx, began.Add(min(onEvery*time.Duration(n), g.LookOn))); err != nil {
			return err
		}
		if err := g.lookAt(ctx, open, last+n); err != nil {
			return err
		}
		still := open[:0]
		for _, c := range open {
			if g.undecided(c) {
				still = append(still, c)
			}
		}
		open = still
	}
	return nil
}

// lookAt looks at some consumers, by their names.
func (g *gathering) lookAt(ctx context.Context, some []*Consumer, n int) error {
	var all sync.WaitGroup
	for _, c := range some {
		all.Go(func() { g.again(ctx, c, n) })
	}
	all.Wait()
	return context.Cause(ctx)
}

// again is one more look at a consumer that was seen. What is not answered, or
// denied, changes nothing.
func (g *gathering) again(ctx context.Context, c *Consumer, n int) {
	var a consumerAnswer
	err := g.ask(ctx, "CONSUMER.INFO."+c.Stream+"."+c.Name, nil, &a)
	var api *APIError
	switch {
	case err == nil:
		a.Stream, a.Name = c.Stream, c.Name
		g.sawConsumer(a, n)
	case errors.As(err, &api) && api.ErrCode == codeConsumerNotFound:
		g.seeing.Lock()
		c.Gone, c.Lapsed = true, true
		g.seeing.Unlock()
	}
}

// pulled says that a pull for a consumer was heard.
func (f *Facts) pulled(c *Consumer) bool {
	return f.Heard != nil && slices.ContainsFunc(f.Heard.Pulls, func(p Pulls) bool { return p.Stream == c.Stream && p.Consumer == c.Name })
}

// undecided says that a consumer looks as if nobody pulled from it, and that its
// reader may only be between two polls; or that it lapses, or outlives its inactive
// threshold, if it is watched for a little longer.
func (g *gathering) undecided(c *Consumer) bool {
	if len(c.Samples) == 0 || !c.still() || c.working() || c.ours() || g.f.pulled(c) {
		return false
	}
	if t := c.Config.InactiveThreshold; t > 0 && t+lateness < g.For+beyond+g.LookOn {
		return c.span() <= t+lateness
	}
	since, ever := c.sinceDelivery()
	return ever && since < lately || c.NextTime != nil && c.last().Time.Sub(*c.NextTime) < lately
}
