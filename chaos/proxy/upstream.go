package proxy

import (
	"fmt"
	"net"
	"net/url"
	"strings"
)

const defaultPort = "4222"

// upstreamAddress turns what names a server into host:port. Errors never repeat credentials.
func upstreamAddress(upstream string) (string, error) {
	upstream = strings.TrimSpace(upstream)
	if upstream == "" {
		return "", fmt.Errorf("proxy upstream is empty: want nats://host:port or host:port")
	}
	if strings.Contains(upstream, ",") {
		return "", fmt.Errorf("proxy upstream lists several servers: want one, as nats://host:port or host:port")
	}
	scheme, _, has := strings.Cut(upstream, "://")
	if !has {
		scheme, upstream = "nats", "nats://"+upstream
	}
	switch strings.ToLower(scheme) {
	case "nats":
	case "tls":
		return "", fmt.Errorf("proxy upstream has scheme tls: TLS to the server is not spoken; use a nats:// port of the server")
	case "ws", "wss":
		return "", fmt.Errorf("proxy upstream has scheme %s: WebSocket is not spoken; use the nats:// port of the server", scheme)
	default:
		return "", fmt.Errorf("proxy upstream has scheme %q: want nats://host:port or host:port", scheme)
	}
	u, err := url.Parse(upstream)
	if err != nil || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return "", fmt.Errorf("proxy upstream is no server address: want nats://host:port or host:port")
	}
	port := u.Port()
	if port == "" {
		port = defaultPort
	}
	if n, ok := number([]byte(port)); !ok || n == 0 || n > 65535 {
		return "", fmt.Errorf("proxy upstream has port %s: want 1 to 65535", port)
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}
