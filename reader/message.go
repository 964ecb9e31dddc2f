package reader

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
)

// Message is one message of the stream. Subject, Header and Data are those of the
// embedded nats.Msg; the ack methods hide nats.Msg's and work on a durable only.
type Message struct {
	*nats.Msg
	Sequence         uint64    // in the stream
	ConsumerSequence uint64    // in the session's consumer
	Timestamp        time.Time // when the server stored it
	NumPending       uint64    // messages of the filter still waiting behind it
	NumDelivered     uint64    // 1 at the first delivery
	Session          int       // number of the session that brought it

	reader  *Reader
	arrived time.Duration // on the reader's clock
	created int64         // when its stream was created, 0 unknown
}

// Position gives the place after which FromPosition goes on, for a checkpoint
// once the message is processed.
func (m Message) Position() Position {
	p := Position{Sequence: m.Sequence, Time: m.Timestamp}
	if m.reader != nil {
		p.Stream, p.StreamCreated = m.reader.stream(), stamp(m.created)
	}
	return p
}

// Ack tells the server that the message is done; ErrNotDurable on a private reader. It
// fails for a message of a durable that was deleted and made again since: that message
// comes again.
func (m Message) Ack() error { return m.done(m.respond("+ACK")) }

// DoubleAck acks and waits for the server to confirm it, at most until ctx ends.
func (m Message) DoubleAck(ctx context.Context) error {
	if err := m.ackable(); err != nil {
		return err
	}
	if _, err := m.reader.nc.RequestWithContext(ctx, m.Reply, []byte("+ACK")); err != nil {
		return fmt.Errorf("double ack of sequence %d: %w", m.Sequence, err)
	}
	return m.done(nil)
}

// Nak asks the server to deliver the message again.
func (m Message) Nak() error { return m.respond("-NAK") }

// NakWithDelay asks the server to deliver the message again after delay.
func (m Message) NakWithDelay(delay time.Duration) error {
	return m.respond(`-NAK {"delay": ` + strconv.FormatInt(delay.Nanoseconds(), 10) + "}")
}

// InProgress tells the server that the message is still worked on.
func (m Message) InProgress() error { return m.respond("+WPI") }

// Term tells the server never to deliver the message again.
func (m Message) Term() error { return m.done(m.respond("+TERM")) }

// TermWithReason is Term with a reason for the server's advisory (2.10.4 and later).
func (m Message) TermWithReason(reason string) error {
	if reason == "" {
		return m.Term()
	}
	return m.done(m.respond("+TERM " + reason))
}

// done tells the rules that the message was handled, unless that failed: a durable that
// is deleted is made again behind it.
func (m Message) done(err error) error {
	if err == nil {
		m.reader.mu.Lock()
		m.reader.rules.Acked(m.Sequence, m.ConsumerSequence, m.Timestamp.UnixNano())
		m.reader.mu.Unlock()
	}
	return err
}

func (m Message) ackable() error {
	if m.reader == nil || m.Msg == nil || m.reader.cfg.Durable == "" {
		return ErrNotDurable
	}
	m.reader.mu.Lock()
	defer m.reader.mu.Unlock()
	if !m.reader.rules.MayAck(m.Session) {
		return fmt.Errorf("ack of sequence %d: durable %s was deleted and is made again: the message comes again", m.Sequence, m.reader.cfg.Durable)
	}
	return nil
}

func (m Message) respond(word string) error {
	if err := m.ackable(); err != nil {
		return err
	}
	if err := m.reader.nc.Publish(m.Reply, []byte(word)); err != nil {
		return fmt.Errorf("ack %s of sequence %d: %w", word, m.Sequence, err)
	}
	return nil
}
