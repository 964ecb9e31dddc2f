package reader

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/reader/session"
)

// job is one thing to do with nats.go: an effect of the rules, or run.
type job struct {
	effect session.Effect
	run    func()
}

// enqueue gives the worker a job; mu is held. The worker is one goroutine that
// lives while there is work: an idle reader has none.
func (r *Reader) enqueue(j job) {
	r.work = append(r.work, j)
	if !r.working {
		r.working = true
		go r.perform()
	}
}

// perform does the jobs in order. It may block in nats.go for long; nobody but
// the clean-up waits for it.
func (r *Reader) perform() {
	for {
		r.mu.Lock()
		if len(r.work) == 0 && len(r.draining) > 0 && r.quit {
			// What came before the unsubscribe is given back behind this.
			r.mu.Unlock()
			r.drained()
			continue
		}
		if len(r.work) == 0 {
			r.working, r.work = false, nil
			last := r.quit && r.link != nil && !r.settling
			r.settling = r.settling || last
			r.mu.Unlock()
			if last {
				r.settle()
			}
			return
		}
		j := r.work[0]
		r.work = r.work[1:]
		r.mu.Unlock()
		if j.run != nil {
			j.run()
			continue
		}
		r.do(j.effect)
	}
}

// settle ends the reader's part of the connection.
func (r *Reader) settle() {
	r.cancel()
	r.mu.Lock()
	if r.timer != nil {
		r.timer.Stop()
	}
	left := r.subs
	r.subs = map[int]*nats.Subscription{}
	r.mu.Unlock()
	for _, s := range left {
		_ = s.Unsubscribe() // the connection is closed, or it works
	}
	r.link.detach(r)
	close(r.settled)
}

func (r *Reader) do(e session.Effect) {
	switch e.Do {
	case session.DoSubscribe:
		r.subscribe(e)
	case session.DoUnsubscribe:
		r.unsubscribe(e.Attempt)
	case session.DoDrain:
		r.drain(e.Attempt)
	case session.DoPull:
		r.pull(e)
	case session.DoRequest:
		r.request(e)
	case session.DoCancel:
		r.mu.Lock()
		cancel := r.cancels[e.Request]
		delete(r.cancels, e.Request)
		r.mu.Unlock()
		if cancel != nil {
			cancel()
		}
	case session.DoPing:
		r.link.ping()
	case session.DoSuspect:
		r.link.suspect(e.Timeout)
	case session.DoEcho:
		r.link.suspect(e.Timeout)
		r.link.echo(r)
	case session.DoProven:
		r.link.proven()
	}
}

func (r *Reader) subscribe(e session.Effect) {
	n := e.Attempt
	sub, err := r.nc.Subscribe(e.Inbox, func(msg *nats.Msg) { r.receive(n, msg) })
	if err == nil {
		// Read-ahead is bounded by what is pulled; the client must drop nothing.
		err = sub.SetPendingLimits(-1, -1)
	}
	if err != nil {
		err = fmt.Errorf("subscribe to %s: %w", e.Inbox, err)
		r.input(func(m *session.Machine, now time.Duration) { m.Unsubscribable(now, n, err) })
		return
	}
	r.mu.Lock()
	r.subs[n] = sub
	r.mu.Unlock()
}

