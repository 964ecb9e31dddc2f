package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

const defaultPort = "4222"

// upstream is one server the proxy may stand in front of.
type upstream struct {
	address string // host:port
	tls     bool   // tls://: a server that does not speak it is an error
}

func (u upstream) host() string {
	host, _, _ := net.SplitHostPort(u.address)
	return host
}

// parseUpstreams reads what names the servers: one, or several with commas between them. Errors never repeat
// credentials.
func parseUpstreams(list string) ([]upstream, error) {
	var out []upstream
	for one := range strings.SplitSeq(list, ",") {
		u, err := parseUpstream(one)
		if err != nil {
			return nil, err
		}
		out = append(out, u)
	}
	return out, nil
}

func parseUpstream(text string) (u upstream, err error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return u, fmt.Errorf("proxy upstream is empty: want nats://host:port or host:port")
	}
	scheme, _, has := strings.Cut(text, "://")
	if !has {
		scheme, text = "nats", "nats://"+text
	}
	switch strings.ToLower(scheme) {
	case "nats":
	case "tls":
		u.tls = true
	case "ws", "wss":
		return u, fmt.Errorf("proxy upstream has scheme %s: WebSocket is not spoken; use the nats:// port of the server", scheme)
	default:
		return u, fmt.Errorf("proxy upstream has scheme %q: want nats://host:port, tls://host:port or host:port", scheme)
	}
	parsed, err := url.Parse(text)
	if err != nil || parsed.Hostname() == "" || strings.Trim(parsed.Path, "/") != "" || parsed.RawQuery != "" {
		return u, fmt.Errorf("proxy upstream is no server address: want nats://host:port or host:port")
	}
	port := parsed.Port()
	if port == "" {
		port = defaultPort
	}
	if n, ok := number([]byte(port)); !ok || n == 0 || n > 65535 {
		return u, fmt.Errorf("proxy upstream has port %s: want 1 to 65535", port)
	}
	u.address = net.JoinHostPort(parsed.Hostname(), port)
	return u, nil
}

// Upstream returns the host:port of the server that clients are connected to: the first, or the one that
// answered last.
func (p *Proxy) Upstream() string { return p.upstreams[p.current.Load()].address }

// dial connects to the upstream that answered last, or else to the next that does.
func (p *Proxy) dial(ctx context.Context) (link, error) {
	first := int(p.current.Load())
	var failed []string
	var last error
	for i := range p.upstreams {
		n := (first + i) % len(p.upstreams)
		server, err := p.reach(ctx, p.upstreams[n])
		if err == nil {
			p.current.Store(int32(n))
			return server, nil
		}
		if p.ctx.Err() != nil {
			return nil, fmt.Errorf("%s: connection refused: %w", p.options.Name, ErrClosed)
		}
		if last != nil {
			failed = append(failed, last.Error()+"; ")
		}
		last = err
	}
	p.refused.Add(1)
	return nil, fmt.Errorf("%s: connect to the upstream: %s%w", p.options.Name, strings.Join(failed, ""), last)
}

// reach connects to one server, with TLS where it is wanted.
func (p *Proxy) reach(ctx context.Context, u upstream) (link, error) {
	conn, err := p.dialer.DialContext(ctx, "tcp", u.address)
	if err != nil {
		return nil, err
	}
	tcp := conn.(*net.TCPConn)
	if !u.tls && p.options.UpstreamTLS == nil && !p.options.UpstreamTLSFirst && p.options.ServerTLS == nil {
		return tcp, nil
	}
	ctx, cancel := context.WithTimeout(ctx, p.options.DialTimeout)
	defer cancel()
	server, err := p.greetedBy(ctx, u, tcp)
	if err != nil {
		tcp.Close() //nolint:errcheck // nothing was sent
		return nil, err
	}
	return server, nil
}

var (
	errNoTLS    = errors.New("it does not speak TLS: use nats:// instead of tls://")
	errEarlyTLS = errors.New("it sent more than its INFO before TLS began")
)
