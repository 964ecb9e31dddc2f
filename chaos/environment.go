package chaos

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/reader"
)

// Environment is what faults act on.
type Environment struct {
	Stream string
	// JS manages the server on a connection of its own that no fault of the wire reaches.
	JS jetstream.JetStream
	// Consumer names the consumer that faults act on; "": the one that Status tells.
	Consumer string
	// Status tells which consumer the reader uses; nil where there is no reader of ours.
	Status func() reader.Status
	// Proxy carries the reader's connection; nil: no wire faults.
	Proxy *proxy.Proxy
	// Lab is the server when it is the lab's; nil: a foreign one, with its safety
	// rules, unless there is a Cluster, which is the lab's too.
	Lab     *lab.Server
	Cluster *lab.Cluster
	// ReaderUser says that the lab's servers were begun with UserConfig, and the reader is logged in as ReaderUser.
	ReaderUser bool
	// Connected tells the name of the server that the reader is connected to; nil: unknown.
	Connected func() string
	// Pace is that of the code behind the reader, where it is in this process; nil: it is not.
	Pace *Pace
	// Program is the reader where it is a program of its own; nil: it is not.
	Program Program
	// AllowServerFaults and TargetName permit more on a foreign server.
	AllowServerFaults bool
	TargetName        string
	// Journal keeps what must be undone on a foreign server, for the case that this
	// process does not come to it; nil: nothing is kept.
	Journal *Journal

	needs *[]string // what the safety rules ask for, of a preview; nil: they refuse

	revoked *revocations // of this and of its copies
}

// ownServer says whether the server is the lab's.
func (e *Environment) ownServer() bool { return e.Lab != nil || e.Cluster != nil }

// The bounds of what a fault asks the server for.
const (
	apiTimeout  = 5 * time.Second
	fillTimeout = time.Minute // as many creates as a stream may have consumers
	// Of one that may come in an election: the nodes need some seconds for it.
	electionTimeout = 20 * time.Second
)

// undo ends a fault. Nil: nothing to undo.
type undo func(context.Context) error

// target is what a fault acted on, for its line.
type target struct{ key, value string }

// apply makes a fault happen and gives what ends it.
func (e *Environment) apply(ctx context.Context, s Spec) (target, undo, error) {
	f, _ := FindFault(s.Name)
	switch f.Layer {
	case LayerWire:
		end, err := e.Proxy.Apply(s.wire())
		if err != nil {
			return target{}, nil, err
		}
		return target{}, func(context.Context) error { end(); return nil }, nil
	case LayerProcess:
		return e.applyProcess(ctx, s)
	case LayerReader:
		return e.applyReader(s)
	}
	return e.applyServer(ctx, s)
}

// Inject makes a fault happen at once, whatever its schedule, and gives what ends it;
// nil: there is nothing to end. With an error end is not nil where a part was done.
func (e *Environment) Inject(ctx context.Context, s Spec) (end func(context.Context) error, err error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if err := e.Allow(s); err != nil {
		return nil, err
	}
	_, end, err = e.apply(ctx, s)
	if err != nil {
		err = fmt.Errorf("fault %s: %w", s.Fault(), err)
	}
	return end, err
}

// applyServer asks the server for what the fault does. What must be undone is in
// the journal before, and leaves it once it is undone.
func (e *Environment) applyServer(ctx context.Context, s Spec) (target, undo, error) {
	limit := apiTimeout
	switch {
	case s.Name == "fill-consumers":
		limit = fillTimeout
	case e.Cluster != nil:
		limit = electionTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	a, err := e.plan(ctx, s)
	if err != nil {
		return a.on, nil, err
	}
	if a.entry == nil {
		return a.on, nil, a.do(ctx)
	}
	if err := e.Journal.add(*a.entry); err != nil {
		return a.on, nil, err
	}
	// An unanswered request may have been done: it is undone in any case.
	return a.on, func(ctx context.Context) error {
		if err := a.entry.Undo(ctx, e.JS); err != nil {
			return err
		}
		return e.Journal.remove(a.entry.ID)
	}, a.do(ctx)
}

// cursor is how far the reader is, where there is one.
func (e *Environment) cursor() uint64 {
	if e.Status == nil {
		return 0
	}
	return e.Status().Cursor
}

var errNoConsumer = errors.New("the reader has no consumer at the moment")

// consumerName names the consumer that faults act on; "": there is none.
func (e *Environment) consumerName() string {
	if e.Consumer == "" && e.Status != nil {
		return e.Status().Session.Consumer
	}
	return e.Consumer
}

// ofReader says whether faults act on whatever consumer the reader uses at the moment.
func (e *Environment) ofReader() bool { return e.Consumer == "" && e.Status != nil }

// consumerLook is how often it is looked whether a reader has a consumer again.
const consumerLook = 50 * time.Millisecond

// consumer gives the consumer that a fault acts on, once it may be touched. One that the
// reader is about to make is waited for.
func (e *Environment) consumer(ctx context.Context) (*jetstream.ConsumerInfo, error) {
	for {
		info, err := e.consumerNow(ctx)
		if err == nil {
			return info, e.mayTouch(info)
		}
		if !e.ofReader() || !gone(err) && !errors.Is(err, errNoConsumer) || !wait(ctx, consumerLook) {
			return nil, err
		}
	}
}

func (e *Environment) consumerNow(ctx context.Context) (*jetstream.ConsumerInfo, error) {
	name := e.consumerName()
	if name == "" {
		return nil, errNoConsumer
	}
	info, err := consumerInfo(ctx, e.JS, e.Stream, name)
	if err != nil {
		return nil, fmt.Errorf("consumer %s: %w", name, err)
	}
	return info, nil
}

// consumerInfo looks at a consumer that is pulled from, or that pushes.
func consumerInfo(ctx context.Context, js jetstream.JetStream, stream, name string) (*jetstream.ConsumerInfo, error) {
	c, err := js.Consumer(ctx, stream, name)
	if err == nil {
		return c.CachedInfo(), nil
	}
	if !errors.Is(err, jetstream.ErrNotPullConsumer) {
		return nil, err
	}
	push, err := js.PushConsumer(ctx, stream, name)
	if err != nil {
		return nil, err
	}
	return push.CachedInfo(), nil
}

// atLeast compares the first two parts of a server's version.
func atLeast(version string, major, minor int) bool {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) < 2 {
		return false
	}
	a, errA := strconv.Atoi(parts[0])
	b, errB := strconv.Atoi(parts[1])
	return errA == nil && errB == nil && (a > major || a == major && b >= minor)
}
