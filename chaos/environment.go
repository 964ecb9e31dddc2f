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
	// Status tells which consumer the reader uses.
	Status func() reader.Status
	// Proxy carries the reader's connection; nil: no wire faults.
	Proxy *proxy.Proxy
	// Lab is the server when it is the lab's; nil: a foreign one, with its safety rules.
	Lab *lab.Server
	// AllowServerFaults and TargetName permit more on a foreign server.
	AllowServerFaults bool
	TargetName        string
}

// apiTimeout bounds one management request of a fault.
const apiTimeout = 5 * time.Second

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
		end, err := e.applyProcess(ctx, s.Name)
		return target{"server", e.Lab.URL()}, end, err
	}
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	switch s.Name {
	case "delete-consumer":
		return e.deleteConsumer(ctx)
	case "pause-consumer":
		return e.pauseConsumer(ctx, s.Length())
	case "purge-stream":
		return e.purgeStream(ctx, s)
	case "recreate-stream":
		return e.recreateStream(ctx, s)
	default:
		return target{}, nil, fmt.Errorf("fault %s acts nowhere", s.Name)
	}
}

// applyProcess acts on the lab's server. An interrupt does not stop it half-way: a
// signal that was sent is waited for, so that its end finds what it must undo.
func (e *Environment) applyProcess(ctx context.Context, name string) (undo, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	var err error
	var end undo
	switch name {
	case "freeze-server":
		end, err = func(context.Context) error { return e.Lab.Thaw() }, e.Lab.Freeze()
	case "kill-server":
		end, err = e.Lab.Start, e.Lab.Kill(ctx)
	case "stop-server":
		end, err = e.Lab.Start, e.Lab.Term(ctx)
	default:
		err = fmt.Errorf("fault %s acts on no process", name)
	}
	if err != nil {
		return nil, err // nothing of ours to undo; it may be another fault's turn
	}
	return end, nil
}

// consumer gives the consumer in use, once it may be touched.
func (e *Environment) consumer(ctx context.Context) (*jetstream.ConsumerInfo, error) {
	name := e.Status().Session.Consumer
	if name == "" {
		return nil, errors.New("the reader has no consumer at the moment")
	}
	c, err := e.JS.Consumer(ctx, e.Stream, name)
	if err != nil {
		return nil, fmt.Errorf("consumer %s: %w", name, err)
	}
	info := c.CachedInfo()
	return info, e.mayTouch(info)
}

func (e *Environment) deleteConsumer(ctx context.Context) (target, undo, error) {
	c, err := e.consumer(ctx)
	if err != nil {
		return target{}, nil, err
	}
	return target{"consumer", c.Name}, nil, e.JS.DeleteConsumer(ctx, e.Stream, c.Name)
}

func (e *Environment) pauseConsumer(ctx context.Context, length time.Duration) (target, undo, error) {
	// An older server takes the request for a wrong subject and does not answer.
	if version := e.JS.Conn().ConnectedServerVersion(); !atLeast(version, 2, 11) {
		return target{}, nil, fmt.Errorf("nats-server %s cannot pause a consumer: 2.11 or later can", version)
	}
	c, err := e.consumer(ctx)
	if err != nil {
		return target{}, nil, err
	}
	if length == 0 {
		length = time.Hour
	}
	if _, err := e.JS.PauseConsumer(ctx, e.Stream, c.Name, time.Now().Add(length)); err != nil {
		return target{}, nil, err
	}
	return target{"consumer", c.Name}, func(ctx context.Context) error {
		_, err := e.JS.ResumeConsumer(ctx, e.Stream, c.Name)
		if errors.Is(err, jetstream.ErrConsumerNotFound) || errors.Is(err, jetstream.ErrStreamNotFound) {
			return nil // the reader has another meanwhile
		}
		return err
	}, nil
}

func (e *Environment) purgeStream(ctx context.Context, s Spec) (target, undo, error) {
	t := target{"stream", e.Stream}
	stream, err := e.JS.Stream(ctx, e.Stream)
	if err != nil {
		return t, nil, err
	}
	var options []jetstream.StreamPurgeOpt
	if keep := s.count("keep"); keep > 0 {
		options = append(options, jetstream.WithPurgeKeep(keep))
	}
	if subject := s.Params["subject"]; subject != "" {
		options = append(options, jetstream.WithPurgeSubject(subject))
	}
	return t, nil, stream.Purge(ctx, options...)
}

func (e *Environment) recreateStream(ctx context.Context, s Spec) (target, undo, error) {
	t := target{"stream", e.Stream}
	stream, err := e.JS.Stream(ctx, e.Stream)
	if err != nil {
		return t, nil, err
	}
	config := stream.CachedInfo().Config
	if first := s.count("first"); first > 0 {
		config.FirstSeq = first
	}
	create := func(ctx context.Context) error {
		_, err := e.JS.CreateStream(ctx, config)
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			return nil
		}
		return err
	}
	// An unanswered delete may have been done: the stream is made again in any case.
	return t, create, e.JS.DeleteStream(ctx, e.Stream)
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
