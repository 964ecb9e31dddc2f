package chaos

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
)

// Ledger is told what a publisher does; an oracle.Oracle is one.
type Ledger interface {
	Attempted(id string, at time.Time)
	Acknowledged(id string, sequence uint64, at time.Time)
}

// Publisher writes numbered ids to a subject, one after the other, and tells the
// ledger what was attempted and acknowledged. An id is published until it is
// acknowledged, under the same Nats-Msg-Id, so that the stream's duplicate window
// keeps it from being stored twice.
type Publisher struct {
	js      jetstream.JetStream
	ledger  Ledger
	subject string
	writer  string
	every   time.Duration
}

// How long one attempt waits for its acknowledgement, and the pause before the next.
const (
	publishTimeout = time.Second
	publishPause   = 50 * time.Millisecond
)

// NewPublisher makes a publisher that writes rate messages a second.
func NewPublisher(js jetstream.JetStream, ledger Ledger, subject, writer string, rate int) *Publisher {
	return &Publisher{js: js, ledger: ledger, subject: subject, writer: writer, every: time.Second / time.Duration(rate)}
}

// Run publishes until ctx ends. The id under way has a little longer; one that is
// not acknowledged by then stays unknown: stored or not.
func (p *Publisher) Run(ctx context.Context) {
	last, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(publishTimeout, cancel) })()
	tick := time.NewTicker(p.every)
	defer tick.Stop()
	for n := uint64(1); ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !p.publish(last, oracle.ID(p.writer, n)) {
			return
		}
	}
}

// publish says whether the id was acknowledged before ctx ended.
func (p *Publisher) publish(ctx context.Context, id string) bool {
	m := nats.NewMsg(p.subject)
	m.Data = []byte(id)
	p.ledger.Attempted(id, time.Now())
	for {
		attempt, cancel := context.WithTimeout(ctx, publishTimeout)
		ack, err := p.js.PublishMsg(attempt, m, jetstream.WithMsgID(id), jetstream.WithRetryAttempts(0))
		cancel()
		if err == nil {
			p.ledger.Acknowledged(id, ack.Sequence, time.Now())
			return true
		}
		if !wait(ctx, publishPause) {
			return false
		}
	}
}
