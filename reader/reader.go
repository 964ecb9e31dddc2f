package reader

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/an-open-reader/nats-reader/reader/session"
)

// Reader reads one stream. Every method is safe for concurrent use, and none
// waits for nats.go, which can block for long behind a frozen server.
//
// Locks: take before mu, never the other way round; no call into nats.go, no send
// and no callback happens under either.
type Reader struct {
	cfg  Config
	nc   *nats.Conn
	link *link
	key  uint64 // names the reader on its link
	id   string // owner of our consumers, part of their names
	base time.Time

	ctx    context.Context // ends with the last work
	cancel context.CancelFunc

	mu    sync.Mutex
	rules *session.Machine
	ready []Message         // accepted, in order, not yet taken by a caller
	held  map[int]*nats.Msg // messages in doubt, by attempt

	returns   []*nats.Msg // a durable's, to be given back when the rules say so
	givesBack bool        // they have said so
	subs      map[int]*nats.Subscription
	cancels   map[session.RequestID]context.CancelFunc
	durable   json.RawMessage // configuration of the durable as read at bind
	ackWait   time.Duration

	draining []chan struct{} // inboxes of a durable that deliver what came before
	work     []job           // what is to be done with nats.go, in order
	working  bool

	timer   *time.Timer
	timerAt time.Duration
	timed   bool

	events  []Event
	telling bool
	dropped uint64

	raised  error
	wishes  map[int]chan error
	tickets int
	opened  chan error
	waiters atomic.Int32
	wake    chan struct{} // one token: something for a waiting Next

	start    session.Cursor // where the reader began
	born     int64          // when the stream was created in which it began
	ending   atomic.Bool    // over is set, for the hot path
	closed   atomic.Bool    // over is ErrClosed, for the hot path
	over     error          // why nothing more is accepted; nil while open
	ended    chan struct{}  // closed when over is set
	done     chan struct{}  // closed when the buffer is handed out too
	settled  chan struct{}  // closed when the server and nats.go are cleaned up
	quit     bool           // the rules are done
	settling bool           // the last job is done: nothing is left but to settle
	keep     *time.Timer    // keeps buffered messages of a durable in progress

	take   sync.Mutex
	batch  []Message // taken from ready, handed out one by one
	at     int
	taken  int // handed out since the rules were told
	weight int
	passed handed
}

// handed is what the caller got so far.
type handed struct {
	sequence, count, bytes uint64
	created                int64 // of the stream it came from
	time                   time.Time
}

func newReader(js jetstream.JetStream, cfg Config) *Reader {
	id := nuid.Next()
	id = id[len(id)-8:]
	r := &Reader{
		cfg: cfg, nc: js.Conn(), id: id, base: time.Now(),
		held: map[int]*nats.Msg{}, subs: map[int]*nats.Subscription{}, cancels: map[session.RequestID]context.CancelFunc{},
		wishes: map[int]chan error{}, opened: make(chan error, 1), wake: make(chan struct{}, 1),
		ended: make(chan struct{}), done: make(chan struct{}), settled: make(chan struct{}),
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.rules = session.New(r.sessionConfig(js))
	return r
}

func (r *Reader) sessionConfig(js jetstream.JetStream) session.Config {
	c := r.cfg
	s := session.Config{
		Stream: c.Stream, Subjects: c.Subjects, Durable: c.Durable, Name: c.Name, Prefix: c.NamePrefix, ID: r.id,
		Inbox: r.nc.NewInbox(), InboxPrefix: strings.TrimSuffix(or(r.nc.Opts.InboxPrefix, nats.InboxPrefix), "."), APIPrefix: apiPrefix(js),
		StopAtEnd: c.StopAtEnd, OnError: session.OnError(c.OnError), OnMissed: session.OnMissed(c.OnMissed), OnReset: session.OnReset(c.OnReset),
		WaitForStream: c.WaitForStream, StreamGrace: max(c.StreamGrace, 0),
		Retry: session.Policy{
			Initial: c.Retry.Initial, Max: c.Retry.Max, Multiplier: c.Retry.Multiplier, Jitter: max(c.Retry.Jitter, 0),
			AttemptTimeout: c.Retry.AttemptTimeout, TotalTimeout: max(c.Retry.TotalTimeout, 0), MaxAttempts: max(c.Retry.MaxAttempts, 0),
		},
		MaxMessages: c.Pull.MaxMessages, MaxBytes: c.Pull.MaxBytes, Expires: c.Pull.Expires, Heartbeat: c.Pull.Heartbeat,
		Inactive: c.InactiveThreshold, Rand: rand.Float64,
	}
	switch c.Start.kind {
	case startAll:
		s.Start = session.StartAll
	case startNew:
		s.Start = session.StartNew
	case startLast:
		s.Start = session.StartLast
	case startLastPerSubject:
		s.Start = session.StartLastPerSubject
	case startSequence:
		s.Start, s.StartSequence = session.StartSequence, c.Start.sequence
	case startTime:
		s.Start, s.StartTime = session.StartTime, c.Start.time.UnixNano()
	case startPosition:
		p := c.Start.position
		s.Start = session.StartPosition
		s.Cursor = session.Cursor{Sequence: p.Sequence, Time: nanos(p.Time)}
		s.Created = nanos(p.StreamCreated)
	}
	return s
}

// now is the reader's clock.
func (r *Reader) now() time.Duration { return time.Since(r.base) }

// input gives the rules an input and does what they say.
func (r *Reader) input(f func(m *session.Machine, now time.Duration)) {
	r.mu.Lock()
	f(r.rules, r.now())
	r.follow()
	r.mu.Unlock()
}

func (r *Reader) disconnected() {
	r.input(func(m *session.Machine, now time.Duration) { m.Disconnected(now) })
}

func (r *Reader) reconnected() {
	r.input(func(m *session.Machine, now time.Duration) {
		m.Disconnected(now)
		m.Reconnected(now)
	})
}

func (r *Reader) connectionClosed(why error) {
	r.input(func(m *session.Machine, now time.Duration) { m.ConnectionClosed(now, why) })
}

func (r *Reader) denied(subject string, err error) {
	r.input(func(m *session.Machine, now time.Duration) { m.Denied(now, subject, err.Error()) })
}

func (r *Reader) forced() {
	r.input(func(m *session.Machine, now time.Duration) {
		m.Forced(now, "nothing arrived and a PING was not answered: the connection is made anew")
	})
}

// ponged hands the rules the answer to a PING that was sent at a time.
func (r *Reader) ponged(sent time.Time) {
	r.input(func(m *session.Machine, now time.Duration) { m.Pong(now, sent.Sub(r.base)) })
}

// stream gives the name of the stream, which Open may have had to find.
func (r *Reader) stream() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rules.View(r.now()).Stream
}

// stamp turns the server's nanoseconds into a time; 0 is the zero time.
func stamp(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}
