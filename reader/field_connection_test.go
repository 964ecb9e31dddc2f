package reader_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/reader"
)

// older says whether the server is older than 2.minor.
func (b *bed) older(minor int) bool {
	b.Helper()
	parts := strings.Split(b.direct.ConnectedServerVersion(), ".")
	if len(parts) < 2 || parts[0] != "2" {
		b.Fatalf("server version %q", b.direct.ConnectedServerVersion())
	}
	n, err := strconv.Atoi(parts[1])
	b.must(err)
	return n < minor
}

// The server's store is memory: after its restart there is no stream, and the one
// that is made then begins at 1.
func TestServerComesBackWithoutItsStream(t *testing.T) {
	t.Parallel()
	b := withStream(t, func(c *jetstream.StreamConfig) { c.Storage = jetstream.MemoryStorage })
	b.publish(1, 20)
	r := b.open(calm())
	b.expect(r, 1, 20)
	b.must(b.server.Kill(b.ctx))
	b.must(b.server.LoseStore())
	b.must(b.server.Start(b.ctx))
	b.eventually("the operator is back", b.direct.IsConnected)
	b.await("stream_missing", 1)
	_, err := b.admin.CreateStream(b.ctx, jetstream.StreamConfig{Name: b.stream, Subjects: []string{"orders.>"}})
	b.must(err)
	b.publish(101, 105)
	b.expect(r, 101, 105)
	b.await("stream_reset", 1)
}

// A connection that spent its attempts ends the reader with an error to branch on;
// another connection goes on where it was.
func TestConnectionThatGaveUp(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 20)
	nc := b.connect(b.server.URL(), nats.MaxReconnects(2), nats.ReconnectWait(10*time.Millisecond))
	js, err := jetstream.New(nc)
	b.must(err)
	cfg := calm()
	r, err := reader.Open(b.ctx, js, cfg)
	b.must(err)
	b.expect(r, 1, 10)
	b.eventually("all is buffered", func() bool { return r.Status().Buffered == 10 })
	b.must(b.server.Kill(b.ctx))
	b.expect(r, 11, 20)
	if _, err := r.Next(b.ctx); !errors.Is(err, reader.ErrConnectionClosed) {
		t.Fatalf("Next gave %v, want ErrConnectionClosed", err)
	}
	<-r.Done()
	if !errors.Is(r.Err(), reader.ErrConnectionClosed) {
		t.Fatalf("Err() = %v, want ErrConnectionClosed", r.Err())
	}
	b.must(b.server.Start(b.ctx))
	b.eventually("the publisher is back", b.direct.IsConnected)
	b.eventually("the other connection is back", b.nc.IsConnected)
	b.publish(21, 30)
	cfg.Start = reader.FromPosition(r.Position())
	b.expect(b.open(cfg), 21, 30)
}

// The stream of a key-value bucket is watched through restarts.
func TestBucketThroughRestarts(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	kv, err := b.admin.CreateKeyValue(b.ctx, jetstream.KeyValueConfig{Bucket: "B"})
	b.must(err)
	put := func(key string, n int) {
		_, err := kv.Put(b.ctx, key, []byte(strconv.Itoa(n)))
		b.must(err)
	}
	put("a", 0)
	put("a", 1)
	put("b", 2)
	b.stream = "KV_B"
	cfg := calm()
	cfg.Stream, cfg.Start = b.stream, reader.FromLastPerSubject()
	r := b.open(cfg)
	b.expect(r, 1, 2)
	for i := 3; i < 8; i++ {
		b.must(b.server.Kill(b.ctx))
		b.must(b.server.Start(b.ctx))
		b.eventually("the publisher is back", b.direct.IsConnected)
		put("a", i)
		b.expect(r, i, i)
	}
}

