package commands

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// scene is all that watch reads on and looks at: the server, the connections, the
// proxy, and what judges.
type scene struct {
	lines   teller
	plan    watchPlan
	s       settings
	readers []*watched
	tag     string // marks the consumers of this run

	lab     *lab.Server // nil: a foreign server, or a cluster
	cluster *lab.Cluster
	proxy   *proxy.Proxy
	manage  jetstream.JetStream // a connection that no fault of the wire reaches
	publish jetstream.JetStream // the demo's publisher; nil: none
	read    jetstream.JetStream // the reader's connection

	began   time.Time
	closers []func() // in the order of their making

	mu    sync.Mutex
	acted map[string]int // how often a fault of the wire has acted

	pace chaos.Pace // of what is done with the messages
}

// tagKey marks a consumer with the run of watch it belongs to, so that what is
// left of this run can be told from what other readers use.
const tagKey = "nats-reader.watch"

// setScene makes the scene or, after an error, leaves nothing of it.
func (p *program) setScene(ctx context.Context, s settings, plan watchPlan, told teller, each func(number int, name string) audience) (*scene, error) {
	c := &scene{lines: told, plan: plan, s: s, tag: nuid.Next(), began: time.Now(), acted: map[string]int{}}
	for i, one := range plan.readers() {
		w := c.newWatched(one.name, one.cfg, each(i, one.name))
		w.number = i
		c.readers = append(c.readers, w)
	}
	set := c.setForeign
	if plan.demo {
		set = c.setDemo
	}
	if err := set(ctx, p); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// setForeign connects to a server that is not ours. The reader's connection goes
// through the proxy only where a fault of the wire asks for it.
func (c *scene) setForeign(ctx context.Context, p *program) error {
	if err := c.refuseEarly(); err != nil {
		return err
	}
	manage, err := c.connect(ctx, p)
	if err != nil {
		return err
	}
	c.manage = manage
	var through []nats.Option
	if c.plan.hasFaults(chaos.LayerWire) || c.plan.armed {
		if through, err = c.throughProxy(c.s.servers()); err != nil {
			return err
		}
	}
	if c.read, err = c.connect(ctx, p, through...); err != nil {
		return err
	}
	for _, stream := range c.plan.streams {
		p.warnFilters(ctx, c.manage, stream, c.plan.config.Subjects)
	}
	return nil
}

// refuseEarly tells what the safety rules forbid before anything is connected.
func (c *scene) refuseEarly() error {
	env := c.environment()
	for _, f := range c.plan.faults {
		if entry, _ := chaos.FindFault(f.Name); entry.Layer == chaos.LayerWire {
			continue // they act on our own connection, through the proxy that is to come
		}
		if err := env.Allow(f); err != nil {
			return err
		}
	}
	return nil
}

// throughProxy puts a proxy in front of the servers and gives the options of a
// connection through it.
func (c *scene) throughProxy(upstream string) ([]nats.Option, error) {
	config, first, err := upstreamTLS(c.s)
	if err != nil {
		return nil, err
	}
	px, err := proxy.New(upstream, proxy.Options{
		Name: "watch", OnFiring: c.wireActed, APIPrefix: c.s.context.JSAPIPrefix(), UpstreamTLS: config, UpstreamTLSFirst: first, Dial: c.s.dial(),
		OnNotice: func(n proxy.Notice) { c.lines.note("proxy: " + noticeText(n)) },
	})
	if err != nil {
		return nil, usage{problem: err.Error(), hint: "faults of the wire need nats:// or tls:// servers", cause: err}
	}
	c.proxy = px
	c.closers = append(c.closers, func() { px.Close() }) //nolint:errcheck // nothing can be done about it
	return []nats.Option{nats.SetCustomDialer(px.Dialer()), plainInside}, nil
}

// wireActed tells the first thing a fault of the wire does, and counts the rest.
func (c *scene) wireActed(f proxy.Firing) {
	c.mu.Lock()
	c.acted[f.Fault]++
	first := c.acted[f.Fault] == 1
	c.mu.Unlock()
	if first {
		c.lines.acted(f)
	}
}

// actedSoFar is how often a fault has acted; negative for one that is not of the wire.
func (c *scene) actedSoFar(s chaos.Spec) int {
	if whereOf(s) != chaos.LayerWire {
		return -1
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.acted[s.Fault()]
}

// whereOf is where a fault acts.
func whereOf(s chaos.Spec) chaos.Layer {
	f, _ := chaos.FindFault(s.Name)
	return f.Layer
}

// connect makes a connection that close ends.
func (c *scene) connect(ctx context.Context, p *program, extra ...nats.Option) (jetstream.JetStream, error) {
	nc, err := p.connect(ctx, c.s, extra...)
	if err != nil {
		return nil, err
	}
	c.closers = append(c.closers, nc.Close)
	return c.s.jetStream(nc)
}

// environment is what faults act on before there is a reader.
func (c *scene) environment() *chaos.Environment {
	env := &chaos.Environment{
		Stream: c.plan.config.Stream, JS: c.manage, Proxy: c.proxy, Lab: c.lab, Cluster: c.cluster,
		AllowServerFaults: c.plan.allowFaults, TargetName: c.plan.targetName, Journal: c.plan.journal,
		Pace: &c.pace,
	}
	if c.plan.demo {
		env.ReaderUser, env.Connected = true, c.read.Conn().ConnectedServerName
	}
	return env
}

// environmentOf is what faults act on, and the reader whose consumer it is.
func (c *scene) environmentOf(number int) *chaos.Environment {
	w := c.readers[number]
	env := c.environment()
	env.Status, env.Stream = w.r.Status, w.stream()
	return env
}

// close ends the connections, the proxy and the server, newest first.
func (c *scene) close() {
	for len(c.closers) > 0 {
		last := len(c.closers) - 1
		c.closers[last]()
		c.closers = c.closers[:last]
	}
}

// orphans counts the consumers of this run on the server, or says that it cannot.
func (c *scene) orphans(ctx context.Context, stream string) int {
	s, err := c.manage.Stream(ctx, stream)
	if err != nil {
		return oracle.NotCounted
	}
	n := 0
	list := s.ListConsumers(ctx)
	for info := range list.Info() {
		if info.Config.Metadata[tagKey] == c.tag && chaos.Ours(info.Config) {
			n++
		}
	}
	if list.Err() != nil {
		return oracle.NotCounted
	}
	return n
}

// describe says what is read, for the first line.
func (c *scene) describe() string {
	if len(c.plan.streams) > 1 {
		return fmt.Sprintf("reading streams %s with %d readers", strings.Join(c.plan.streams, ", "), len(c.readers))
	}
	text := "reading " + readerTarget(c.plan.config)
	if len(c.readers) > 1 {
		text += fmt.Sprintf(" with %d readers", len(c.readers))
	}
	return text
}
