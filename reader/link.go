package reader

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync"
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
	looks   map[string]*look         // by subject, those that have not left yet
	gone    chan struct{}            // closed when what was sent until then is lost
	tickets uint64
	timer   *time.Timer
	closed  bool

	pinging   bool
	pingAgain bool
	echoes    []*Reader // that want to hear of the next PING's PONG

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
		l = &link{nc: r.nc, base: time.Now(), readers: map[uint64]*Reader{}, waiting: map[uint64]chan struct{}{}, looks: map[string]*look{}, gone: make(chan struct{})}
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
	if l.nc.IsConnected() {
		l.back() // it was away when the last reader left
	}
	states := l.states
	l.end.Go(func() {
		l.watch(states)
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
	if l.isOurs(l.nc.ErrorHandler()) {
		l.nc.SetErrorHandler(before)
	}
	l.nc.RemoveStatusListener(l.states)
	l.end.Wait()
}

func (l *link) now() time.Duration { return time.Since(l.base) }

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

// watch follows the connection's state. nats.go drops what does not fit into the
// channel, so only the newest word counts, and behind it the state itself.
func (l *link) watch(states chan nats.Status) {
	for s := range states {
		for more := true; more; {
			select {
			case next, ok := <-states:
				if more = ok; ok {
					s = next
				}
			default:
				more = false
			}
		}
		l.onState(s)
		if s != nats.CONNECTED && l.nc.IsConnected() && len(states) == 0 {
			l.onState(nats.CONNECTED)
		}
	}
}

// renew notes that the connection is another one; the lock is held.
func (l *link) renew() {
	close(l.gone)
	l.gone = make(chan struct{})
}

// lost gives what is closed when a request sent now is lost with its connection.
func (l *link) lost() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gone
}

// back lets requests go again.
func (l *link) back() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.grant(l.rules.Reconnected(l.now()))
	l.rearm()
}

func (l *link) onState(s nats.Status) {
	switch s {
	case nats.CONNECTED:
		// What was asked on the connection before is forgotten first: it would take
		// the turns of what is asked anew.
		l.mu.Lock()
		l.renew()
		l.rules.Disconnected(l.now())
		l.mu.Unlock()
		l.each((*Reader).reconnected)
		l.back()
	case nats.CLOSED:
		why := l.nc.LastError()
		l.each(func(r *Reader) { r.connectionClosed(why) })
	default:
		l.mu.Lock()
		l.rules.Disconnected(l.now())
		l.renew()
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

// isOurs says whether a handler is the link's hook: one that was set since by the
// connection's owner stays.
func (l *link) isOurs(h nats.ErrHandler) bool {
	return h != nil && reflect.ValueOf(h).Pointer() == reflect.ValueOf(l.onError).Pointer()
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
