package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos"
)

// Server is where a bench is made.
type Server struct {
	// Connect makes a connection with these options, which come last.
	Connect func(context.Context, ...nats.Option) (*nats.Conn, error)
	// JetStream and Legacy give the two APIs on a connection.
	JetStream func(*nats.Conn) (jetstream.JetStream, error)
	Legacy    func(*nats.Conn) (nats.JetStreamContext, error)
	Foreign   bool           // it is not the lab's
	Journal   *chaos.Journal // keeps what is to be removed there in case this process does not come to it; may be nil
	PID       int            // of its process on this machine; 0: not known, and its CPU is not measured

	ended func() bool // of the lab's; nil: that is not known
}

// cpu is what the server's process has used so far; false: that is not known.
func (s Server) cpu() (time.Duration, bool) {
	if s.PID == 0 {
		return 0, false
	}
	return cpuOf(s.PID)
}

// Progress is where a bench is. It is told between readings only, so that it costs them nothing.
type Progress struct {
	Load    Load
	Filled  int // messages that are stored so far; all of them once reading has begun
	Pulls   Pulls
	Round   int    // that goes on, from 1
	Reader  string // whose turn it is; "": the stream is being filled
	Done    int    // readings
	All     int
	Reading *Reading // that has just ended
}

// Run carries out a plan. What was measured until an error is in the result. The errors of single readings are in it
// as well: they end their contestant's series, and nothing else.
func Run(ctx context.Context, s Server, p Plan, told func(Progress)) (r Result, err error) {
	if err := p.Check(); err != nil {
		return Result{}, err
	}
	b := &bench{server: s, plan: p, told: told, cpu: s.cpu}
	r = Result{Schema: Schema, Storage: strings.ToLower(p.storage().String()), Rounds: p.Rounds, Batch: p.Batch, Work: p.Work, Metadata: p.Metadata, Bases: append([]string{}, p.Bases...), Series: []Series{}}
	r.Made = Made{System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(), Client: nats.Version, Cores: runtime.NumCPU(), Foreign: s.Foreign, Began: time.Now().UTC()}
	defer func() { r.Made.Ended = time.Now().UTC() }()
	nc, err := s.Connect(ctx, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { b.denied.told(err) }))
	if err != nil {
		return r, err
	}
	defer nc.Close()
	ctx, done := b.denied.guard(ctx, "")
	defer done()
	r.Made.Server = nc.ConnectedServerVersion()
	if b.js, err = s.JetStream(nc); err != nil {
		return r, err
	}
	for _, l := range p.Loads {
		if most := nc.MaxPayload(); int64(l.Size) > most {
			return r, &PayloadError{Size: l.Size, Most: most}
		}
	}
	for _, l := range p.Loads {
		if err := b.load(ctx, l, &r); err != nil {
			return r, err
		}
	}
	r.Whole = !slices.ContainsFunc(r.Series, func(s Series) bool {
		return slices.ContainsFunc(s.Entries, func(e Entry) bool { return e.Stopped != "" })
	})
	return r, nil
}

// PayloadError: the server takes no message of that size.
type PayloadError struct {
	Size int
	Most int64 // its max_payload
}

func (e *PayloadError) Error() string {
	return fmt.Sprintf("a message of %d bytes is larger than the %d of the server's max_payload", e.Size, e.Most)
}

// bench is one run.
type bench struct {
	server Server
	plan   Plan
	told   func(Progress)
	cpu    func() (time.Duration, bool)
	js     jetstream.JetStream
	denied denial
	at     Progress
}

func (b *bench) tell() {
	if b.told != nil {
		b.at.All = b.plan.Readings()
		b.told(b.at)
	}
}

// load measures one load, on a stream of its own.
func (b *bench) load(ctx context.Context, l Load, r *Result) (err error) {
	s, remove, err := b.makeStream(ctx, l)
	if remove != nil {
		defer func() {
			switch left := remove(); {
			case left != nil && err != nil:
				err = fmt.Errorf("%w; %w", err, left)
			case left != nil:
				err = left
			}
		}()
	}
	if err != nil {
		return err
	}
	if err := b.fill(ctx, s, l); err != nil {
		return err
	}
	for _, pulls := range b.plan.Pulls {
		series, err := b.series(ctx, s, l, pulls)
		r.Series = append(r.Series, series)
		if err != nil {
			return err
		}
	}
	return nil
}

// series has all contestants read a stream in every round. One whose reading failed does not read again.
func (b *bench) series(ctx context.Context, s names, l Load, pulls Pulls) (out Series, err error) {
	out = Series{Size: l.Size, Count: l.Count, Pulls: pulls}
	defer func() { out.sum(b.plan.Bases) }()
	for _, name := range b.plan.Contestants {
		c := find(name)
		out.Entries = append(out.Entries, Entry{Contestant: *c, Ahead: c.ahead(pulls, b.plan.Batch, l), Readings: []Reading{}})
	}
	for round := range b.plan.Rounds {
		for place, i := range order(len(out.Entries), round) {
			e := &out.Entries[i]
			if e.Stopped == "" {
				b.at = Progress{Load: l, Filled: l.Count, Pulls: pulls, Round: round + 1, Reader: e.Name, Done: b.at.Done}
				b.tell()
				reading, failed := b.read(ctx, &e.Contestant, s, l, pulls)
				if ctx.Err() != nil {
					return out, context.Cause(ctx)
				}
				reading.Round, reading.Place = round+1, place+1
				if failed != nil {
					reading.Error = failed.Error()
					e.Stopped = fmt.Sprintf("round %d: %v", round+1, failed)
				}
				e.Readings = append(e.Readings, reading)
				b.at.Reading = &reading
			}
			b.at.Done++
			b.tell()
		}
	}
	return out, nil
}

// read has one contestant read the stream once.
func (b *bench) read(ctx context.Context, c *Contestant, s names, l Load, pulls Pulls) (Reading, error) {
	r := &reading{
		tally:  tally{size: l.Size, next: 1, last: uint64(l.Count)},
		work:   work{each: b.plan.Work},
		stream: s.stream, subject: s.subject, pulls: pulls, batch: b.plan.Batch, metadata: b.plan.Metadata, wire: &wire{}, patience: closeLimit,
	}
	var err error
	r.nc, err = b.server.Connect(ctx,
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { r.told(err) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				r.told(fmt.Errorf("disconnected: %w", err))
			}
		}),
		counted(r.wire))
	if err != nil {
		return Reading{}, err
	}
	if r.js, err = b.server.JetStream(r.nc); err == nil {
		r.legacy, err = b.server.Legacy(r.nc)
	}
	if err != nil {
		r.nc.Close()
		return Reading{}, err
	}
	out, err := r.run(ctx, c, b.plan.limit(l), b.cpu)
	if errors.Is(err, errNotStopped) {
		return out, err // its connection is closed, and the rest is nobody's any more
	}
	if closing := r.end(ctx); closing != nil && err == nil {
		out.Said = append(out.Said, closing.Error())
	}
	return out, err
}
