package proxy

import (
	"context"
	"fmt"
	"net"
	"syscall"
)

// Dialer connects clients to the proxy inside the process, without a port. It fits nats.go's
// nats.SetCustomDialer: the address a client dials is not looked at, every connection goes to the
// proxy's upstream.
type Dialer struct{ p *Proxy }

// Dialer returns the dialer of this proxy.
func (p *Proxy) Dialer() *Dialer { return &Dialer{p: p} }

// Dial returns a connection through the proxy. It fails as a dial to the server itself would when no upstream
// can be reached within DialTimeout and says its INFO within InfoTimeout, and with ErrClosed after Close.
func (d *Dialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

// DialContext is Dial under a context.
func (d *Dialer) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(d.p.ctx, cancel)()
	if d.p.turnedAway() {
		return nil, fmt.Errorf("%s: dial %s: %w", d.p.options.Name, address, syscall.ECONNREFUSED)
	}
	server, err := d.p.dial(ctx)
	if err != nil {
		return nil, err
	}
	near, far := newPipe(pipeAddr(d.p.options.Name+" client"), pipeAddr(address))
	if d.p.options.ServerTLS != nil {
		err = d.p.admitLater(far, server)
	} else {
		err = d.p.register(far, server, false)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: connection refused: %w", d.p.options.Name, err)
	}
	return near, nil
}
