package lab_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

// echo answers every line with itself and gives its address.
func echo(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = io.Copy(conn, conn)
			}()
		}
	}()
	t.Cleanup(func() { l.Close(); <-ended })
	return l.Addr().String()
}

type caller struct {
	*testing.T
	net.Conn
	lines *bufio.Reader
}

func call(t *testing.T, addr string) *caller {
	t.Helper()
	conn, err := net.Dial("tcp4", addr)
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	return &caller{t, conn, bufio.NewReader(conn)}
}

func (c *caller) say(line string) {
	c.Helper()
	if _, err := io.WriteString(c.Conn, line+"\n"); err != nil {
		c.Fatal(err)
	}
}

func (c *caller) hear(line string) {
	c.Helper()
	must(c.T, c.SetReadDeadline(time.Now().Add(patience)))
	if got, err := c.lines.ReadString('\n'); err != nil || got != line+"\n" {
		c.Fatalf("heard %q and %v, want %q", got, err, line)
	}
}

// hearNothing gives what should not come a moment to come: it fails only on what does.
func (c *caller) hearNothing() {
	c.Helper()
	must(c.T, c.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	if got, err := c.lines.ReadString('\n'); !errors.Is(err, os.ErrDeadlineExceeded) {
		c.Fatalf("heard %q and %v, want nothing", got, err)
	}
}

func TestCableHoldsWhatItDoesNotPass(t *testing.T) {
	for name, held := range map[string][2]bool{"both": {true, true}, "there": {true, false}, "back": {false, true}} {
		t.Run(name, func(t *testing.T) {
			c, err := lab.LayCable(echo(t))
			must(t, err)
			t.Cleanup(c.Close)
			a := call(t, c.Addr())
			a.say("1")
			a.hear("1")
			c.Cut(held[0], held[1], false)
			a.say("2")
			a.hearNothing()
			b := call(t, c.Addr()) // opened meanwhile
			b.say("3")
			b.hearNothing()
			c.Cut(false, false, false)
			a.hear("2")
			b.hear("3")
		})
	}
}

func TestCableTorn(t *testing.T) {
	c, err := lab.LayCable(echo(t))
	must(t, err)
	t.Cleanup(c.Close)
	a := call(t, c.Addr())
	a.say("1")
	a.hear("1")
	c.Cut(true, true, false)
	a.say("2")
	c.Cut(true, false, true) // torn wins
	must(t, a.SetReadDeadline(time.Now().Add(patience)))
	if _, err := a.lines.ReadString('\n'); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a torn connection: got %v", err)
	}
	// The dial itself may see the reset.
	if b, err := net.Dial("tcp4", c.Addr()); err == nil {
		defer b.Close()
		must(t, b.SetReadDeadline(time.Now().Add(patience)))
		if _, err := b.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a new connection over a torn cable: got %v", err)
		}
	}
	c.Cut(false, false, false)
	d := call(t, c.Addr())
	d.say("4")
	d.hear("4")
}

// An end is passed on, and what was said before it.
func TestCablePassesTheEndOn(t *testing.T) {
	c, err := lab.LayCable(echo(t))
	must(t, err)
	t.Cleanup(c.Close)
	a := call(t, c.Addr())
	a.say("last")
	must(t, a.Conn.(*net.TCPConn).CloseWrite())
	a.hear("last")
	if _, err := a.lines.ReadString('\n'); !errors.Is(err, io.EOF) {
		t.Errorf("got %v, want the end", err)
	}
}

func TestCableEndsWhileItHolds(t *testing.T) {
	c, err := lab.LayCable(echo(t))
	must(t, err)
	c.Cut(true, true, false)
	a := call(t, c.Addr())
	a.say("1")
	a.hearNothing()
	c.Close() // returns when nothing of it runs
	must(t, a.SetReadDeadline(time.Now().Add(patience)))
	if _, err := a.lines.ReadString('\n'); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}
