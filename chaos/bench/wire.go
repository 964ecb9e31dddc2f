package bench

import (
	"net"
	"sync/atomic"

	"github.com/nats-io/nats.go"
)

// wire counts what arrives on a connection: every byte of it, the protocol's too. What nats.go counts are payloads.
type wire struct{ bytes atomic.Uint64 }

// counted makes a connection's dialer, whatever it is, count what arrives. It has to be the last option.
func counted(w *wire) nats.Option {
	return func(o *nats.Options) error {
		inner := o.CustomDialer
		if inner == nil {
			inner = &net.Dialer{Timeout: o.Timeout}
		}
		o.CustomDialer = countingDialer{inner, w}
		return nil
	}
}

type countingDialer struct {
	nats.CustomDialer
	wire *wire
}

func (d countingDialer) Dial(network, address string) (net.Conn, error) {
	c, err := d.CustomDialer.Dial(network, address)
	if err != nil {
		return nil, err
	}
	return countingConn{c, d.wire}, nil
}

// SkipTLSHandshake says what the dialer below says.
func (d countingDialer) SkipTLSHandshake() bool {
	inner, is := d.CustomDialer.(interface{ SkipTLSHandshake() bool })
	return is && inner.SkipTLSHandshake()
}

type countingConn struct {
	net.Conn
	wire *wire
}

func (c countingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.wire.bytes.Add(uint64(n))
	return n, err
}
