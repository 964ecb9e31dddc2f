package commands

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync/atomic"
	"time"

	"golang.org/x/net/proxy"
)

// socksDialer dials through a SOCKS5 proxy. natscontext's own waits for a proxy without
// end, and a reconnect behind one that stands still would never be tried again.
type socksDialer struct {
	hello   helloer
	address string // of the proxy
	limit   time.Duration
	last    atomic.Pointer[socksError] // nats.go says of it no more than that there is no server
}

// helloer has a SOCKS proxy connect further, on a connection to it. It leaves the connection
// as it is: a TCP one whose writing side can be closed alone.
type helloer interface {
	DialWithConn(ctx context.Context, conn net.Conn, network, address string) (net.Addr, error)
}

// failed is why the last connection was not made; nil: it was.
func (d *socksDialer) failed() error {
	if e := d.last.Load(); e != nil {
		return e
	}
	return nil
}

// socksOf gives the dialer of a proxy's URL; nil where there is none.
func socksOf(address string, limit time.Duration) (*socksDialer, error) {
	if address == "" {
		return nil, nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return nil, errors.New("the URL has no host, or cannot be read")
	}
	d, err := proxy.FromURL(u, nil)
	if err != nil {
		return nil, fmt.Errorf("%q is not one of socks5, socks5h", u.Scheme)
	}
	hello, ok := d.(helloer)
	if !ok {
		return nil, fmt.Errorf("%q is no SOCKS5 proxy", u.Scheme)
	}
	port := u.Port()
	if port == "" {
		port = "1080"
	}
	return &socksDialer{hello: hello, address: net.JoinHostPort(u.Hostname(), port), limit: limit}, nil
}

// Dial connects within the limit.
func (d *socksDialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

// DialContext is Dial under a context.
func (d *socksDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.limit)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", d.address)
	if err == nil {
		if _, err = d.hello.DialWithConn(ctx, conn, network, address); err != nil {
			conn.Close() //nolint:errcheck // it leads nowhere
		}
	}
	if err != nil {
		failed := &socksError{proxy: d.address, err: err}
		d.last.Store(failed)
		return nil, failed
	}
	d.last.Store(nil)
	return conn, nil
}

// dial is how a proxy of ours reaches the servers of the settings; nil: directly.
func (s settings) dial() func(context.Context, string, string) (net.Conn, error) {
	if s.socks == nil {
		return nil
	}
	return s.socks.DialContext
}

// socksError is a connection that the proxy did not make.
type socksError struct {
	proxy string
	err   error
}

func (e *socksError) Error() string { return fmt.Sprintf("SOCKS proxy %s: %v", e.proxy, e.err) }

func (e *socksError) Unwrap() error { return e.err }
