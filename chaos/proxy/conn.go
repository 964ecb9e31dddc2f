package proxy

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// link is a connection whose writing side can be closed alone: *net.TCPConn and the Dialer's own.
type link interface {
	net.Conn
	CloseWrite() error
}

// connState says what a connection still carries.
type connState int32

const (
	open       connState = iota // both directions
	cut                         // none: both sides were told that it ends
	halfOpened                  // none: the client was told, the server was not
	closed                      // none: both sides are closed
)

// linger bounds how long a side that was told the end is read on, so that it sees an orderly end rather
// than a reset.
const linger = 2 * time.Second

// conn is one client connection and its connection to the server.
type conn struct {
	p              *Proxy
	id             uint64
	client, server link
	up, down       *flow
	know           *knowledge
	phase          atomic.Int32
	refusal        atomic.Pointer[string]
	surplus        atomic.Int32 // +OK still to be taken out, see confirmed
	ended, deaf    atomic.Bool  // the server has ended its direction; a write to it failed
}

func newConn(p *Proxy, id uint64, client, server link) *conn {
	c := &conn{p: p, id: id, client: client, server: server, know: newKnowledge(p.options.APIPrefix)}
	c.up = newFlow(c, Up, client, server)
	c.down = newFlow(c, Down, server, client)
	return c
}

func (c *conn) state() connState { return connState(c.phase.Load()) }

// become leaves the open state; only the first reason counts, except that closed ends every other.
func (c *conn) become(s connState) bool {
	for {
		now := c.phase.Load()
		if now == int32(closed) || (now != int32(open) && s != closed) {
			return false
		}
		if c.phase.CompareAndSwap(now, int32(s)) {
			return true
		}
	}
}

// serve carries both directions until both have ended.
func (c *conn) serve() {
	var up sync.WaitGroup
	up.Go(c.up.carry)
	c.down.carry()
	up.Wait()
	c.close()
}

// close ends both sides at once.
func (c *conn) close() {
	c.become(closed)
	c.client.Close() //nolint:errcheck // it may be closed already
	c.server.Close() //nolint:errcheck // it may be closed already
	c.up.poke()
	c.down.poke()
}

// cut tells both sides that the connection ends.
func (c *conn) cut() bool {
	if !c.become(cut) {
		return false
	}
	for _, side := range []link{c.client, c.server} {
		side.SetWriteDeadline(longAgo) //nolint:errcheck // it only frees a blocked write
		side.CloseWrite()              //nolint:errcheck // the peer may be gone
	}
	c.up.poke()
	c.down.poke()
	return true
}

// serverEnded and unheard end a connection when both are the case: the server has ended its direction, which the
// client was told, and takes nothing more. A client that goes on sending would never learn of it otherwise.
func (c *conn) serverEnded() {
	c.ended.Store(true)
	c.overIfUnheard()
}

func (c *conn) unheard() {
	c.deaf.Store(true)
	c.overIfUnheard()
}

func (c *conn) overIfUnheard() {
	if c.ended.Load() && c.deaf.Load() && c.become(cut) {
		c.up.poke()
	}
}

// reset ends both sides at once with a reset rather than in order.
func (c *conn) reset() bool {
	for _, side := range []link{c.client, c.server} {
		abort(side)
	}
	if !c.become(closed) {
		return false
	}
	c.close()
	return true
}

// abort makes the close of a side a reset.
func abort(side link) {
	switch side := side.(type) {
	case *net.TCPConn:
		side.SetLinger(0) //nolint:errcheck // it may be closed already
	case interface{ Abort() }:
		side.Abort()
	}
}

// halfOpen tells the client that the connection ends and keeps it open towards the server, which is read
// and not answered.
func (c *conn) halfOpen() bool {
	if !c.become(halfOpened) {
		return false
	}
	c.client.SetWriteDeadline(longAgo) //nolint:errcheck // it only frees a blocked write
	c.client.CloseWrite()              //nolint:errcheck // the peer may be gone
	c.up.poke()
	c.down.poke()
	return true
}

// named tells whether the connection's name is one that g stands for; without a g every connection is.
func (c *conn) named(g glob) bool {
	if g == "" {
		return true
	}
	name, known := c.know.name()
	return known && g.matches(name)
}
