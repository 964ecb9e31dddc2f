package proxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"time"
)

// greetedLink is a connection to a server whose first line was read already.
type greetedLink struct {
	link
	unread []byte // what the flow is still to read
}

func (g *greetedLink) Read(b []byte) (int, error) {
	if len(g.unread) == 0 {
		return g.link.Read(b)
	}
	n := copy(b, g.unread)
	g.unread = g.unread[n:]
	return n, nil
}

// greetedBy reads the server's INFO, for which it has so long to wait, and speaks TLS with it where that is wanted.
func (p *Proxy) greetedBy(ctx context.Context, u upstream, tcp link, wait time.Duration) (*greetedLink, error) {
	server := tcp
	if p.options.UpstreamTLSFirst {
		secure, err := p.secureServer(ctx, u, tcp)
		if err != nil {
			return nil, err
		}
		server = secure
	}
	line, err := firstLine(ctx, server, wait)
	if err != nil {
		return nil, p.ungreeted(u, err, wait)
	}
	greeted := &greetedLink{link: server, unread: line}
	if p.options.UpstreamTLSFirst {
		return greeted, nil
	}
	var info serverInfo
	json.Unmarshal(infoObject(line), &info) //nolint:errcheck // one that cannot be read is the client's to judge
	wanted := u.tls || p.options.UpstreamTLS != nil
	switch {
	case u.tls && !info.TLSRequired && !info.TLSAvailable:
		return nil, fmt.Errorf("upstream %s: %w", u.address, errNoTLS)
	case !wanted && !(info.TLSRequired && p.options.ServerTLS != nil), !info.TLSRequired && !info.TLSAvailable:
		return greeted, nil
	case bytes.IndexByte(line, '\n') != len(line)-1:
		return nil, fmt.Errorf("upstream %s: %w", u.address, errEarlyTLS)
	}
	if greeted.link, err = p.secureServer(ctx, u, tcp); err != nil {
		return nil, err
	}
	return greeted, nil
}

// interrupting ends waits on a connection when ctx ends, until the function it returns is called.
func interrupting(ctx context.Context, conn net.Conn) (done func()) {
	set := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		conn.SetDeadline(longAgo) //nolint:errcheck // the wait ends with the connection
		close(set)
	})
	return func() {
		if !stop() { // what has come in the last moment is good
			<-set
			conn.SetDeadline(time.Time{}) //nolint:errcheck // the read tells
		}
	}
}

// firstLine reads one line and no more than what came with it. It must be that of a server's INFO.
func firstLine(ctx context.Context, conn net.Conn, wait time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	defer interrupting(ctx, conn)()
	var line []byte
	part := make([]byte, 4096)
	for len(line) < longLine {
		n, err := conn.Read(part)
		line = append(line, part[:n]...)
		if v, _, ok := verbOf(line); n > 0 && (!ok || v != NoVerb && v != INFO) {
			return nil, &strangerError{begins: string(excerpt(line))}
		}
		if bytes.IndexByte(part[:n], '\n') >= 0 {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, errLongInfo
}

func infoObject(line []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(line), []byte("INFO")))
}

// secureLink is a connection with TLS on it.
type secureLink struct {
	*tls.Conn
	under link
}

// secured tells whether there is TLS with a server, or nothing that could lack it.
func secured(server link) bool {
	if g, ok := server.(*greetedLink); ok {
		server = g.link
	}
	_, plain := server.(*net.TCPConn)
	return !plain
}

// CloseWrite tells the peer in TLS and below it that nothing more comes.
func (s *secureLink) CloseWrite() error {
	s.Conn.CloseWrite() //nolint:errcheck // what is below tells as well
	return s.under.CloseWrite()
}

// Close ends both directions at once: an orderly end has been told by CloseWrite.
func (s *secureLink) Close() error { return s.under.Close() }

// Abort makes the close a reset.
func (s *secureLink) Abort() { abort(s.under) }

// Abort makes the close a reset.
func (g *greetedLink) Abort() { abort(g.link) }
