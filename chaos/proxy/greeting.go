package proxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
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

// greetedBy reads the server's INFO and speaks TLS with it where that is wanted.
func (p *Proxy) greetedBy(ctx context.Context, u upstream, tcp link) (link, error) {
	defer interrupting(ctx, tcp)()
	if p.options.UpstreamTLSFirst {
		secure, err := p.secureServer(ctx, u, tcp)
		if err != nil || p.options.ServerTLS == nil {
			return secure, err
		}
		line, err := firstLine(secure)
		return &greetedLink{link: secure, unread: line}, err
	}
	line, err := firstLine(tcp)
	if err != nil {
		return nil, fmt.Errorf("%s: read its INFO: %w", u.address, err)
	}
	var info serverInfo
	json.Unmarshal(infoObject(line), &info) //nolint:errcheck // one that cannot be read is the client's to judge
	wanted := u.tls || p.options.UpstreamTLS != nil
	switch {
	case !info.TLSRequired && !(wanted && info.TLSAvailable):
		if u.tls {
			return nil, fmt.Errorf("%s: %w", u.address, errNoTLS)
		}
		return &greetedLink{link: tcp, unread: line}, nil
	case bytes.IndexByte(line, '\n') != len(line)-1:
		return nil, fmt.Errorf("%s: %w", u.address, errEarlyTLS)
	}
	secure, err := p.secureServer(ctx, u, tcp)
	if err != nil {
		return nil, err
	}
	return &greetedLink{link: secure, unread: line}, nil
}

// interrupting ends waits on a connection when ctx ends, until the function it returns is called.
func interrupting(ctx context.Context, conn net.Conn) (done func()) {
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(longAgo) }) //nolint:errcheck // the wait ends with the connection
	return func() { stop() }
}

// secureServer begins TLS as a client.
func (p *Proxy) secureServer(ctx context.Context, u upstream, tcp link) (link, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if p.options.UpstreamTLS != nil {
		config = p.options.UpstreamTLS.Clone()
	}
	if config.ServerName == "" {
		config.ServerName = u.host()
	}
	conn := tls.Client(tcp, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, fmt.Errorf("TLS with %s: %w: check the CA, the client certificate and whether the server does TLS first", u.address, err)
	}
	return &secureLink{Conn: conn, under: tcp}, nil
}

// firstLine reads one line and no more than what came with it.
func firstLine(conn net.Conn) ([]byte, error) {
	var line []byte
	part := make([]byte, 4096)
	for !bytes.ContainsRune(line, '\n') && len(line) < longLine {
		n, err := conn.Read(part)
		line = append(line, part[:n]...)
		if err != nil {
			return nil, err
		}
	}
	return line, nil
}

func infoObject(line []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(line), []byte("INFO")))
}

// secureLink is a connection with TLS on it.
type secureLink struct {
	*tls.Conn
	under link
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
