package proxy

import (
	"context"
	"crypto/tls"
	"fmt"
	"strings"
	"time"
)

// How long a server may take to its INFO, where Options.InfoTimeout does not say. It is shorter where another
// upstream is left to try: clients wait 2s for the INFO by default, and are to get in at the other one.
const (
	lastInfoTimeout  = 2 * time.Second
	otherInfoTimeout = time.Second
)

// Upstream returns the host:port of the server that clients are connected to: the first, or the one that
// answered last.
func (p *Proxy) Upstream() string { return p.upstreams[p.current.Load()].address }

// dial connects to the upstream that answered last, or else to the next that does. A server answers with its
// INFO: one that only accepts is passed over like one that is down.
func (p *Proxy) dial(ctx context.Context) (link, error) {
	first := p.current.Load()
	var failed []string
	for i := range p.upstreams {
		n := (int(first) + i) % len(p.upstreams)
		server, err := p.reach(ctx, p.upstreams[n], i == len(p.upstreams)-1)
		if err == nil {
			if p.told.Swap(nil) != nil {
				p.notice(nil, fmt.Sprintf("%s: the upstream %s answers again", p.options.Name, p.upstreams[n].address))
			}
			// Of many connections that found it out at once, one tells.
			if i > 0 && p.current.CompareAndSwap(first, int32(n)) {
				p.notice(nil, fmt.Sprintf("%s: clients go to the upstream %s from here on: %s", p.options.Name, p.upstreams[n].address, strings.Join(failed, "; ")))
			}
			return server, nil
		}
		if p.ctx.Err() != nil {
			return nil, fmt.Errorf("%s: connection refused: %w", p.options.Name, ErrClosed)
		}
		if i == len(p.upstreams)-1 || ctx.Err() != nil {
			p.refused.Add(1)
			before := strings.Join(append(failed, ""), "; ")
			return nil, fmt.Errorf("%s: connect to the upstream: %s%w", p.options.Name, before, err)
		}
		failed = append(failed, err.Error())
	}
	return nil, fmt.Errorf("%s: there is no upstream", p.options.Name) // New takes none
}

// tellRefusal tells why a client is closed. The next clients are closed for the same reason: that is told once.
func (p *Proxy) tellRefusal(why string) {
	if before := p.told.Swap(&why); before == nil || *before != why {
		p.notice(nil, why)
	}
}

// reach connects to one server and reads its INFO, with TLS where it is wanted. last tells that no other
// server is left to try.
func (p *Proxy) reach(ctx context.Context, u upstream, last bool) (*greetedLink, error) {
	conn, err := p.connectTo(ctx, u)
	if err != nil {
		return nil, err
	}
	wait := p.options.InfoTimeout
	switch {
	case wait > 0:
	case last:
		wait = lastInfoTimeout
	default:
		wait = otherInfoTimeout
	}
	server, err := p.greetedBy(ctx, u, conn, wait)
	if err != nil {
		conn.Close() //nolint:errcheck // nothing was sent
		return nil, err
	}
	return server, nil
}

// connectTo opens the connection to one server.
func (p *Proxy) connectTo(ctx context.Context, u upstream) (link, error) {
	ctx, cancel := context.WithTimeout(ctx, p.options.DialTimeout)
	defer cancel()
	conn, err := p.options.Dial(ctx, "tcp", u.address)
	if err != nil {
		return nil, fmt.Errorf("%w: check the address, and that the server runs", err)
	}
	l, ok := conn.(link)
	if !ok {
		conn.Close() //nolint:errcheck // nothing was sent
		return nil, fmt.Errorf("connect to %s: what Options.Dial gives is a %T, which has no CloseWrite", u.address, conn)
	}
	return l, nil
}

// secureServer begins TLS as a client.
func (p *Proxy) secureServer(ctx context.Context, u upstream, tcp link) (link, error) {
	ctx, cancel := context.WithTimeout(ctx, p.options.DialTimeout)
	defer cancel()
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if p.options.UpstreamTLS != nil {
		config = p.options.UpstreamTLS.Clone()
	}
	if config.ServerName == "" {
		config.ServerName = u.host()
	}
	conn := tls.Client(tcp, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, fmt.Errorf("TLS with the upstream %s: %w: %s", u.address, err, p.serverMisfit(err))
	}
	return &secureLink{Conn: conn, under: tcp}, nil
}
