package commands

import (
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/nats-io/jsm.go/natscontext"
	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/chaos/proxy/control"
)

// controlTokenFlag is the same for the control and for who asks it.
func controlTokenFlag() cli.Flag {
	return &cli.StringFlag{Name: flagControlToken, EnvVars: []string{controlTokenEnv}, Usage: "`TOKEN` of the proxy's HTTP control"}
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
	options                proxy.Options // all but what it tells
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
	if err := w.checkAddresses(c); err != nil {
		return w, err
	}
	if !c.IsSet(flagControl) && token(c) && onLoopback(w.listen) {
		return w, usage{problem: "flag --" + flagControlToken + " without --" + flagControl, hint: "write --control 127.0.0.1:8474 as well"}
	}
	return w, nil
}

// checkAddresses wants a token for every address that other machines reach.
func (w *proxyPlan) checkAddresses(c *cli.Context) error {
	for _, f := range []struct{ name, value, example string }{{flagListen, w.listen, defaultListen}, {flagControl, w.control, "127.0.0.1:8474"}} {
		if f.value == "" && !c.IsSet(f.name) {
			continue
		}
		if _, _, err := net.SplitHostPort(f.value); err != nil {
			return usage{problem: fmt.Sprintf("flag --%s: %q is no address", f.name, f.value), hint: fmt.Sprintf("write --%s %s", f.name, f.example), cause: err}
		}
		if w.token == "" && !onLoopback(f.value) {
			return cannotListen(f.name, f.value, control.ErrTokenNeeded)
		}
	}
	return nil
}

// onLoopback says whether an address is one that only this machine reaches. A name other than localhost may point
// anywhere.
func onLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
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
	switch {
	case hasLogin(w.upstream):
		return usage{
			problem: "flag --" + flagUpstream + ": the login in the URL would not be used: each client logs in by itself",
			hint:    "write --upstream " + withoutLogin(w.upstream) + " and give the login to the clients",
		}
	case strings.TrimSpace(w.upstream) != "":
	case c.IsSet(flagUpstream):
		return usage{problem: "flag --" + flagUpstream + " is empty", hint: "write --upstream nats://127.0.0.1:4222"}
	default:
		if w.upstream = s.servers(); w.upstream == "" {
			return usage{problem: "flag --" + flagUpstream + " is missing", hint: "write --upstream nats://127.0.0.1:4222"}
		}
	}
	w.options.APIPrefix = s.context.JSAPIPrefix()
	w.options.Dial = s.dial()
	if w.options.UpstreamTLS, w.options.UpstreamTLSFirst, err = upstreamTLS(s); err != nil {
		return err
	}
	w.options.ServerTLS, err = certificateOf(c.String(flagListenCert), c.String(flagListenKey))
	w.options.ServerTLSFirst = c.Bool(flagListenFirst)
	if err == nil && w.options.ServerTLS == nil && w.options.ServerTLSFirst {
		return usage{problem: "flag --" + flagListenFirst + " without a certificate", hint: "give one with --" + flagListenCert + " and --" + flagListenKey}
	}
	w.options.CloseMalformed = c.Bool(flagMalformed)
	if layerOf(c, flagTimeout) > layerDefault {
		w.options.DialTimeout, w.options.InfoTimeout = s.timeout, s.timeout
	}
	return err
}

// schemeOf is how the proxy speaks to an upstream, for what it tells.
func (w *proxyPlan) schemeOf(address string) string {
	host, _, _ := strings.Cut(address, ":")
	for one := range strings.SplitSeq(w.upstream, ",") {
		if rest, tls := strings.CutPrefix(strings.ToLower(strings.TrimSpace(one)), "tls://"); tls && (rest == address || rest == host) {
			return "tls://"
		}
	}
	if w.options.UpstreamTLS != nil {
		return "tls://"
	}
	return "nats://"
}

// token says whether a token for the control is on the command line.
func token(c *cli.Context) bool {
	return layerOf(c, flagControlToken) == layerFlag || layerOf(c, flagToken) == layerFlag
}