// The way to the server is cut for a while, and one message is published in it.
// Meanwhile the reader says so, once, and does nothing.
func TestAwayAndOneMessage(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	r := b.open(calm())
	b.expect(r, 1, 10)
	undo := b.fault("refuse")
	b.fault("cut")
	b.await("disconnected", 1)
	before, told := r.Status(), len(b.seen())
	b.publish(11, 11)
	attempts := len(b.proxy.Firings())
	b.eventually("the connection tried often", func() bool { return len(b.proxy.Firings()) >= attempts+20 })
	if s := r.Status(); s.State != reader.StateDisconnected || s.Pulls != before.Pulls || requests(r) != total(before.APIRequests) || s.Retry.Attempt != before.Retry.Attempt {
		t.Fatalf("status %+v, before %+v\n%s", s, before, b.story())
	}
	if n := len(b.seen()) - told; n > 1 {
		t.Fatalf("told %d events while it was away\n%s", n, b.story())
	}
	undo()
	b.expect(r, 11, 11)
	b.eventually("it reads", func() bool { return r.Status().State == reader.StateReading || r.Status().State == reader.StateIdle })
}

// The link carries nothing for longer than the consumer may be inactive, and no
// other may be made.
func TestConsumerReapedBehindADeadLink(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	cfg := hasty(quick())
	cfg.KeepConnection = true
	cfg.Pull.Expires = time.Second
	cfg.InactiveThreshold = time.Second
	r := b.open(cfg)
	b.expect(r, 1, 10)
	undo := b.fault("black-hole")
	b.publish(11, 20)
	b.eventually("the server has let the consumer go", func() bool { return len(b.consumers()) == 0 })
	undo()
	b.expect(r, 11, 20)
	b.publish(21, 30)
	b.expect(r, 21, 30)
	if n := b.nc.Stats().Reconnects; n != 0 || b.count("connection_forced") != 0 {
		t.Fatalf("the connection was made anew %d times\n%s", n, b.story())
	}
}

// The server stands still, and goes on.
func TestServerStandsStill(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	r := b.open(hasty(quick()))
	b.expect(r, 1, 10)
	b.must(b.server.Freeze())
	b.await("session_silent", 1)
	b.eventually("it does what it can", func() bool { return b.count("replace_failed")+b.count("connection_forced") > 0 })
	b.must(b.server.Thaw())
	b.publish(11, 20)
	b.expect(r, 11, 20)
	b.eventually("one consumer is left", func() bool { return len(b.consumers()) == 1 })
}

// Nothing answers and the callers set no limit: every Open ends by itself, and
// what the server makes of their requests when it goes on is gone soon.
func TestOpensWhileTheServerStandsStill(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.must(b.server.Freeze())
	var opening sync.WaitGroup
	for range 100 {
		opening.Go(func() {
			cfg := hasty(quick())
			cfg.InactiveThreshold = time.Second
			if r, err := reader.Open(context.Background(), b.js, cfg); err == nil {
				t.Errorf("opened on a server that stands still: %+v", r.Status())
			}
		})
	}
	opening.Wait()
	b.must(b.server.Thaw())
	b.eventually("nothing is left", func() bool { return len(b.consumers()) == 0 && b.nc.NumSubscriptions() <= 1 })
}

// Who may not make consumers hears which subject is denied, and at once.
func TestOpenWithoutCreatePermission(t *testing.T) {
	t.Parallel()
	admin := nats.UserInfo("admin", "admin")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := lab.Start(ctx, lab.Options{ReadyOptions: []nats.Option{admin}, Config: `authorization { users = [
  { user: admin, password: admin }
  { user: reader, password: reader, permissions: { publish: { deny: ["$JS.API.CONSUMER.CREATE.>"] } } }
] }`})
	if err != nil {
		t.Fatal(err)
	}
	b := attachBed(t, ctx, server, admin, nats.UserInfo("reader", "reader"))
	_, err = reader.Open(ctx, b.js, reader.Config{Stream: b.stream, Retry: reader.RetryPolicy{AttemptTimeout: time.Minute}})
	if !errors.Is(err, reader.ErrPermission) || !contains(err, "$JS.API.CONSUMER.CREATE.") {
		t.Fatalf("got %v, want ErrPermission that names the subject", err)
	}
}
