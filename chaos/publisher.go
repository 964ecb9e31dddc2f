package chaos

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
)

// Ledger is told what a publisher does; an oracle.Oracle is one.
type Ledger interface {
	// Attempted tells that an id is about to be published, each time that it is.
	Attempted(id string, at time.Time)
	// Acknowledged tells that the server stored it, once.
	Acknowledged(id string, sequence uint64, at time.Time)
	// Deduplicated tells that the attempt that was acknowledged stored nothing: the server
	// had the id already.
	Deduplicated(id string)
}

// Publisher writes numbered ids to a subject, one after the other, and tells the
// ledger what was attempted and acknowledged. An id is published until it is
// acknowledged, under the same Nats-Msg-Id, so that the stream's duplicate window
// keeps it from being stored twice, where it was not lost with the store or the stream.
// One goroutine at a time may use it.
type Publisher struct {
	js      jetstream.JetStream
	ledger  Ledger
	subject string
	writer  string
	every   time.Duration
	size    int
	last    uint64 // id that was attempted
}

// How long one attempt waits for its acknowledgement, and the pause before the next.
const (
	publishTimeout = time.Second
	publishPause   = 50 * time.Millisecond
)

// NewPublisher makes a publisher whose Run writes rate messages a second. The payload
// is the id.
func NewPublisher(js jetstream.JetStream, ledger Ledger, subject, writer string, rate int) *Publisher {
	return &Publisher{js: js, ledger: ledger, subject: subject, writer: writer, every: time.Second / time.Duration(rate)}
}

// SetSize fills every payload from now on up to so many bytes, behind the id and a blank.
func (p *Publisher) SetSize(bytes int) { p.size = bytes }

// Run publishes until ctx ends. The id under way has a little longer; one that is
// not acknowledged by then stays unknown: stored or not.
func (p *Publisher) Run(ctx context.Context) {
	tick := time.NewTicker(p.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !p.Publish(ctx) {
			return
		}
	}
}

// Publish publishes the next id, and says whether it was acknowledged before ctx
// ended, or a little later.
func (p *Publisher) Publish(ctx context.Context) bool {
	last, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(publishTimeout, cancel) })()
	p.last++
	id := oracle.ID(p.writer, p.last)
	m := nats.NewMsg(p.subject)
	m.Data = payload(id, p.size)
	for {
		p.ledger.Attempted(id, time.Now())
		attempt, cancel := context.WithTimeout(last, publishTimeout)
		ack, err := p.js.PublishMsg(attempt, m, jetstream.WithMsgID(id), jetstream.WithRetryAttempts(0))
		cancel()
		if err == nil {
			p.ledger.Acknowledged(id, ack.Sequence, time.Now())
			if ack.Duplicate {
				p.ledger.Deduplicated(id)
			}
			return true
		}
		if !wait(last, publishPause) {
			return false
		}
	}
}

// Fill publishes n more ids as fast as the server stores them, for a stream that nobody
// makes fail. An id that is not acknowledged ends it.
func (p *Publisher) Fill(ctx context.Context, n int) error {
	type sent struct {
		id  string
		ack jetstream.PubAckFuture
	}
	var window []sent
	settle := func(keep int) error {
		for len(window) > keep {
			first := window[0]
			window = window[1:]
			select {
			case ack := <-first.ack.Ok():
				p.ledger.Acknowledged(first.id, ack.Sequence, time.Now())
			case err := <-first.ack.Err():
				return fmt.Errorf("publish %s to %s: %w", first.id, p.subject, err)
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		return nil
	}
	for range n {
		p.last++
		id := oracle.ID(p.writer, p.last)
		m := nats.NewMsg(p.subject)
		m.Data = payload(id, p.size)
		p.ledger.Attempted(id, time.Now())
		ack, err := p.js.PublishMsgAsync(m, jetstream.WithMsgID(id))
		if err != nil {
			return fmt.Errorf("publish %s to %s: %w", id, p.subject, err)
		}
		window = append(window, sent{id, ack})
		if err := settle(fillWindow - 1); err != nil {
			return err
		}
	}
	return settle(0)
}

// fillWindow is how many messages Fill has sent at most without an answer.
const fillWindow = 500

// payload is an id, filled up to a size behind a blank.
func payload(id string, size int) []byte {
	data := []byte(id)
	if fill := size - len(id) - 1; fill >= 0 {
		data = append(append(data, ' '), bytes.Repeat([]byte{'.'}, fill)...)
	}
	return data
}
