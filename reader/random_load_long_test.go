//go:build long

package reader_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
)

// The load: a steady one, and bursts.
const (
	loadWriters = 4
	loadSteady  = 500  // messages a second of all writers
	loadBurst   = 2000 // the same, in a burst
	sizeHeader  = "Random-Size"
)

// burst is a time of higher load, from the start.
type burst struct{ from, to time.Duration }

func bursts(seed uint64, length time.Duration) (all []burst) {
	d := &dice{Rand: rand.New(rand.NewPCG(seed, 1))}
	for at := d.between(0, 5*time.Second); at < length; at += d.between(5*time.Second, 15*time.Second) {
		all = append(all, burst{at, at + d.between(500*time.Millisecond, 3*time.Second)})
	}
	return all
}

// load publishes on a connection that no fault of the wire acts on. What is not
// acknowledged is published again under its id until it is.
type load struct {
	js     jetstream.JetStream
	began  time.Time
	bursts []burst
	acked  atomic.Uint64
	wg     sync.WaitGroup
	stop   context.CancelFunc

	mu  sync.Mutex
	err error
}

func startLoad(ctx context.Context, js jetstream.JetStream, writers string, seed uint64, length time.Duration) *load {
	until, stop := context.WithCancel(ctx)
	l := &load{js: js, began: time.Now(), bursts: bursts(seed, length), stop: stop}
	for i := range loadWriters {
		l.wg.Go(func() {
			if err := l.write(ctx, until.Done(), writers+strconv.Itoa(i), rand.New(rand.NewPCG(seed, uint64(2+i)))); err != nil {
				l.mu.Lock()
				l.err = errors.Join(l.err, err)
				l.mu.Unlock()
			}
		})
	}
	return l
}

// pause is the time from one message of a writer to the next.
func (l *load) pause() time.Duration {
	since := time.Since(l.began)
	for _, b := range l.bursts {
		if since >= b.from && since < b.to {
			return loadWriters * time.Second / loadBurst
		}
	}
	return loadWriters * time.Second / loadSteady
}

func (l *load) write(ctx context.Context, until <-chan struct{}, name string, r *rand.Rand) error {
	next := time.NewTimer(0)
	defer next.Stop()
	for n := uint64(1); ; n++ {
		select {
		case <-next.C:
		case <-until:
			return nil
		}
		began := time.Now()
		if err := l.publish(ctx, oracle.ID(name, n), r); err != nil {
			return err
		}
		next.Reset(max(0, l.pause()-time.Since(began)))
	}
}

// publish stores one message of 128 bytes to 4 KiB, small ones as often as large ones.
func (l *load) publish(ctx context.Context, id string, r *rand.Rand) error {
	size := int(128 * math.Pow(2, 5*r.Float64()))
	m := nats.NewMsg("load." + []string{"a", "b", "c"}[r.IntN(3)])
	m.Data = []byte(id + strings.Repeat(".", size-len(id)))
	m.Header.Set(sizeHeader, strconv.Itoa(size))
	for {
		try, cancel := context.WithTimeout(ctx, time.Second)
		_, err := l.js.PublishMsg(try, m, jetstream.WithMsgID(id), jetstream.WithRetryAttempts(0))
		cancel()
		if err == nil {
			l.acked.Add(1)
			return nil
		}
		again := time.NewTimer(50 * time.Millisecond)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return fmt.Errorf("publish %s: %w", id, err)
		}
	}
}

// end stops the load; each writer's message is acknowledged before.
func (l *load) end() error {
	l.stop()
	l.wg.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// identity names a message: a server that was set back stores another one under the
// same sequence.
type identity struct {
	sequence uint64
	stored   int64 // when, by the server, in nanoseconds
}

// stocked is a message that the stream holds.
type stocked struct {
	identity
	subject string
	id      string
}

// stock reads what the stream holds, on a connection that no fault acts on.
func stock(ctx context.Context, js jetstream.JetStream, stream string) (all []stocked, err error) {
	s, err := js.Stream(ctx, stream)
	if err != nil {
		return nil, err
	}
	state := s.CachedInfo().State
	c, err := s.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{HeadersOnly: true, MaxResetAttempts: 3})
	if err != nil {
		return nil, err
	}
	for left := state.Msgs; left > 0; {
		batch, err := c.Fetch(int(min(2000, left)), jetstream.FetchMaxWait(5*time.Second))
		if err != nil {
			return nil, err
		}
		before := len(all)
		for m := range batch.Messages() {
			about, err := m.Metadata()
			if err != nil {
				return nil, err
			}
			all = append(all, stocked{identity{about.Sequence.Stream, about.Timestamp.UnixNano()}, m.Subject(), m.Headers().Get(nats.MsgIdHdr)})
			left = about.NumPending // not what the stream counts: a set-back cluster may err there
		}
		if err := batch.Error(); err != nil {
			return nil, err
		}
		if len(all) == before {
			return nil, fmt.Errorf("%d of %d messages came, then none within 5s", len(all), state.Msgs)
		}
	}
	if len(all) > 0 && all[len(all)-1].sequence != state.LastSeq {
		return nil, fmt.Errorf("the last message is %d, and the stream says %d", all[len(all)-1].sequence, state.LastSeq)
	}
	return all, nil
}
