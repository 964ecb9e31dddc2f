package reader

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/reader/session"
)

// link is what all readers of one connection share: slots for API requests, one
// hook for its errors, one watch of its state, one verdict on a dead link. The
// rules are session.Link's; this performs them.
type link struct {
	nc   *nats.Conn
	base time.Time

	mu      sync.Mutex
	rules   session.Link
	readers map[uint64]*Reader
	waiting map[uint64]chan struct{} // tickets without a slot yet
	tickets uint64
	timer   *time.Timer
	closed  bool

	pinging   bool
	pingAgain bool

	users  int        // guarded by the registry's lock
	hooks  sync.Mutex // held while the hooks go on or off
	hooked bool
	states chan nats.Status
	before nats.ErrHandler
	end    sync.WaitGroup
	ctx    context.Context // ends with the hooks
	cancel context.CancelFunc
}

// links are the connections that have readers.
var links = struct {
	sync.Mutex
	of    map[*nats.Conn]*link
	count uint64
}{of: map[*nats.Conn]*link{}}

// attach makes r a reader of its connection. It calls nats.go, which can block:
// only for this connection, as the registry's lock is not held meanwhile.
func attach(r *Reader) *link {
	links.Lock()
	links.count++
	r.key = links.count
	l := links.of[r.nc]
	if l == nil {
		l = &link{nc: r.nc, base: time.Now(), readers: map[uint64]*Reader{}, waiting: map[uint64]chan struct{}{}}
		links.of[r.nc] = l
	}
	l.users++
	links.Unlock()

	l.hooks.Lock()
	defer l.hooks.Unlock()
	if !l.hooked {
		l.hook()
	}
	l.mu.Lock()
	l.readers[r.key] = r
	l.mu.Unlock()
	return l
}

// detach ends r's part; the last reader's detach takes the hooks off.
func (l *link) detach(r *Reader) {
	l.mu.Lock()
	delete(l.readers, r.key)
	l.mu.Unlock()

	l.hooks.Lock()
	defer l.hooks.Unlock()
	links.Lock()
	l.users--
	last := l.users == 0
	links.Unlock()
	if !last || !l.hooked {
		return
	}
	l.unhook()
	links.Lock()
	if l.users == 0 {
		delete(links.of, l.nc)
	}
	links.Unlock()
}

// hook watches the connection: one goroutine, one error handler in front of the
// one that was there. The hooks' lock is held.
func (l *link) hook() {
	l.hooked = true
	l.mu.Lock()
	l.closed = false
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.mu.Unlock()
	l.states = l.nc.StatusChanged(nats.CONNECTED, nats.RECONNECTING, nats.DISCONNECTED, nats.CLOSED)
	before := l.nc.ErrorHandler()
	l.mu.Lock()
	l.before = before
	l.mu.Unlock()
	l.nc.SetErrorHandler(l.onError)
	states := l.states
	l.end.Go(func() {
		for s := range states {
			l.onState(s)
		}
	})
}

// unhook leaves the connection as it was. The hooks' lock is held.
func (l *link) unhook() {
	l.hooked = false
	l.mu.Lock()
	l.closed = true
	l.cancel()
	if l.timer != nil {
		l.timer.Stop()
	}
	l.mu.Unlock()
	l.mu.Lock()
	before := l.before
	l.mu.Unlock()
	l.nc.SetErrorHandler(before)
	l.nc.RemoveStatusListener(l.states)
	l.end.Wait()
}

func (l *link) now() time.Duration { return time.Since(l.base) }

// bytesIn counts what arrived in messages. nc.Stats would take the connection's
// lock, which a frozen server can hold for long.
func (l *link) bytesIn() uint64 {
	return atomic.LoadUint64(&l.nc.InBytes) + atomic.LoadUint64(&l.nc.InMsgs)
}

// each calls f for every reader, outside the link's lock.
func (l *link) each(f func(*Reader)) {
	l.mu.Lock()
	all := make([]*Reader, 0, len(l.readers))
	for _, r := range l.readers {
		all = append(all, r)
	}
	l.mu.Unlock()
	for _, r := range all {
		f(r)
	}
}

func (l *link) onState(s nats.Status) {
	switch s {
	case nats.CONNECTED:
		l.mu.Lock()
		l.rules.Reconnected(l.now())
		l.rearm()
		l.mu.Unlock()
		l.each((*Reader).reconnected)
	case nats.CLOSED:
		why := l.nc.LastError()
		l.each(func(r *Reader) { r.connectionClosed(why) })
	default:
		l.mu.Lock()
		l.rules.Disconnected(l.now())
		l.mu.Unlock()
		l.each((*Reader).disconnected)
	}
}

// onError takes permission violations out of the connection's errors and passes
// everything on to the handler that was there before.
func (l *link) onError(nc *nats.Conn, sub *nats.Subscription, err error) {
	if subject, ok := deniedSubject(err); ok {
		l.each(func(r *Reader) { r.denied(subject, err) })
	}
	l.mu.Lock()
	before := l.before
	l.mu.Unlock()
	if before != nil {
		before(nc, sub, err)
	}
}

// deniedSubject reads the subject out of a permission violation, in the server's
// words: Permissions Violation for Publish to "x", … for Subscription to "x".
func deniedSubject(err error) (string, bool) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return "", false
	}
	_, rest, ok := strings.Cut(err.Error(), `"`)
	if !ok {
		return "", false
	}
	subject, _, ok := strings.Cut(rest, `"`)
	return subject, ok
}

// slot waits for a slot for one API request of r; the release gives it back.
func (l *link) slot(ctx context.Context, r *Reader, stream string) (release func(), err error) {
	l.mu.Lock()
	l.tickets++
	t := l.tickets
	granted := l.rules.Acquire(r.key, stream, t)
	var ready chan struct{}
	if !granted {
		ready = make(chan struct{})
		l.waiting[t] = ready
	}
	l.mu.Unlock()
	release = func() {
		l.mu.Lock()
		l.grant(l.rules.Release(t))
		l.mu.Unlock()
	}
	if granted {
		return release, nil
	}
	select {
	case <-ready:
		return release, nil
	case <-ctx.Done():
		l.mu.Lock()
		delete(l.waiting, t)
		l.grant(l.rules.Abandon(t))
		l.mu.Unlock()
		return nil, ctx.Err()
	}
}

// grant wakes the tickets that got a slot; the lock is held.
func (l *link) grant(tickets []uint64) {
	for _, t := range tickets {
		if ready := l.waiting[t]; ready != nil {
			delete(l.waiting, t)
			close(ready)
		}
	}
}

// suspect begins the question whether the link is dead: a session fell silent.
func (l *link) suspect() {
	l.mu.Lock()
	ping := !l.closed && l.rules.Suspect(l.now(), l.bytesIn())
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
		l.mu.Lock()
		l.rules.Reconnected(l.now())
		l.mu.Unlock()
		return
	}
	l.each(func(r *Reader) { r.forced() })
	// ForceReconnect returns at once, unless nats.go is blocked on the dead link.
	if err := l.nc.ForceReconnect(); err != nil {
		l.mu.Lock()
		l.rules.Reconnected(l.now())
		l.mu.Unlock()
	}
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
		before := l.nc.LastError()
		ctx, cancel := context.WithTimeout(life, pingTimeout)
		err := l.nc.FlushWithContext(ctx)
		cancel()
		if after := l.nc.LastError(); after != nil && !errors.Is(before, after) {
			if subject, ok := deniedSubject(after); ok {
				l.each(func(r *Reader) { r.denied(subject, after) })
			}
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
