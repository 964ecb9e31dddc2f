package commands

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

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
	flagListenFirst  = "listen-tlsfirst"
	flagMalformed    = "close-malformed"
)

const (
	defaultListen = "127.0.0.1:14222"
	// proxyName is the proxy's name in its control.
	proxyName = "nats"
	// controlEnd is how long a request to the control may go on at the end.
	controlEnd = 2 * time.Second
)

const controlTokenEnv = "NATS_READER_CONTROL_TOKEN"

const proxyDescription = `Stands in front of any nats-server, for any client, and lets faults act on
single frames and on whole connections. Clients connect to --listen as they
would to the server, with the same login.

Faults come from --fault, which may be given several times, and from the HTTP
control, which nats-reader inject --proxy and any HTTP client can use (POST
{"fault":"drop-message(nth=3)","for":"10s"} to /faults).

TLS with the server is that of --tlsca, --tlscert, --tlskey and --tlsfirst,
or of the context where --upstream is not given; it ends at the proxy, so
that faults on frames work, and clients need none unless --listen-cert and
--listen-key say so (--listen-tlsfirst: before the server's INFO).

An upstream that is down, or accepts and says no INFO within 2s (1s while
another is left to try, or what --timeout says), is passed over; where none
is left the client's connection is closed.

The control asks for a token when one is set by --control-token, by --token
on this command line or by NATS_READER_CONTROL_TOKEN. An address of --listen
or --control that is not loopback needs one, also where there is no control
to ask for it: other machines reach the server through the proxy.

What listens and each thing a fault does are lines on stdout, remarks are
lines on stderr (with --format json on stdout too). Ctrl-C clears the faults,
closes the connections and ends with exit code 130.`

var proxyExamples = []example{
	{line: "nats-reader proxy --upstream nats://127.0.0.1:4222 \\\n   --listen 127.0.0.1:14222 --control 127.0.0.1:8474", about: "clients connect to 14222; faults come through the control", needs: needServer, until: "control"},
	{line: "nats-reader proxy --upstream nats://127.0.0.1:4222 \\\n   --listen 127.0.0.1:14222 --fault 'latency(delay=50ms)'", about: "a slow line, from the first byte on", needs: needServer, until: "latency"},
}

func (p *program) proxyCommand() *cli.Command {
	return &cli.Command{
		Name: "proxy", Usage: "a fault proxy in front of any nats-server, for any client",
		Description: proxyDescription,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: flagListen, Usage: "`ADDRESS` for clients; port 0 is any free one", Value: defaultListen, DefaultText: defaultListen},
			&cli.StringFlag{Name: flagUpstream, Usage: "`URL` of the server; of several, separated by commas, one that answers", DefaultText: "that of --server or the context"},
			&cli.StringFlag{Name: flagListenCert, Usage: "`FILE` of the TLS certificate shown to clients, which then have to speak TLS"},
			&cli.StringFlag{Name: flagListenKey, Usage: "`FILE` of its key"},
			boolFlag(flagListenFirst, "", "TLS with clients begins before the server's INFO, as with handshake_first of a server"),
			boolFlag(flagMalformed, "", "end a connection that is not the NATS client protocol, instead of passing it on unread"),
			&cli.StringFlag{Name: flagControl, Usage: "`ADDRESS` of the HTTP control, such as 127.0.0.1:8474", DefaultText: "none"},
			controlTokenFlag(),
			&cli.StringSliceFlag{Name: flagFault, Usage: "`FAULT@5s+10s`: put a fault into force, may be repeated"},
			formatFlag(),
			boolFlag(flagJSON, "", "short for --format json"),
		},
		Action: p.proxy,
	}
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
		remarks.offer(func() {
			lines.acted(f, "id", fmt.Sprint(f.ID), "connection", fmt.Sprint(f.Frame.Conn), "client", f.Frame.Client)
		})
	}
	options.OnNotice = func(n proxy.Notice) {
		remarks.offer(func() {
			text := noticeText(n)
			p.note("%s", text)
			if plan.json {
				lines.noteAt(n.Time, text)
			}
		})
	}
	px, err := proxy.New(plan.upstream, options)
	if err != nil {
		return usage{problem: "flag --" + flagUpstream + ": " + redact(err.Error()), hint: "write --upstream nats://host:port", cause: err}
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
	listen := px.URL()
	if plan.options.ServerTLS != nil {
		listen = "tls://" + strings.TrimPrefix(listen, "nats://")
	}
	facts = []string{"listen", listen, "upstream", plan.schemeOf(px.Upstream()) + px.Upstream()}
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
	if inner := errors.Unwrap(err); inner != nil {
		reason = inner
	}
	var network *net.OpError
	switch {
	case errors.Is(err, control.ErrTokenNeeded):
		u.hint = "set " + controlTokenEnv + " or --" + flagControlToken + ", or listen on 127.0.0.1"
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
