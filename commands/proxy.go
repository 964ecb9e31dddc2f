package commands

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/jsm.go/natscontext"
	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/chaos/proxy/control"
)

const (
	flagListen       = "listen"
	flagUpstream     = "upstream"
	flagControl      = "control"
	flagControlToken = "control-token"
	flagFault        = "fault"
	flagListenCert   = "listen-cert"
	flagListenKey    = "listen-key"
)

const (
	defaultListen = "127.0.0.1:14222"
	// proxyName is the proxy's name in its control.
	proxyName = "nats"
	// controlEnd is how long a request to the control may go on at the end.
	controlEnd = 2 * time.Second
)

const proxyDescription = `Stands in front of any nats-server, for any client, and lets faults act on single frames and on
whole connections. Clients connect to --listen as they would to the server, with the same login.

Faults come from --fault, which may be given several times, and from the HTTP control, which
nats-reader inject --proxy and any HTTP client can use:

nats-reader proxy --upstream nats://127.0.0.1:4222 --control 127.0.0.1:8474
nats-reader inject 'drop-message(nth=3)' --proxy http://127.0.0.1:8474 --for 10s
curl -d '{"fault":"drop-message(nth=3)","for":"10s"}' http://127.0.0.1:8474/faults

TLS with the server is that of --tlsca, --tlscert, --tlskey and --tlsfirst, or of the context where
--upstream is not given; it ends at the proxy, so that faults on frames work, and clients need none
unless --listen-cert and --listen-key say so.

The control asks for a token when one is set by --control-token, by --token on this command line or by
NATS_READER_CONTROL_TOKEN, and needs one on any address but loopback.

What listens, each thing a fault does, and remarks are lines on stdout. Ctrl-C clears the faults, closes
the connections and ends with exit code 130.`

func (p *program) proxyCommand() *cli.Command {
	return &cli.Command{
		Name: "proxy", Usage: "a fault proxy in front of any nats-server, for any client",
		Description: proxyDescription,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: flagListen, Usage: "`ADDRESS` for clients; port 0 is any free one", Value: defaultListen, DefaultText: defaultListen},
			&cli.StringFlag{Name: flagUpstream, Usage: "`URL` of the server; of several, separated by commas, one that answers", DefaultText: "that of --server or the context"},
			&cli.StringFlag{Name: flagListenCert, Usage: "`FILE` of the TLS certificate shown to clients, which then have to speak TLS"},
			&cli.StringFlag{Name: flagListenKey, Usage: "`FILE` of its key"},
			&cli.StringFlag{Name: flagControl, Usage: "`ADDRESS` of the HTTP control, such as 127.0.0.1:8474", DefaultText: "none"},
			controlTokenFlag(),
			&cli.StringSliceFlag{Name: flagFault, Usage: "`FAULT@5s+10s`: put a fault into force, may be repeated"},
			formatFlag(),
			boolFlag(flagJSON, "", "short for --format json"),
		},
		Action: p.proxy,
	}
}

// controlTokenFlag is the same for the control and for who asks it.
func controlTokenFlag() cli.Flag {
	return &cli.StringFlag{Name: flagControlToken, EnvVars: []string{"NATS_READER_CONTROL_TOKEN"}, Usage: "`TOKEN` of the proxy's HTTP control"}
}

// controlToken is the token of the control. The --token of a connection to a server
// means it as well, when it is on the command line: there is no such connection.
func controlToken(c *cli.Context) string {
	if token := c.String(flagControlToken); token != "" {
		return token
	}
	if layerOf(c, flagToken) == layerFlag {
		return c.String(flagToken)
	}
	return ""
}

// proxyPlan is what the command line of proxy asks for.
type proxyPlan struct {
	listen, control, token string
	upstream               string
	options                proxy.Options // TLS, and the API's prefix
	faults                 []chaos.Spec
	json                   bool
}

func (p *program) proxyPlanOf(c *cli.Context) (proxyPlan, error) {
	w := proxyPlan{
		listen: c.String(flagListen), upstream: c.String(flagUpstream), control: c.String(flagControl), token: controlToken(c),
	}
	var err error
	if w.json, err = wantsJSON(c); err != nil {
		return w, err
	}
	if c.NArg() > 0 {
		return w, usage{problem: fmt.Sprintf("proxy takes no argument: %q is one too many", c.Args().First()), hint: "name the server with --upstream"}
	}
	for _, text := range c.StringSlice(flagFault) {
		s, err := chaos.ParseSpec(text)
		if err != nil {
			return w, err
		}
		if f, _ := chaos.FindFault(s.Name); f.Layer != chaos.LayerWire {
			return w, usage{problem: fmt.Sprintf("flag --%s: %s does not act on the wire", flagFault, s.Name), hint: "it can be had with " + layerWords[f.Layer]}
		}
		w.faults = append(w.faults, s)
	}
	if err := p.readUpstream(c, &w); err != nil {
		return w, err
	}
	if !c.IsSet(flagControl) && token(c) {
		return w, usage{problem: "flag --" + flagControlToken + " without --" + flagControl, hint: "write --control 127.0.0.1:8474 as well"}
	}
	return w, nil
}

