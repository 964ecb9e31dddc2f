package control

import (
	"context"
	"net"
	"sync"
)

// dialToSpeakFirst connects to what may be no HTTP server. A nats-server speaks first, which net/http would write to
// the standard log of the process whose stderr this is; nothing is read before the request was written, and what came
// is then a malformed answer.
func dialToSpeakFirst(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &speakFirst{Conn: c, spoken: make(chan struct{})}, nil
}

// speakFirst is a connection whose first Read waits for its first Write, or its end.
type speakFirst struct {
	net.Conn
	once   sync.Once
	spoken chan struct{}
}

func (c *speakFirst) Read(b []byte) (int, error) {
	<-c.spoken
	return c.Conn.Read(b)
}

func (c *speakFirst) Write(b []byte) (int, error) {
	defer c.once.Do(func() { close(c.spoken) })
	return c.Conn.Write(b)
}

func (c *speakFirst) Close() error {
	defer c.once.Do(func() { close(c.spoken) })
	return c.Conn.Close()
}
