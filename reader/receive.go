package reader

import (
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/reader/session"
)

// receive is called by nats.go for everything that arrives on the inbox of an
// attempt, one at a time and in order. It is the hot path: a message is parsed,
// judged and buffered without garbage.
func (r *Reader) receive(attempt int, msg *nats.Msg) {
	a, ok := parseAckSubject(msg.Reply)
	if !ok {
		r.receiveStatus(attempt, msg)
		return
	}
	d := session.Delivery{Sequence: a.sequence, ConsumerSeq: a.consumerSeq, Time: a.timestamp, Pending: a.pending, Size: msg.Size()}
	r.mu.Lock()
	now := r.now()
	switch r.rules.Deliver(now, attempt, d) {
	case session.Accept:
		r.accept(msg, a, now)
	case session.Hold:
		r.held[attempt] = msg
	case session.Drop:
		if r.cfg.Durable != "" {
			r.giveBack(msg)
		}
	}
	if r.rules.Busy() {
		r.follow()
	}
	r.mu.Unlock()
}

// accept buffers a message for Next; mu is held.
func (r *Reader) accept(msg *nats.Msg, a ackSubject, now time.Duration) {
	if r.closed.Load() {
		if r.cfg.Durable != "" {
			r.giveBack(msg)
		}
		return
	}
	r.ready = append(r.ready, Message{
		Msg: msg, Sequence: a.sequence, ConsumerSequence: a.consumerSeq, Timestamp: time.Unix(0, a.timestamp),
		NumPending: a.pending, NumDelivered: a.delivered, Session: r.rules.Session(), reader: r, arrived: now, created: r.rules.Created(),
	})
	if r.waiters.Load() > 0 {
		r.rouse()
	}
}

// giveBack naks a durable's message that no caller will see, so that another
// reader gets it at once; mu is held. At the end it waits for the rules' word. A lost
// nak costs ack_wait.
func (r *Reader) giveBack(msg *nats.Msg) {
	if r.closed.Load() && !r.givesBack {
		r.returns = append(r.returns, msg)
		return
	}
	r.enqueue(job{run: func() { _ = r.nc.Publish(msg.Reply, []byte("-NAK")) }})
}

func (r *Reader) acceptHeld(attempt int) {
	msg := r.held[attempt]
	delete(r.held, attempt)
	if msg == nil {
		return
	}
	if a, ok := parseAckSubject(msg.Reply); ok {
		r.accept(msg, a, r.now())
	}
}

// rouse gives a waiting Next its token; it never blocks.
func (r *Reader) rouse() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// receiveStatus is for what is no message of a stream. Anyone may publish to an
// inbox: what has no status either is not the server's answer.
func (r *Reader) receiveStatus(attempt int, msg *nats.Msg) {
	st, ok := parseStatus(msg)
	if !ok {
		return
	}
	r.input(func(m *session.Machine, now time.Duration) { m.Status(now, attempt, st) })
}

// Headers of a status message (ADR-13, ADR-37).
const (
	headerStatus       = "Status"
	headerDescription  = "Description"
	headerLastConsumer = "Nats-Last-Consumer"
	headerLastStream   = "Nats-Last-Stream"
	headerMessages     = "Nats-Pending-Messages"
	headerBytes        = "Nats-Pending-Bytes"
)

func parseStatus(msg *nats.Msg) (session.Status, bool) {
	if len(msg.Header) == 0 || len(msg.Data) > 0 {
		return session.Status{}, false
	}
	code, err := strconv.Atoi(msg.Header.Get(headerStatus))
	if err != nil {
		return session.Status{}, false
	}
	st := session.Status{Code: code, Text: msg.Header.Get(headerDescription)}
	number(msg.Subject[strings.LastIndexByte(msg.Subject, '.')+1:], &st.Token)
	st.HasLast = number(msg.Header.Get(headerLastConsumer), &st.LastConsumer)
	st.HasLast = number(msg.Header.Get(headerLastStream), &st.LastStream) && st.HasLast
	var msgs, bytes uint64
	st.HasPending = number(msg.Header.Get(headerMessages), &msgs)
	number(msg.Header.Get(headerBytes), &bytes)
	st.PendingMessages, st.PendingBytes = int(msgs), int(bytes)
	return st, true
}
