package run

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/plan"
)

// load is who publishes. Every writer publishes on a goroutine of its own and takes its
// turn for each message, so that a pause is sure that none is under way.
type load struct {
	plan    plan.Load
	writers []*writer
	running sync.WaitGroup
}

type writer struct {
	*chaos.Publisher
	turn chan struct{} // holds a value while nobody publishes
}

// newLoad makes the writers. What is published on subjects that the target does not read
// is not told to the oracle.
func newLoad(js jetstream.JetStream, l chaos.Ledger, p plan.Plan, subjects []string) *load {
	made := &load{plan: p.Load}
	for n := range p.Load.Writers {
		at := n % len(subjects)
		told := l
		if !reads(p.Target, at+1) {
			told = unread{}
		}
		w := &writer{Publisher: chaos.NewPublisher(js, told, subjects[at], fmt.Sprintf("w%d", n+1), 1), turn: make(chan struct{}, 1)}
		w.SetSize(p.Load.Size)
		w.turn <- struct{}{}
		made.writers = append(made.writers, w)
	}
	return made
}

// reads says whether a target reads a subject of the load, from 1.
func reads(t plan.Target, subject int) bool {
	return len(t.Subjects) == 0 || slices.Contains(t.Subjects, subject)
}

// prefill stores what is there before the target opens. Of what the target is not to
// read, since it begins behind it, the oracle hears nothing.
func prefill(ctx context.Context, js jetstream.JetStream, l chaos.Ledger, p plan.Plan, subjects []string) error {
	left := p.Load.Prefill
	for n := range subjects {
		share := (left + len(subjects) - n - 1) / (len(subjects) - n)
		left -= share
		last := 0 // that the target reads
		if p.Target.Start == plan.StartLastPerSubject || p.Target.Start == plan.StartLast && left == 0 && share > 0 {
			last = 1
		}
		if p.Target.Start == plan.StartAll || p.Target.Start == "" {
			last = share
		}
		for _, part := range []struct {
			count int
			told  bool
		}{{share - last, false}, {last, reads(p.Target, n+1)}} {
			if part.count <= 0 {
				continue
			}
			told, name := l, fmt.Sprintf("stored%d", n+1)
			if !part.told {
				told, name = unread{}, fmt.Sprintf("before%d", n+1)
			}
			w := chaos.NewPublisher(js, told, subjects[n], name, 1)
			w.SetSize(p.Load.Size)
			if err := w.Fill(ctx, part.count); err != nil {
				return fmt.Errorf("what is stored before the target opens: %w", err)
			}
		}
	}
	return nil
}

// run publishes until ctx ends; the message that is under way then has a little longer.
func (l *load) run(ctx context.Context, c *crew) {
	for n, w := range l.writers {
		l.running.Add(1)
		c.spawn("a publisher", func() {
			defer l.running.Done()
			w.run(ctx, l.pace(n), l.burst(n))
		})
	}
}

// wait returns when nothing is under way any more.
func (l *load) wait() { l.running.Wait() }

// pace is how long writer n takes between two messages.
func (l *load) pace(n int) time.Duration {
	rate := l.plan.Rate / len(l.writers)
	if n < l.plan.Rate%len(l.writers) {
		rate++
	}
	if rate == 0 {
		return 0
	}
	return time.Second / time.Duration(rate)
}

// burst is what writer n has of a burst.
func (l *load) burst(n int) (b plan.Burst) {
	if l.plan.Bursts == nil {
		return b
	}
	b = *l.plan.Bursts
	each := b.Count / len(l.writers)
	if n < b.Count%len(l.writers) {
		each++
	}
	b.Count = each
	return b
}

// mostBehind is how many messages a writer that was held up makes good for at once.
const mostBehind = 100

// finest is the shortest interval at which a writer looks how many are due.
const finest = 2 * time.Millisecond

func (w *writer) run(ctx context.Context, every time.Duration, b plan.Burst) {
	var due, bursts <-chan time.Time
	if every > 0 {
		tick := time.NewTicker(max(every, finest))
		defer tick.Stop()
		due = tick.C
	}
	if b.Count > 0 {
		tick := time.NewTicker(b.Every)
		defer tick.Stop()
		bursts = tick.C
	}
	next := time.Now()
	for {
		n := 0
		select {
		case <-ctx.Done():
			return
		case <-due:
			for now := time.Now(); !next.After(now); next = next.Add(every) {
				n++
			}
			n = min(n, mostBehind)
		case <-bursts:
			n = b.Count
		}
		for range n {
			if !w.one(ctx) {
				return
			}
		}
	}
}

// one publishes one message in turn, and says whether there may be more.
func (w *writer) one(ctx context.Context) bool {
	select {
	case <-w.turn:
	case <-ctx.Done():
		return false
	}
	defer func() { w.turn <- struct{}{} }()
	return w.Publish(ctx)
}

// pause returns when nobody publishes any more, and nobody does until resume is called.
// With an error nothing is paused.
func (l *load) pause(ctx context.Context) (resume func(), err error) {
	var held []*writer
	resume = func() {
		for _, w := range held {
			w.turn <- struct{}{}
		}
	}
	for _, w := range l.writers {
		select {
		case <-w.turn:
			held = append(held, w)
		case <-ctx.Done():
			resume()
			return nil, context.Cause(ctx)
		}
	}
	return resume, nil
}

// lastWord publishes one message while all are paused: on the first subject that the
// target reads.
func (l *load) lastWord(ctx context.Context, t plan.Target, subjects int) bool {
	for n, w := range l.writers {
		if reads(t, n%subjects+1) {
			return w.Publish(ctx)
		}
	}
	return false
}
