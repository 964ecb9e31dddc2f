package fleet

import (
	"net"
	"sync/atomic"

	"github.com/nats-io/nats.go"
)

// wire counts the bytes of connections, as they go through their sockets.
type wire struct{ in, out atomic.Uint64 }

// option counts a connection from its start, whoever dials it.
func (w *wire) option() nats.Option {
	return func(o *nats.Options) error {
		d := countingDialer{wire: w}
		switch {
		case o.CustomDialer != nil:
			d.inner = o.CustomDialer
		default:
			d.inner = &net.Dialer{Timeout: o.Timeout}
		}
		o.CustomDialer = d
		return nil
	}
}

type countingDialer struct {
	inner nats.CustomDialer
	wire  *wire
}

func (d countingDialer) Dial(network, address string) (net.Conn, error) {
	c, err := d.inner.Dial(network, address)
	if err != nil {
		return nil, err
	}
	return &countedConn{c, d.wire}, nil
}

// SkipTLSHandshake is asked by nats.go of dialers that bring their own TLS.
func (d countingDialer) SkipTLSHandshake() bool {
	skips, ok := d.inner.(interface{ SkipTLSHandshake() bool })
	return ok && skips.SkipTLSHandshake()
}

type countedConn struct {
	net.Conn
	wire *wire
}

func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.wire.in.Add(uint64(n))
	return n, err
}

func (c *countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.wire.out.Add(uint64(n))
	return n, err
}