// readUpstream says which server, and how to speak to it. A context is left aside
// where --upstream names another server.
func (p *program) readUpstream(c *cli.Context, w *proxyPlan) error {
	below, err := natscontext.New("", false)
	if w.upstream == "" || c.String(flagContext) != "" {
		below, err = loadContext(c, c.String(flagContext))
	}
	if err != nil {
		return err
	}
	s, err := p.settingsFrom(c, below)
	if err != nil {
		return err
	}
	if w.upstream == "" {
		if w.upstream = s.servers(); w.upstream == "" {
			return usage{problem: "flag --" + flagUpstream + " is missing", hint: "write --upstream nats://127.0.0.1:4222"}
		}
	}
	w.options.APIPrefix = s.context.JSAPIPrefix()
	if w.options.UpstreamTLS, w.options.UpstreamTLSFirst, err = upstreamTLS(s); err != nil {
		return err
	}
	w.options.ServerTLS, err = certificateOf(c.String(flagListenCert), c.String(flagListenKey))
	return err
}

// token says whether a token for the control is on the command line.
func token(c *cli.Context) bool {
	return layerOf(c, flagControlToken) == layerFlag || layerOf(c, flagToken) == layerFlag
}

func (p *program) proxy(c *cli.Context) error {
	plan, err := p.proxyPlanOf(c)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(c.Context)
	defer stop()
	lines := &printer{json: plan.json, out: p.stdout, gone: stop}
	unwatch := watchOutput(p.stdout, stop)
	defer unwatch()
	if err := p.runProxy(ctx, plan, lines); err != nil {
		return err
	}
	if c.Context.Err() != nil {
		return outcome{exitInterrupted}
	}
	return nil // nobody reads the lines any more
}

// runProxy serves until ctx ends, and leaves nothing.
func (p *program) runProxy(ctx context.Context, plan proxyPlan, lines *printer) error {
	remarks := newFeed(lines)
	defer remarks.close()
	options := plan.options
	options.OnFiring = func(f proxy.Firing) {
		remarks.offer(func() { lines.acted(f, "id", fmt.Sprint(f.ID), "client", f.Frame.Client) })
	}
	options.OnNotice = func(n proxy.Notice) { remarks.offer(func() { lines.noteAt(n.Time, redact(n.Text)) }) }
	px, err := proxy.New(plan.upstream, options)
	if err != nil {
		return usage{problem: redact(err.Error()), hint: "write --upstream nats://host:port", cause: err}
	}
	defer px.Close() //nolint:errcheck // it gives none
	ctl := control.New(px, control.Options{
		Name: proxyName, Version: p.version, Token: plan.token,
		OnChange: func(c control.Change) { remarks.say(func() { lines.change(c) }) },
	})
	defer ctl.Close()
	facts, end, err := listenBoth(ctx, px, ctl, plan)
	if err != nil {
		return err
	}
	defer end()
	lines.note("proxy is ready", facts...)
	scheduled := schedule(ctx, ctl, plan.faults, func(err error) {
		remarks.say(func() { lines.note("a fault could not be put into force", "error", err.Error()) })
	})
	<-ctx.Done()
	scheduled()
	end()
	ctl.Close()
	px.Close() //nolint:errcheck // it gives none
	remarks.close()
	traffic := px.Traffic()
	lines.note("proxy ended", "connections", fmt.Sprint(traffic.Accepted), "refused", fmt.Sprint(traffic.Refused),
		"bytes_up", fmt.Sprint(traffic.Up.Bytes), "bytes_down", fmt.Sprint(traffic.Down.Bytes))
	return nil
}

// listenBoth opens the port for clients and that of the control. end closes the
// latter; calling it again is harmless.
func listenBoth(ctx context.Context, px *proxy.Proxy, ctl *control.Control, plan proxyPlan) (facts []string, end func(), err error) {
	if _, err := px.Listen(plan.listen); err != nil {
		return nil, nil, cannotListen(flagListen, plan.listen, err)
	}
	facts = []string{"listen", px.URL(), "upstream", "nats://" + px.Upstream()}
	if plan.control == "" {
		return facts, func() {}, nil
	}
	server, err := ctl.Listen(ctx, plan.control)
	if err != nil {
		return nil, nil, cannotListen(flagControl, plan.control, err)
	}
	return append(facts, "control", server.URL()), func() {
		ctx, cancel := context.WithTimeout(context.Background(), controlEnd)
		defer cancel()
		_ = server.Close(ctx) // what is still under way is cut
	}, nil
}

// cannotListen says in one line which port is not to be had, and why.
func cannotListen(flag, addr string, err error) error {
	u := usage{cause: err, hint: "choose another --" + flag + ", or port 0 for any free one"}
	reason := err
	var network *net.OpError
	switch {
	case errors.Is(err, control.ErrTokenNeeded):
		u.hint = "set NATS_READER_CONTROL_TOKEN or --" + flagControlToken + ", or listen on 127.0.0.1"
		reason = control.ErrTokenNeeded
	case errors.As(err, &network):
		reason = network.Err
	}
	text := strings.TrimPrefix(reason.Error(), "bind: ")
	u.problem = fmt.Sprintf("flag --%s: cannot listen on %s: %s", flag, addr, text)
	return u
}

// schedule puts the faults of the command line into force: those without a time at
// once and in order, the others each at its time. stop waits for those under way.
func schedule(ctx context.Context, ctl *control.Control, faults []chaos.Spec, failed func(error)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	apply := func(s chaos.Spec) {
		if _, err := ctl.Apply(proxy.Fault{Name: s.Name, Params: s.Params, For: s.For}); err != nil {
			failed(err)
		}
	}
	var waiting sync.WaitGroup
	for _, s := range faults {
		if s.At == 0 {
			apply(s)
			continue
		}
		waiting.Go(func() {
			due := time.NewTimer(s.At)
			defer due.Stop()
			select {
			case <-due.C:
				apply(s)
			case <-ctx.Done():
			}
		})
	}
	return func() {
		cancel()
		waiting.Wait()
	}
}
