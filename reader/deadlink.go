package reader

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// bytesIn counts what arrived in messages. nc.Stats would take the connection's
// lock, which a frozen server can hold for long.
func (l *link) bytesIn() uint64 {
	return atomic.LoadUint64(&l.nc.InBytes) + atomic.LoadUint64(&l.nc.InMsgs)
}

// suspect begins the question whether the link is dead: a session fell silent.
func (l *link) suspect(transit time.Duration) {
	l.mu.Lock()
	ping := !l.closed && l.rules.Suspect(l.now(), l.bytesIn(), transit)
	l.rearm()
	l.mu.Unlock()
	if ping {
		l.ping()
	}
}

func (l *link) proven() {
	l.mu.Lock()
	l.rules.Proven(l.now())
	l.mu.Unlock()
}

// rearm sets the timer to the rules' next decision; the lock is held.
func (l *link) rearm() {
	at, ok := l.rules.Wake()
	if !ok || l.closed {
		return
	}
	wait := max(at-l.now(), 0)
	if l.timer == nil {
		l.timer = time.AfterFunc(wait, l.tick)
		return
	}
	l.timer.Reset(wait)
}

func (l *link) tick() {
	l.mu.Lock()
	force := !l.closed && l.rules.Tick(l.now(), l.bytesIn())
	l.rearm()
	keep := false
	for _, r := range l.readers {
		keep = keep || r.cfg.KeepConnection
	}
	l.mu.Unlock()
	if !force {
		return
	}
	if keep {
		// One of the readers' owners forbids it: the connection's own pings decide.
		l.back()
		return
	}
	l.each(func(r *Reader) { r.forced() })
	// ForceReconnect returns at once, unless nats.go is blocked on the dead link.
	if err := l.nc.ForceReconnect(); err != nil {
		l.back()
	}
}

// echo tells a reader when a PING that is sent from here on is answered.
func (l *link) echo(r *Reader) {
	l.mu.Lock()
	l.echoes = append(l.echoes, r)
	l.mu.Unlock()
	l.ping()
}

// pingTimeout bounds the wait for a PONG: the longest the rules wait.
const pingTimeout = 60 * time.Second

// ping sends a PING on a goroutine of its own, one at a time: behind a frozen
// server nats.go blocks. It brings what the server said before it, a refusal
// included.
func (l *link) ping() {
	l.mu.Lock()
	if l.pinging || l.closed {
		l.pingAgain = l.pinging
		l.mu.Unlock()
		return
	}
	l.pinging = true
	ctx := l.ctx
	l.mu.Unlock()
	go l.pings(ctx)
}

func (l *link) pings(life context.Context) {
	for {
		l.mu.Lock()
		echoes := l.echoes
		l.echoes = nil
		l.mu.Unlock()
		before, sent := l.nc.LastError(), time.Now()
		ctx, cancel := context.WithTimeout(life, pingTimeout)
		err := l.nc.FlushWithContext(ctx)
		cancel()
		if after := l.nc.LastError(); after != nil && !errors.Is(before, after) {
			if subject, ok := deniedSubject(after); ok {
				l.each(func(r *Reader) { r.denied(subject, after) })
			}
		}
		if err == nil && len(echoes) > 0 {
			// What came before the PONG may still wait for its callback. An error is a
			// closed connection.
			_ = l.nc.Barrier(func() {
				for _, r := range echoes {
					r.ponged(sent)
				}
			})
		}
		l.mu.Lock()
		if err == nil {
			l.rules.Pong(l.now())
		}
		if !l.pingAgain || l.closed {
			l.pinging, l.pingAgain = false, false
			l.mu.Unlock()
			return
		}
		l.pingAgain = false
		l.mu.Unlock()
	}
}