// unsubscribe ends an attempt's inbox. What came before is delivered only where it
// would be lost otherwise: a durable's messages are on our hands once they are sent.
func (r *Reader) unsubscribe(attempt int) {
	s := r.forget(attempt)
	switch {
	case s == nil:
	case r.cfg.Durable != "":
		gone := make(chan struct{})
		s.SetClosedHandler(func(string) { close(gone) })
		if s.Drain() == nil { // fails only on a closed connection
			r.mu.Lock()
			r.draining = append(slices.DeleteFunc(r.draining, isClosed), gone)
			r.mu.Unlock()
		}
	default:
		_ = s.Unsubscribe() // fails only on a closed connection
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// drained waits for the inboxes that are being drained, no longer than for any
// answer of the server.
func (r *Reader) drained() {
	ctx, cancel := context.WithTimeout(context.Background(), r.cfg.Retry.AttemptTimeout)
	defer cancel()
	r.mu.Lock()
	draining := r.draining
	r.draining = nil
	r.mu.Unlock()
	for _, gone := range draining {
		select {
		case <-gone:
		case <-ctx.Done():
			return
		}
	}
}

func (r *Reader) forget(attempt int) *nats.Subscription {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.subs[attempt]
	delete(r.subs, attempt)
	return s
}

// drain unsubscribes and tells when all that came before has been delivered.
func (r *Reader) drain(attempt int) {
	drained := func(string) {
		r.input(func(m *session.Machine, now time.Duration) { m.Drained(now, attempt) })
	}
	s := r.forget(attempt)
	if s == nil {
		drained("")
		return
	}
	s.SetClosedHandler(drained)
	if err := s.Drain(); err != nil {
		drained("")
	}
}

// pull publishes a pull, unless its session ended while the pull waited here.
func (r *Reader) pull(e session.Effect) {
	r.mu.Lock()
	live := r.subs[e.Attempt] != nil
	r.mu.Unlock()
	if !live {
		return
	}
	reply := strings.TrimSuffix(e.Inbox, "*") + strconv.FormatUint(e.Pull.Token, 10)
	// An error is a closed connection, which is told by its own way, or a full
	// reconnect buffer; either way no answer comes and the silence tells.
	_ = r.nc.PublishRequest(e.Subject, reply, pullBody(e.Pull))
}

// request sends an API request on a goroutine of its own; the rules bound it.
func (r *Reader) request(e session.Effect) {
	ctx, cancel := context.WithCancel(r.ctx)
	r.mu.Lock()
	if r.quit {
		r.mu.Unlock()
		cancel()
		return
	}
	r.cancels[e.Request] = cancel
	stream := r.rules.View(r.now()).Stream
	body, err := r.requestBody(e, stream, r.durable)
	r.mu.Unlock()
	go func() {
		defer cancel()
		if err != nil {
			r.answer(ctx, e, session.Answer{Err: fmt.Errorf("%s: %w", e.API, err)})
			return
		}
		msg, err := r.exchange(ctx, e, stream, body)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			r.answer(ctx, e, transport(e.Subject, err))
			return
		}
		a, config := decode(e.API, msg.Data)
		r.noteDurable(config)
		r.answer(ctx, e, a)
	}()
}

// exchange sends an API request when its turn comes, and waits for the answer. What
// is asked about a stream is shared with the connection's other readers.
func (r *Reader) exchange(ctx context.Context, e session.Effect, stream string, body []byte) (*nats.Msg, error) {
	left := func() (wanted bool) {
		r.input(func(m *session.Machine, now time.Duration) { wanted = m.Sent(now, e.Request) })
		return wanted
	}
	if e.API == session.APIStreamInfo {
		return r.link.look(ctx, r, stream, e.Subject, func(own bool) {
			if own {
				left()
				return
			}
			r.input(func(m *session.Machine, now time.Duration) { m.Shared(now, e.Request) })
		})
	}
	slot, err := r.link.slot(ctx, r.key, stream, e.API)
	if err != nil {
		return nil, err
	}
	if !left() {
		slot.release()
		return nil, context.Canceled
	}
	return slot.roundTrip(ctx, r.ctx, r.link.lost(), e.Subject, body)
}

// answer hands an answer to the rules, unless they take it no longer.
func (r *Reader) answer(ctx context.Context, e session.Effect, a session.Answer) {
	if ctx.Err() != nil {
		return
	}
	r.mu.Lock()
	delete(r.cancels, e.Request)
	r.rules.Answer(r.now(), e.Request, a)
	r.follow()
	r.mu.Unlock()
}
