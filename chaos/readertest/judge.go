package readertest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
)

// writer is the first part of the ids that a Bed publishes.
const writer = "bed"

// publishTry bounds one attempt to publish a message.
const publishTry = 2 * time.Second

// told is what the server acknowledged to the Bed.
type told struct {
	rules oracle.Rules

	mu      sync.Mutex
	stream  string // the newest
	subject string
	latest  uint64
	acked   []stored
}

type stored struct {
	id       string
	sequence uint64
}

func newTold(o Options) *told {
	return &told{rules: oracle.Rules{Measure: oracle.ByIDs, AtLeastOnce: o.AtLeastOnce, Deafness: time.Hour}}
}

// newest is the name of the newest stream.
func (w *told) newest() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stream
}

// publishTo chooses the stream, and the subject of what is published from now on.
func (w *told) publishTo(stream string, subjects []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stream = stream
	if len(subjects) > 0 {
		w.subject = strings.NewReplacer("*", "x", ">", "x").Replace(subjects[0])
	}
}

// Publish writes n messages past the proxy to the newest stream, and returns when the server has
// acknowledged each: a server that does not answer is waited for. The payload of each is its id, bed-1,
// bed-2 and so on; the ids are returned.
func (b *Bed) Publish(n int) []string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), limit)
	defer cancel()
	var ids []string
	for range n {
		id, subject := b.told.next()
		if subject == "" {
			b.t.Fatalf("readertest: there is no stream to publish to: call Stream first")
		}
		sequence, err := b.store(ctx, subject, id)
		if err != nil {
			b.t.Fatalf("readertest: publish %s: %v", id, err)
		}
		b.told.acknowledged(stored{id, sequence})
		ids = append(ids, id)
	}
	return ids
}

// next gives the id to publish and where; without a subject none is used up.
func (w *told) next() (id, subject string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.subject != "" {
		w.latest++
	}
	return oracle.ID(writer, w.latest), w.subject
}

func (w *told) acknowledged(s stored) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.acked = append(w.acked, s)
}

// all is what was acknowledged so far.
func (w *told) all() []stored {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.acked)
}

// store publishes one id until it is acknowledged; the server stores it once.
func (b *Bed) store(ctx context.Context, subject, id string) (uint64, error) {
	m := nats.NewMsg(subject)
	m.Data = []byte(id)
	for {
		try, cancel := context.WithTimeout(ctx, publishTry)
		ack, err := b.js.PublishMsg(try, m, jetstream.WithMsgID(id), jetstream.WithRetryAttempts(0))
		cancel()
		if err == nil {
			return ack.Sequence, nil
		}
		pause := time.NewTimer(20 * time.Millisecond)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return 0, err
		}
	}
}

// Judge compares the payloads that the client under test has seen, in that order, with what Publish wrote,
// and fails the test where one is lost, repeated, out of order or was never published. With
// Options.AtLeastOnce repetition and order do not matter.
func (b *Bed) Judge(ids []string) oracle.Verdict {
	b.t.Helper()
	published, now := b.told.all(), time.Now()
	judge := oracle.New(b.told.rules)
	sequences := map[string]uint64{}
	for _, s := range published {
		sequences[s.id] = s.sequence
		judge.Attempted(s.id, now)
		judge.Acknowledged(s.id, s.sequence, now)
	}
	for _, id := range ids {
		judge.Read(oracle.Delivery{ID: id, Sequence: sequences[id], Time: now})
	}
	v := judge.Judge(oracle.Ending{Time: now})
	if v.Finding != oracle.Held {
		b.t.Errorf("readertest: contract %s: %s (published %d, read %d)", v.Finding, strings.Join(v.Reasons(), "; "), len(published), len(ids))
	}
	return v
}
