package proxy_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"
)

// raw is a client that speaks the protocol by hand and sees every byte of what it is sent.
type raw struct {
	t        testing.TB
	conn     net.Conn
	r        *bufio.Reader
	up, down bytes.Buffer // all that went and came
	info     string       // the first line of the server
	pings    int
}

// rawVia returns a client on a connection, after the server's INFO. connect is the object of its CONNECT.
func rawVia(t testing.TB, connect string) func(conn net.Conn, err error) *raw {
	return func(conn net.Conn, err error) *raw {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		conn.SetDeadline(time.Now().Add(2 * limit))
		c := &raw{t: t, conn: conn, r: bufio.NewReader(conn)}
		c.info = c.frame()
		if !strings.HasPrefix(c.info, "INFO {") {
			t.Fatalf("the server begins with %q", c.info)
		}
		c.send("CONNECT " + connect + "\r\n")
		c.step()
		return c
	}
}

const plainConnect = `{"verbose":false,"pedantic":false,"name":"raw","lang":"go","protocol":1,"headers":true,"no_responders":true}`

// raw returns a hand-made client through the proxy.
func (b *bed) raw() *raw {
	b.t.Helper()
	return rawVia(b.t, plainConnect)(b.proxy.Dialer().Dial("tcp", ""))
}

func (c *raw) send(s string) {
	c.t.Helper()
	c.up.WriteString(s)
	if _, err := c.conn.Write([]byte(s)); err != nil {
		c.t.Fatal(err)
	}
}

// publish sends a PUB with a reply subject.
func (c *raw) publish(subject, reply, payload string) {
	c.t.Helper()
	c.send(fmt.Sprintf("PUB %s %s %d\r\n%s\r\n", subject, reply, len(payload), payload))
}

// read returns the next whole frame as it came.
func (c *raw) read() (string, error) {
	line, err := c.r.ReadString('\n')
	if err != nil {
		return line, err
	}
	if strings.HasPrefix(line, "MSG ") || strings.HasPrefix(line, "HMSG ") {
		words := strings.Fields(line)
		size, err := strconv.Atoi(words[len(words)-1])
		if err != nil {
			return line, err
		}
		body := make([]byte, size+2)
		for n := 0; n < len(body); {
			part, err := c.r.Read(body[n:])
			if err != nil {
				return line, err
			}
			n += part
		}
		line += string(body)
	}
	c.down.WriteString(line)
	return line, nil
}

// frame returns the next frame; a PING is answered and passed over.
func (c *raw) frame() string {
	c.t.Helper()
	for {
		f, err := c.read()
		if err != nil {
			c.t.Fatalf("no frame came (%v) after:\n%s", err, c.down.String())
		}
		if f != "PING\r\n" {
			return f
		}
		c.send("PONG\r\n")
	}
}

// step sends a PING and returns what came before its PONG.
func (c *raw) step() (frames []string) {
	c.t.Helper()
	c.send("PING\r\n")
	for {
		f := c.frame()
		if f == "PONG\r\n" {
			return frames
		}
		frames = append(frames, f)
	}
}

// await returns the next frame that holds all the parts.
func (c *raw) await(parts ...string) string {
	c.t.Helper()
	for {
		f := c.frame()
		missing := false
		for _, part := range parts {
			missing = missing || !strings.Contains(f, part)
		}
		if !missing {
			return f
		}
	}
}

// request asks and returns the frame that answers, with nothing of its own reply subject in it.
func (c *raw) request(subject, payload string) string {
	c.t.Helper()
	c.pings++
	reply := fmt.Sprintf("_INBOX.raw.%d", c.pings)
	c.send("SUB " + reply + " r" + strconv.Itoa(c.pings) + "\r\n")
	c.publish(subject, reply, payload)
	answer := c.await(" " + reply + " ")
	c.send("UNSUB r" + strconv.Itoa(c.pings) + "\r\n")
	return strings.Replace(answer, reply+" r"+strconv.Itoa(c.pings), "REPLY SID", 1)
}
