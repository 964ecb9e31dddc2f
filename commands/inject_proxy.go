package commands

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/proxy/control"
)

// injectProxy makes a fault on a proxy through its control. The proxy ends it by
// itself too, should this process be killed.
func (p *program) injectProxy(c *cli.Context, w injectPlan) error {
	client, err := control.NewClient(c.String(flagProxy), controlToken(c))
	if err != nil {
		return usage{problem: fmt.Sprintf("flag --%s: %v", flagProxy, err), hint: "write --proxy http://127.0.0.1:8474", cause: err}
	}
	defer client.Close()
	ask := func(ctx context.Context, do func(context.Context) error) error {
		ctx, cancel := context.WithTimeout(ctx, c.Duration(flagTimeout))
		defer cancel()
		return noControl(client, do(ctx))
	}
	if w.dryRun {
		return ask(c.Context, func(ctx context.Context) error { return p.dryRunProxy(ctx, client, w) })
	}
	spec := w.fault
	spec.For = 0
	var fault control.Fault
	err = ask(c.Context, func(ctx context.Context) (err error) {
		fault, err = client.Inject(ctx, spec.Fault(), w.length)
		return err
	})
	if err != nil {
		return err
	}
	lines := &printer{json: w.json, out: p.stdout, gone: func() {}}
	lines.change(control.Change{Time: time.Now(), Fault: fault})
	if !fault.Once {
		waitFor(c.Context, w.length)
	}
	acted := 0
	err = ask(context.WithoutCancel(c.Context), func(ctx context.Context) error {
		if err := client.Undo(ctx, fault.ID); err != nil && !errors.Is(err, control.ErrNoSuchFault) {
			return fmt.Errorf("end of fault %s: %w", fault.Fault, err)
		}
		_, total, err := client.Firings(ctx, fault.ID, 0)
		acted = total
		return err
	})
	if err != nil {
		return err
	}
	lines.over(time.Now(), fault, acted)
	if acted == 0 {
		lines.note("fault " + spec.Fault() + " met nothing to act on")
	}
	if c.Context.Err() != nil {
		return outcome{exitInterrupted}
	}
	return nil
}

// dryRunProxy asks the proxy who it is, and no more.
func (p *program) dryRunProxy(ctx context.Context, client *control.Client, w injectPlan) error {
	proxies, err := client.Proxies(ctx)
	if err != nil {
		return err
	}
	at := client.URL()
	for name, px := range proxies {
		at += fmt.Sprintf(" (proxy %s in front of %s, %s)", name, px.Upstream, counted(len(px.Connections), "connection"))
	}
	spec := w.fault
	spec.For = 0
	body := fmt.Sprintf(`POST /faults {"fault":%q}`, spec.Fault())
	var ends []string
	if w.length > 0 {
		body = fmt.Sprintf(`POST /faults {"fault":%q,"for":%q}`, spec.Fault(), w.length.String())
		ends = []string{"DELETE /faults/{id}"}
	}
	return p.printDryRun(w, at, chaos.Preview{Does: []string{body}, Ends: ends})
}

// noControl says in one line why a control did not do what it was asked for.
func noControl(client *control.Client, err error) error {
	if err == nil {
		return nil
	}
	u := usage{problem: fmt.Sprintf("the proxy at %s: %v", client.URL(), err), cause: err}
	var answer *control.Error
	var network *net.OpError
	var request *url.Error
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &answer):
		u.problem, u.hint = fmt.Sprintf("the proxy at %s: %s", client.URL(), answer.Text), answer.Hint
		if answer.Status == http.StatusUnauthorized {
			u.hint = "give the token of the proxy with --" + flagControlToken + " or " + controlTokenEnv
		}
	case errors.Is(err, context.DeadlineExceeded):
		u.problem = fmt.Sprintf("no proxy at %s: no answer in time", client.URL())
		u.hint = "check --proxy, and --timeout on a slow link"
	case errors.As(err, &network):
		u.problem = fmt.Sprintf("no proxy at %s: %v", client.URL(), network.Err)
		u.hint = "start one: nats-reader proxy --upstream nats://127.0.0.1:4222 --control " + hostOf(client.URL())
	case errors.Is(err, control.ErrNoControl), errors.As(err, &request):
		u.problem = fmt.Sprintf("no proxy at %s: %v", client.URL(), control.ErrNoControl)
		u.hint = "--proxy is the address of its --control, not of its --listen"
	}
	return u
}

// waitFor waits for a time, at most until ctx ends.
func waitFor(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
