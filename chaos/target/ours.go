package target

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

// closeWait is how long our reader may clean up on the server.
const closeWait = 5 * time.Second

// ourReader is this module's reader.
type ourReader struct{}

func (*ourReader) Name() string { return ours }

func (*ourReader) Traits() Traits { return Traits{Ours: true} }

// Read reads by Next until ctx ends, or until the reader has ended by itself.
func (*ourReader) Read(ctx context.Context, in Input) error {
	g := newGate()
	told := newReports(in.Report, g)
	defer g.close()
	nc, err := in.Connect(ctx, append(ourOptions(), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { told.say("connection: %v", err) }))...)
	if err != nil {
		return unless(ctx, fmt.Errorf("connect: %w", err))
	}
	defer lettingGo.Go(nc.Close) // it may wait for a flusher
	js, err := in.jetStream(nc)
	if err != nil {
		return err
	}
	lastTold := make(chan struct{})
	r, err := reader.Open(ctx, js, ourConfig(in, g, lastTold))
	if err != nil {
		return unless(ctx, fmt.Errorf("open: %w", err))
	}
	if in.Opened != nil {
		in.Opened(r.Status)
	}
	in.ready()
	err = read(ctx, r, in, told)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWait)
	defer cancel()
	if closeErr := r.Close(closing); closeErr != nil {
		told.say("close: %v", closeErr)
	}
	select { // what it told of its end comes a little later
	case <-lastTold:
	case <-closing.Done():
	}
	told.end()
	return unless(ctx, err)
}

// unless is the error, unless ctx has ended: what fails then is our own doing.
func unless(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// ourConfig is the reader's, which closes lastTold after the event of its end.
func ourConfig(in Input, g *gate, lastTold chan<- struct{}) reader.Config {
	cfg := in.Config
	cfg.Stream, cfg.Subjects = in.Stream, in.Subjects
	if in.Durable != "" {
		cfg.Durable = in.Durable
	}
	also := cfg.Observer
	cfg.Observer = func(e reader.Event) {
		if also != nil {
			also(e)
		}
		if in.Event != nil && g.enter() {
			in.Event(e)
			g.leave()
		}
		if e.Kind == session.KindClosed || e.Kind == session.KindFailed {
			close(lastTold)
		}
	}
	return cfg
}

// read hands out messages until the reader ends, with its error, or ctx does.
func read(ctx context.Context, r *reader.Reader, in Input, told *reports) error {
	durable := in.Durable != "" || in.Config.Durable != ""
	for {
		m, err := r.Next(ctx)
		var failure *reader.RecoveryError
		switch {
		case err == nil:
		case ctx.Err() == nil && r.Err() == nil && errors.As(err, &failure):
			told.say("raised, and goes on healing: %v", failure) // OnErrorRaise
			continue
		default:
			return err
		}
		d := delivery(m.Data, m.Sequence, m.ConsumerSequence)
		d.Session = m.Session
		in.Read(d)
		in.Pace.Wait(ctx)
		if !durable {
			continue
		}
		if err := m.Ack(); err != nil && ctx.Err() == nil {
			told.say("ack: %v", err)
		}
	}
}
