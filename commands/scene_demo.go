package commands

import (
	"context"
	"fmt"

	"github.com/nats-io/jsm.go/natscontext"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

// What the demo brings.
const (
	demoStream  = "DEMO"
	demoSubject = "demo.events"
	demoWriter  = "demo"
	demoRate    = 100 // messages a second
	// demoConsumers bounds the stream's, for fill-consumers on every server; a reader has three at most.
	demoConsumers = 32
)

// setDemo starts a server with a stream; the reader's connection goes through the
// proxy, the publisher's and the management's do not.
func (c *scene) setDemo(ctx context.Context, p *program) error {
	server, err := lab.Start(ctx, lab.Options{})
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("the demo's server: %w", err)
	}
	c.lab = server
	c.closers = append(c.closers, func() {
		if err := server.Close(); err != nil {
			p.note("warning: %v", err)
		}
	})
	where, err := natscontext.New("", false, natscontext.WithServerURL(server.URL()))
	if err != nil {
		return err
	}
	c.s = settings{context: where, timeout: closeTimeout, name: "nats-reader " + p.version}
	if c.manage, err = c.connect(ctx, p); err != nil {
		return err
	}
	if c.publish, err = c.connect(ctx, p); err != nil {
		return err
	}
	through, err := c.throughProxy(server.URL())
	if err != nil {
		return err
	}
	if c.read, err = c.connect(ctx, p, through...); err != nil {
		return err
	}
	_, err = c.manage.CreateStream(ctx, jetstream.StreamConfig{Name: demoStream, Subjects: []string{"demo.>"}, MaxConsumers: demoConsumers})
	if err != nil {
		return fmt.Errorf("the demo's stream: %w", err)
	}
	c.lines.note("demo server is ready", "version", c.manage.Conn().ConnectedServerVersion(), "url", server.URL(), "stream", demoStream)
	return nil
}
