package proxy

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
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

// listensForItself refuses an address that is one of the upstreams: every client would be a client of the proxy.
func (p *Proxy) listensForItself(taken net.Addr) error {
	own, err := netip.ParseAddrPort(taken.String())
	if err != nil {
		return nil // no TCP: nothing that could be an upstream
	}
	for _, u := range p.upstreams {
		host, port, _ := net.SplitHostPort(u.address)
		if port != strconv.Itoa(int(own.Port())) {
			continue
		}
		there, err := netip.ParseAddr(host)
		local := host == "localhost" || err == nil && there.Unmap().IsLoopback()
		if err == nil && there.Unmap() == own.Addr().Unmap() || local && (own.Addr().IsUnspecified() || host == "localhost" && own.Addr().IsLoopback()) {
			return fmt.Errorf("it is the upstream %s itself: choose another port", u.address)
		}
	}
	return nil
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
