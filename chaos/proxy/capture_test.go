package proxy_test

import (
	"bytes"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
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
	version, err := b.server.Version(b.ctx)
	if err != nil {
		t.Fatal(err)
	}
	b.endWhilePulling(c)
	up, down := r.both()
	up, down = append(up, c.up.Bytes()...), append(down, c.down.Bytes()...)
	said := frames(t, up, down)
	for _, word := range []string{
		"INFO ", "CONNECT ", "SUB ", "UNSUB ", "PUB ", "HPUB ", "MSG ", "HMSG ", "PING ", "PONG ", "-ERR ", "status=100", "status=404", "status=408",
		"status=409", "status=400", "$JS.ACK.", "asks={", "queue=workers", "max=1 ", "Consumer Deleted", "Server Shutdown", "Batch Completed",
	} {
		if !strings.Contains(said, word) {
			t.Errorf("nothing with %q was captured", word)
		}
	}
	// What is kept names no run, and its frames are as long as those that were sent.
	plain := newScrubber()
	up, down = plain.scrub(up), plain.scrub(down)
	if a, b := lengths(said), lengths(frames(t, up, down)); a != b {
		t.Errorf("scrubbed, the frames are\n%s\nwant\n%s", b, a)
	}
	if *capture {
		write(t, "up-captured-"+version, up)
		write(t, "down-captured-"+version, down)
	}
}

func frames(t testing.TB, up, down []byte) string {
	t.Helper()
	return proxy.AnySplit(t, proxy.Up, up) + "\n" + proxy.AnySplit(t, proxy.Down, down)
}

var frameLength = regexp.MustCompile(`(?m)^([A-Z+-]+) .* (bytes=\d+ status=\d+ .*)$`)

// lengths keeps the verb, the length and the status of each frame.
func lengths(frames string) string { return frameLength.ReplaceAllString(frames, "$1 $2") }

// What is committed was captured from every version of the matrix and the embedded one, and tells nothing of
// the run it comes from.
func TestCommittedCaptures(t *testing.T) {
	for _, version := range []string{"2.10.7", "2.10.22", "2.11.17", "2.12.15", "2.14.0", "2.14.10", server.VERSION} {
		plain := newScrubber()
		for _, way := range []string{"up", "down"} {
			name := way + "-captured-" + version
			stream := proxy.Stream(t, name)
			if again := plain.scrub(stream); !bytes.Equal(again, stream) {
				t.Errorf("%s is not scrubbed: run the capture again", name)
			}
			if way == "down" && !bytes.HasPrefix(stream, []byte("INFO {")) || !bytes.Contains(stream, []byte(`"`+version+`"`)) == (way == "down") {
				t.Errorf("%s is not what a server of version %s says", name, version)
			}
		}
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
	c.publish("ORDERS.big", "X.stored", strings.Repeat("y", 200))
	c.await("MSG X.stored ")
	pull(7, `{"batch":2,"max_bytes":100,"expires":1000000000}`)
	c.await("HMSG X.7 ", " 409 Message Size Exceeds MaxBytes")
	pull(8, `{"batch":1,"max_bytes":4096,"expires":1000000000}`)
	c.await("HMSG X.8 ", " 409 Batch Completed")
	pull(6, `3`)
	c.step()
	c.publish("$JS.API.CONSUMER.DELETE.ORDERS.raw", "X.gone", "")
	c.await("HMSG X.6 ", " 409 Consumer Deleted")
	pull(9, `{"batch":1,"no_wait":true}`)
	if b.newer(2, 11) {
		c.await("HMSG X.9 ", " 503")
	}
	c.step() // an older server says nothing
	for _, operation := range []string{"INFO", "STREAM.NAMES", "STREAM.INFO.ORDERS", "STREAM.INFO.ABSENT", "CONSUMER.INFO.ORDERS.raw", "CONSUMER.NAMES.ABSENT"} {
		c.request("$JS.API."+operation, "")
	}
	c.step()
}

// endWhilePulling has the server tell a pull that it shuts down.
func (b *bed) endWhilePulling(c *raw) {
	b.t.Helper()
	c.request("$JS.API.CONSUMER.CREATE.ORDERS.end", `{"stream_name":"ORDERS","config":{"name":"end","ack_policy":"none","deliver_policy":"new"}}`)
	c.publish("$JS.API.CONSUMER.MSG.NEXT.ORDERS.end", "X.end", `{"batch":5,"expires":60000000000}`)
	c.step()
	if err := b.server.Term(b.ctx); err != nil {
		b.t.Fatal(err)
	}
	c.await("HMSG X.end ", " 409 Server Shutdown")
}
