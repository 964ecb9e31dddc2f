package lab

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// cable carries the routes that one node opens to another, byte by byte. It can
// be cut: held in either direction, so that connections stay open and nothing
// arrives until it is mended (then all arrives, as after lost packets), or torn, so
// that connections are reset and new ones too.
type cable struct {
	listener net.Listener
	target   string // "": nobody is there, every connection is reset
	life     context.Context
	end      context.CancelFunc
	running  sync.WaitGroup

	mu    sync.Mutex
	torn  bool
	gates [2]chan struct{} // there, back; closed: bytes pass
	conns map[net.Conn]struct{}
}

const (
	there = 0 // from the node that opened the connection
	back  = 1
)

// cableDial bounds the connect to a node, which is on this machine.
const cableDial = 5 * time.Second

// layCable listens for one node's connections to another.
func layCable(target string) (*cable, error) {
	l, err := net.Listen("tcp4", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return nil, err
	}
	c := &cable{listener: l, target: target, torn: target == "", conns: map[net.Conn]struct{}{}}
	c.life, c.end = context.WithCancel(context.Background())
	for i := range c.gates {
		c.gates[i] = passing()
	}
	c.running.Go(c.accept)
	return c, nil
}

func passing() chan struct{} {
	gate := make(chan struct{})
	close(gate)
	return gate
}

func (c *cable) addr() string { return c.listener.Addr().String() }

// cut sets which bytes pass: none of those held, and no connection at all where it is torn.
func (c *cable) cut(heldThere, heldBack, torn bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.torn = torn || c.target == ""
	c.hold(there, heldThere && !torn)
	c.hold(back, heldBack && !torn)
	if !torn {
		return
	}
	for conn := range c.conns {
		reset(conn)
	}
}

func (c *cable) hold(way int, held bool) {
	select {
	case <-c.gates[way]: // it passes
		if held {
			c.gates[way] = make(chan struct{})
		}
	default:
		if !held {
			close(c.gates[way])
		}
	}
}

// pass waits until bytes may pass, and says whether the cable is still there.
func (c *cable) pass(way int) bool {
	c.mu.Lock()
	gate := c.gates[way]
	c.mu.Unlock()
	select {
	case <-gate:
		return c.life.Err() == nil
	case <-c.life.Done():
		return false
	}
}

func (c *cable) accept() {
	for {
		conn, err := c.listener.Accept()
		if err != nil {
			return // closed
		}
		if !c.keep(conn) {
			continue
		}
		c.running.Go(func() { c.join(conn) })
	}
}

// keep notes an open connection, or resets it where nothing is to be open.
func (c *cable) keep(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.torn || c.life.Err() != nil {
		reset(conn)
		return false
	}
	c.conns[conn] = struct{}{}
	return true
}

func (c *cable) drop(conn net.Conn) {
	conn.Close() //nolint:errcheck // it may be closed already
	c.mu.Lock()
	delete(c.conns, conn)
	c.mu.Unlock()
}

// join carries one connection until both its directions have ended.
func (c *cable) join(near net.Conn) {
	defer c.drop(near)
	dialer := net.Dialer{Timeout: cableDial}
	far, err := dialer.DialContext(c.life, "tcp4", c.target)
	if err != nil {
		reset(near)
		return
	}
	if !c.keep(far) {
		return
	}
	defer c.drop(far)
	var both sync.WaitGroup
	both.Go(func() { c.carry(far, near, there) })
	both.Go(func() { c.carry(near, far, back) })
	both.Wait()
}

// carry copies one direction. An orderly end is passed on, any other ends both.
func (c *cable) carry(to, from net.Conn, way int) {
	buffer := make([]byte, 32<<10)
	for c.pass(way) {
		n, err := from.Read(buffer)
		if n > 0 {
			if !c.pass(way) {
				return
			}
			if _, failed := to.Write(buffer[:n]); failed != nil {
				reset(from)
				return
			}
		}
		if errors.Is(err, io.EOF) {
			if half, ok := to.(*net.TCPConn); ok {
				_ = half.CloseWrite() // whoever is gone needs no end
			}
			return
		}
		if err != nil {
			reset(to)
			return
		}
	}
}

// reset ends a connection with RST, so that its other end knows at once.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // where it cannot be set, an orderly end must do
	}
	conn.Close() //nolint:errcheck // it may be closed already
}

// close ends everything the cable carries and returns when nothing of it runs.
func (c *cable) close() {
	c.end()
	c.listener.Close() //nolint:errcheck // it listens on this machine only
	c.mu.Lock()
	for conn := range c.conns {
		reset(conn)
	}
	c.mu.Unlock()
	c.running.Wait()
}
