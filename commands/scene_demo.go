package commands

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/jsm.go/natscontext"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/lab"
)

// What the demo brings.
const (
	demoStream  = "DEMO"
	demoSubject = "demo.events"
	demoWriter  = "demo"
	demoRate    = 100 // messages a second
	// demoConsumers bounds the stream's, for fill-consumers on every server; a reader has three at most, and many
	// readers have as much room.
	demoConsumers = 32
)

// demoReplicas is how many nodes of a cluster keep the stream.
const demoReplicas = 3

// demoElection bounds the first elections; the stream is asked for again when a request
// had no answer within demoRequest, or was refused, and demoRetry went by.
const (
	demoElection = 60 * time.Second
	demoRequest  = 5 * time.Second
	demoRetry    = 100 * time.Millisecond
)

// demoLameDuck lets a node in lame-duck mode end soon.
const demoLameDuck = "lame_duck_grace_period: 1s\nlame_duck_duration: 30s\n"

// setDemo starts a server, or a cluster, with a stream; the reader's connection goes
// through the proxy, the publisher's and the management's do not.
func (c *scene) setDemo(ctx context.Context, p *program) error {
	url, err := c.startServers(ctx, p)
	if err != nil {
		return err
	}
	where, err := natscontext.New("", false, natscontext.WithServerURL(url))
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
	through, err := c.throughProxy(url)
	if err != nil {
		return err
	}
	if c.read, err = c.connect(ctx, p, append(through, nats.UserInfo(chaos.ReaderUser, chaos.ReaderPassword))...); err != nil {
		return err
	}
	config := jetstream.StreamConfig{Name: demoStream, Subjects: []string{"demo.>"}, MaxConsumers: max(demoConsumers, 3*len(c.readers)+2)}
	if c.cluster != nil {
		config.Replicas = min(demoReplicas, len(c.cluster.Nodes()))
	}
	if err := c.makeStream(ctx, config); err != nil {
		return fmt.Errorf("the demo's stream: %w", err)
	}
	version := c.manage.Conn().ConnectedServerVersion()
	if c.cluster != nil {
		c.lines.note("demo cluster is ready", "version", version, "nodes", strconv.Itoa(len(c.cluster.Nodes())),
			"url", url, "stream", demoStream, "replicas", strconv.Itoa(config.Replicas))
		return nil
	}
	c.lines.note("demo server is ready", "version", version, "url", url, "stream", demoStream)
	return nil
}

// makeStream waits for the first elections, which may take longer than a request does.
// In a young cluster a node may count as away for a moment, and the stream be refused
// for it; and without a leader of its JetStream a cluster answers nothing (seen on
// 2.15.3), so each request has a time of its own.
func (c *scene) makeStream(ctx context.Context, config jetstream.StreamConfig) error {
	limited, cancel := context.WithTimeout(ctx, demoElection)
	defer cancel()
	again := time.NewTicker(demoRetry)
	defer again.Stop()
	for {
		_, err := c.createStream(limited, config)
		if err == nil || c.cluster == nil || limited.Err() != nil {
			return err
		}
		select {
		case <-again.C:
		case <-limited.Done():
			return err
		}
	}
}

func (c *scene) createStream(ctx context.Context, config jetstream.StreamConfig) (jetstream.Stream, error) {
	ctx, cancel := context.WithTimeout(ctx, demoRequest)
	defer cancel()
	return c.manage.CreateStream(ctx, config)
}

// startServers gives where clients connect.
func (c *scene) startServers(ctx context.Context, p *program) (url string, err error) {
	options := lab.Options{Config: chaos.UserConfig() + demoLameDuck}
	var stop func() error
	if c.plan.nodes > 1 {
		c.cluster, err = lab.StartCluster(ctx, lab.ClusterOptions{Nodes: c.plan.nodes, Server: options})
		if err == nil {
			url, stop = c.cluster.URL(), c.cluster.Close
		}
	} else {
		c.lab, err = lab.Start(ctx, options)
		if err == nil {
			url, stop = c.lab.URL(), c.lab.Close
		}
	}
	if err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return "", fmt.Errorf("the demo's server: %w", err)
	}
	c.closers = append(c.closers, func() {
		if err := stop(); err != nil {
			p.note("warning: %v", err)
		}
	})
	return url, nil
}
