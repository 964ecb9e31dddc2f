package proxy_test

import (
	"bytes"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

var capture = flag.Bool("capture", false, "write what clients and the server in use say to each other into testdata/streams")

// recorder dials past the proxy and keeps what goes both ways.
type recorder struct {
	address string

	mu       sync.Mutex
	up, down bytes.Buffer
}

type recorded struct {
	net.Conn
	r *recorder
}

func (r *recorder) Dial(_, _ string) (net.Conn, error) {
	conn, err := net.Dial("tcp", r.address)
	return &recorded{Conn: conn, r: r}, err
}

func (c *recorded) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	c.r.down.Write(b[:n])
	return n, err
}

func (c *recorded) Write(b []byte) (int, error) {
	c.r.mu.Lock()
	c.r.up.Write(b)
	c.r.mu.Unlock()
	return c.Conn.Write(b)
}

func (r *recorder) both() (up, down []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Clone(r.up.Bytes()), bytes.Clone(r.down.Bytes())
}

// What a server and clients really say to each other is read as frames, however it is cut.
func TestCapturedFrames(t *testing.T) {
	b := newBedWith(t, lab.Options{Config: `
		accounts { A { jetstream: enabled, users: [
			{ user: all, password: all }, { user: some, password: some, permissions: { publish: { deny: "no.>" }, subscribe: { deny: "no.>" } } } ] } }
		no_auth_user: all`})
	r := &recorder{address: b.proxy.Upstream()}
	b.converse(r)
	c := rawVia(t, strings.Replace(plainConnect, "{", `{"user":"some","pass":"some",`, 1))(net.Dial("tcp", r.address))
	b.provoke(c)
	up, down := r.both()
	up, down = append(up, c.up.Bytes()...), append(down, c.down.Bytes()...)
	frames := proxy.AnySplit(t, proxy.Up, up) + proxy.AnySplit(t, proxy.Down, down)
	for _, word := range []string{
		"INFO ", "CONNECT ", "SUB ", "UNSUB ", "PUB ", "HPUB ", "MSG ", "HMSG ", "PING ", "PONG ", "-ERR ", "status=100", "status=404", "status=408",
		"status=409", "status=400", "$JS.ACK.", "asks={", "queue=workers", "max=1 ",
	} {
		if !strings.Contains(frames, word) {
			t.Errorf("nothing with %q was captured", word)
		}
	}
	if *capture {
		version, err := b.server.Version(b.ctx)
		if err != nil {
			t.Fatal(err)
		}
		write(t, "up-captured-"+version, up)
		write(t, "down-captured-"+version, down)
	}
}

// write keeps a stream as text, a line of it on each line.
func write(t *testing.T, name string, stream []byte) {
	t.Helper()
	var text strings.Builder
	for line := range bytes.SplitAfterSeq(stream, []byte("\n")) {
		if len(line) > 0 {
			fmt.Fprintf(&text, "%q\n", line)
		}
	}
	if err := os.WriteFile(filepath.Join("testdata", "streams", name+".txt"), []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// converse does with a real client what clients do.
func (b *bed) converse(r *recorder) {
	b.t.Helper()
	nc, err := nats.Connect("nats://"+r.address, nats.SetCustomDialer(r), nats.Name("client"), nats.Timeout(limit))
	if err != nil {
		b.t.Fatal(err)
	}
	defer nc.Close()
	must := func(err error) {
		b.t.Helper()
		if err != nil {
			b.t.Fatal(err)
		}
	}
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(limit))
	must(err)
	_, err = js.CreateStream(b.ctx, jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"ORDERS.>"}, Storage: jetstream.MemoryStorage})
	must(err)
	for i := range 4 {
		m := nats.NewMsg("ORDERS.new")
		m.Data = bytes.Repeat([]byte{'x'}, i*20)
		if i > 0 {
			m.Header.Set("Number", fmt.Sprint(i))
		}
		_, err = js.PublishMsg(b.ctx, m)
		must(err)
	}
	c, err := js.CreateConsumer(b.ctx, "ORDERS", jetstream.ConsumerConfig{AckPolicy: jetstream.AckExplicitPolicy})
	must(err)
	batch, err := c.Fetch(2, jetstream.FetchMaxWait(limit))
	must(err)
	for m := range batch.Messages() {
		must(m.DoubleAck(b.ctx))
	}
	got := make(chan struct{}, 8)
	consuming, err := c.Consume(func(m jetstream.Msg) { m.Ack(); got <- struct{}{} }, jetstream.PullMaxMessages(10))
	must(err)
	<-got
	<-got
	consuming.Stop()
	<-consuming.Closed()
	ordered, err := js.OrderedConsumer(b.ctx, "ORDERS", jetstream.OrderedConsumerConfig{HeadersOnly: true})
	must(err)
	_, err = ordered.Next(jetstream.FetchMaxWait(limit))
	must(err)
	_, err = nc.QueueSubscribe("work", "workers", func(m *nats.Msg) { m.Respond([]byte("done")) })
	must(err)
	_, err = nc.Request("work", []byte("to do"), limit)
	must(err)
	if _, err := nc.Request("nobody", nil, limit); err == nil {
		b.t.Error("nobody answered")
	}
	must(nc.FlushTimeout(limit))
}

// provoke has the server say by hand what clients seldom hear.
func (b *bed) provoke(c *raw) {
	b.t.Helper()
	c.send("SUB no.entry 1\r\nSUB no.entry workers 2\r\nPUB no.exit 2\r\nhi\r\nSUB X.* 3\r\nSUB once 4\r\nUNSUB 4 1\r\nPUB once 2\r\n\r\n\r\n")
	c.step()
	c.request("$JS.API.CONSUMER.CREATE.ORDERS.raw", `{"stream_name":"ORDERS","config":{"name":"raw","ack_policy":"none","max_batch":10}}`)
	pull := func(n int, body string) {
		c.publish("$JS.API.CONSUMER.MSG.NEXT.ORDERS.raw", fmt.Sprintf("X.%d", n), body)
	}
	pull(1, `{"batch":11}`)
	c.await("HMSG X.1 ", " 409 ")
	pull(2, `{"batch":2,"max_bytes":10,"expires":1000000000}`)
	c.await("HMSG X.2 ", " 409 ")
	pull(3, `{"batch":6,"expires":400000000,"idle_heartbeat":150000000}`)
	c.await("HMSG X.3 ", " 408 ")
	pull(4, `{"batch":1,"no_wait":true}`)
	c.await("HMSG X.4 ", " 404 ")
	pull(5, `{"batch":1,"idle_heartbeat":100}`)
	c.await("HMSG X.5 ", " 400 ")
	pull(6, `3`)
	c.step()
	c.publish("$JS.API.CONSUMER.DELETE.ORDERS.raw", "X.gone", "")
	c.await("HMSG X.6 ", " 409 Consumer Deleted")
	for _, operation := range []string{"INFO", "STREAM.NAMES", "STREAM.INFO.ORDERS", "STREAM.INFO.ABSENT", "CONSUMER.INFO.ORDERS.raw", "CONSUMER.NAMES.ABSENT"} {
		c.request("$JS.API."+operation, "")
	}
	c.step()
}
