package reader

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/reader/session"
)

// lookAlone is how long one STREAM.INFO holds back the next one of its stream: an
// answer that was lost delays nobody but those who shared it.
const lookAlone = session.GateHold

// look is one STREAM.INFO that several readers of a connection share. Its fields
// but the channels are guarded by the link's lock.
type look struct {
	stream, subject string
	key             uint64 // the reader whose slot it takes

	ctx     context.Context // ends when nobody wants it any more
	cancel  context.CancelFunc
	sharers int
	counted bool // one of them counts the request as its own
	over    bool

	sent, done chan struct{}
	msg        *nats.Msg // once done
	err        error
}

// look asks for the stream, shared with the other readers of the connection. left
// is told when the request leaves, and whether it counts as r's.
func (l *link) look(ctx context.Context, r *Reader, stream, subject string, left func(own bool)) (*nats.Msg, error) {
	l.mu.Lock()
	k := l.looks[subject]
	if k == nil {
		k = &look{stream: stream, subject: subject, key: r.key, sent: make(chan struct{}), done: make(chan struct{})}
		k.ctx, k.cancel = context.WithCancel(l.ctx)
		l.looks[subject] = k
	}
	k.sharers++
	if l.rules.Look(subject) {
		go l.send(k)
	}
	l.mu.Unlock()
	defer l.leave(k)
	select {
	case <-k.sent:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	l.mu.Lock()
	own := !k.counted
	k.counted = true
	l.mu.Unlock()
	left(own)
	select {
	case <-k.done:
		return k.msg, k.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// leave ends one sharer's part; the last one's ends the look.
func (l *link) leave(k *look) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k.sharers--; k.sharers > 0 {
		return
	}
	k.cancel()
	if l.looks[k.subject] == k {
		delete(l.looks, k.subject)
		l.rules.LookLeft(k.subject)
	}
}

// send waits for a slot and asks. Nobody who comes after it has left shares it.
func (l *link) send(k *look) {
	slot, err := l.slot(k.ctx, k.key, k.stream, session.APIStreamInfo)
	if err != nil {
		return // nobody wants it any more
	}
	l.mu.Lock()
	if l.looks[k.subject] != k {
		l.mu.Unlock()
		slot.release()
		return
	}
	delete(l.looks, k.subject)
	l.rules.LookSent(k.subject)
	life, gone := l.ctx, l.gone
	l.mu.Unlock()
	close(k.sent)
	late := time.AfterFunc(lookAlone, func() { l.looked(k) })
	k.msg, k.err = slot.roundTrip(k.ctx, life, gone, k.subject, nil)
	close(k.done)
	late.Stop()
	l.looked(k)
}

// looked lets the next look of the stream go out, once.
func (l *link) looked(k *look) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k.over {
		return
	}
	k.over = true
	if l.rules.LookOver(k.subject) {
		go l.send(l.looks[k.subject])
	}
}
