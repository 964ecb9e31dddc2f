package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"
)

func (p *Proxy) accept(l net.Listener) {
	for {
		client, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			// Out of descriptors, say. The backlog keeps the clients until some are free.
			p.notice(nil, "accept: "+err.Error())
			select {
			case <-p.ctx.Done():
				return
			case <-time.After(50 * time.Millisecond):
			}
			continue
		}
		if p.turnedAway() {
			abort(client.(*net.TCPConn))
			client.Close() //nolint:errcheck // this is how the client is told
			continue
		}
		p.owned.Go(func() {
			server, err := p.dial(p.ctx)
			if err != nil {
				p.tellRefusal(err.Error())
				client.Close() //nolint:errcheck // this is how the client is told
				return
			}
			p.admit(client.(*net.TCPConn), server)
		})
	}
}

// admit serves a connection of two sides, after TLS with the client where the proxy wants that. A client that
// cannot is closed.
func (p *Proxy) admit(client, server link) {
	if p.options.ServerTLS == nil {
		p.register(client, server, false) //nolint:errcheck // the client is told by the close
		return
	}
	secure, greeted, err := p.secureClient(client, server)
	if err != nil {
		p.notice(nil, err.Error())
		client.Close() //nolint:errcheck // this is how the client is told
		server.Close() //nolint:errcheck // nothing was sent
		return
	}
	p.register(secure, server, greeted) //nolint:errcheck // the client is told by the close
}

// secureClient begins TLS as the server does: after its INFO, or with TLSFirst before it. greeted tells that the
// client has had the INFO.
func (p *Proxy) secureClient(client, server link) (secure link, greeted bool, err error) {
	ctx, cancel := context.WithTimeout(p.ctx, p.options.DialTimeout)
	defer cancel()
	defer interrupting(ctx, client)()
	if !p.options.ServerTLSFirst {
		g := server.(*greetedLink)
		line := append([]byte("INFO "), p.forClients(infoObject(g.unread))...)
		if _, err := client.Write(append(line, " \r\n"...)); err != nil {
			return nil, false, fmt.Errorf("%s: greet a client: %w", p.options.Name, err)
		}
	}
	conn := tls.Server(client, p.options.ServerTLS)
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, false, fmt.Errorf("%s: TLS with a client: %s", p.options.Name, p.clientMisfit(err))
	}
	return &secureLink{Conn: conn, under: client}, !p.options.ServerTLSFirst, nil
}

// admitLater admits a client whose TLS begins after its dial has returned.
func (p *Proxy) admitLater(client, server link) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		client.Close() //nolint:errcheck // this is how the client is told
		server.Close() //nolint:errcheck // nothing was sent
		return ErrClosed
	}
	p.owned.Go(func() { p.admit(client, server) })
	return nil
}
