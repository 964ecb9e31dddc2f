package reader_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/reader"
)

func TestServerKilledUnderAnIdleReader(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	r := b.open(quick())
	b.expect(r, 1, 10)
	const rounds = 10
	for i := range rounds {
		b.must(b.server.Kill(b.ctx))
		b.must(b.server.Start(b.ctx))
		b.eventually("the publisher is back", b.direct.IsConnected)
		b.publish(11+i, 11+i)
		b.expect(r, 11+i, 11+i)
	}
	if s := r.Status(); s.Delivered != 10+rounds || s.Missed != 0 {
		t.Fatalf("status %+v", s)
	}
	b.alone(r) // a consumer survives a kill in its file
}

func TestServerStoppedAndStarted(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	r := b.open(calm())
	b.expect(r, 1, 10)
	b.must(b.server.Term(b.ctx))
	b.await("disconnected", 1)
	if s := r.Status(); s.State != reader.StateDisconnected {
		t.Fatalf("state %s, want disconnected", s.State)
	}
	requests := r.Status().APIRequests
	b.must(b.server.Start(b.ctx))
	b.eventually("the publisher is back", b.direct.IsConnected)
	b.publish(11, 20)
	b.expect(r, 11, 20)
	if before, after := requests["consumer_create"], r.Status().APIRequests["consumer_create"]; after > before+2 {
		t.Fatalf("%d creates for one restart", after-before)
	}
}

func TestConnectionCutIsReplacedWithTheNewOne(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"cut", "half-open"} {
		t.Run(fault, func(t *testing.T) {
			b := withStream(t)
			b.publish(1, 10)
			r := b.open(quick())
			b.expect(r, 1, 10)
			before := b.count("session_replaced") + b.count("session_healed")
			b.fault(fault)
			b.await("reconnected", 1)
			b.publish(11, 30)
			b.expect(r, 11, 30)
			// A pull of the old session may still wait, and be answered on the new connection.
			b.eventually("it is replaced or healed", func() bool {
				return b.count("session_replaced")+b.count("session_healed") > before
			})
			for cause := range r.Status().Replaced {
				if cause != "reconnected" && (fault == "cut" || cause != "answers_lost") {
					t.Fatalf("replaced by %s\n%s", cause, b.story())
				}
			}
		})
	}
}

// A link that is open and carries nothing is made anew, long before the client's
// own pings notice.
func TestDeadLinkIsMadeAnew(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	r := b.open(quick())
	b.expect(r, 1, 10)
	undo := b.fault("black-hole")
	b.publish(11, 20)
	b.await("connection_forced", 1)
	undo()
	b.expect(r, 11, 20)
}

func TestConnectionClosedForGoodEndsTheReader(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 3)
	r := b.open(quick())
	b.expect(r, 1, 3)
	b.nc.Close()
	if _, err := r.Next(b.ctx); !errors.Is(err, reader.ErrConnectionClosed) {
		t.Fatalf("got %v, want ErrConnectionClosed", err)
	}
	<-r.Done()
}

func TestLastMessageBeforeQuietIsFoundByTheHeartbeat(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	r := b.open(calm())
	b.expect(r, 1, 10)
	b.fault("drop-message(nth=1,limit=1)")
	b.publish(11, 11)
	b.expect(r, 11, 11)
	b.await("gap", 1)
	if e := b.await("session_replaced", 1); e.Cause != "gap" || e.Deaf > 20*time.Second {
		t.Fatalf("replaced %+v", e)
	}
}

func TestLostMessageInAFlowIsReadAgain(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	r := b.open(calm())
	b.fault("drop-message(nth=50,limit=1)")
	b.publish(1, 200)
	b.expect(r, 1, 200)
	if s := r.Status(); s.Gaps != 1 || s.Replaced["gap"] != 1 {
		t.Fatalf("status %+v", s)
	}
}

// On an idle stream nothing is on the wire but pulls at their expiry, heartbeats
// and the connection's own pings.
func TestIdleReaderIsQuiet(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 3)
	cfg := quick()
	cfg.Pull.Expires, cfg.Pull.Heartbeat = 2*time.Second, time.Second
	r := b.open(cfg)
	b.expect(r, 1, 3)
	pulls := func() (n int) {
		for _, f := range b.wire() {
			if f.Direction.String() == "up" && f.Verb.String() == "PUB" {
				n++
			}
		}
		return n
	}
	b.eventually("the first pull is over", func() bool { return r.Status().Pulls >= 3 })
	// A machine that stands still for two seconds is silence, and no idle reader.
	for woken := -1; woken < b.count("session_silent"); {
		woken = b.count("session_silent")
		b.eventually("it is idle", func() bool { return r.Status().State == reader.StateIdle })
		b.record()
		b.eventually("three more pulls", func() bool { return pulls() >= 3 })
	}
	for _, f := range b.wire() {
		switch {
		case f.Verb.String() == "PING" || f.Verb.String() == "PONG":
		case f.Direction.String() == "down" && (f.Status == 100 || f.Status == 408):
		case f.Direction.String() == "up" && f.Verb.String() == "PUB" && f.Subject == "$JS.API.CONSUMER.MSG.NEXT.ORDERS."+r.Status().Session.Consumer:
		default:
			t.Fatalf("on the wire of an idle reader: %+v", f)
		}
	}
}

func TestTwoReadersShareAConnection(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 100)
	one, two := b.open(quick()), b.open(quick())
	b.expect(one, 1, 100)
	b.expect(two, 1, 100)
	b.must(one.Close(b.ctx))
	b.publish(101, 120)
	b.fault("drop-subscription")
	b.expect(two, 101, 120)
}

// Permission to pull is taken away and given back under the reader.
func TestPermissions(t *testing.T) {
	t.Parallel()
	user := func(deny string) string {
		return `authorization { users = [
  { user: admin, password: admin }
  { user: reader, password: reader, permissions: { publish: { deny: [` + deny + `] } } }
] }`
	}
	admin := nats.UserInfo("admin", "admin")
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	server, err := lab.Start(ctx, lab.Options{Config: user(`"$JS.API.CONSUMER.MSG.NEXT.>"`), ReadyOptions: []nats.Option{admin}})
	if err != nil {
		t.Fatal(err)
	}
	b := attachBed(t, ctx, server, admin, nats.UserInfo("reader", "reader"))
	t.Run("denied at open", func(t *testing.T) {
		began := time.Now()
		_, err := reader.Open(ctx, b.js, quick())
		if !errors.Is(err, reader.ErrPermission) || !contains(err, "CONSUMER.MSG.NEXT") {
			t.Fatalf("got %v, want ErrPermission that names the subject", err)
		}
		if d := time.Since(began); d > 10*time.Second {
			t.Fatalf("after %s", d)
		}
	})
	t.Run("least permissions", func(t *testing.T) {
		b.must(server.Reload(ctx, user(`"$JS.API.CONSUMER.INFO.>", "$JS.API.STREAM.INFO.>", "$JS.API.CONSUMER.DELETE.>"`)))
		b.publish(1, 10)
		r := b.open(quick())
		b.expect(r, 1, 10)
		b.fault("drop-subscription")
		b.publish(11, 20)
		b.expect(r, 11, 20)
	})
	t.Run("taken away and given back", func(t *testing.T) {
		b.must(server.Reload(ctx, user("")))
		cfg := quick()
		cfg.Pull.Expires = 2 * time.Second // a pull that waits is not taken away
		r := b.open(cfg)
		b.expect(r, 1, 20)
		b.must(server.Reload(ctx, user(`"$JS.API.CONSUMER.MSG.NEXT.>"`)))
		b.await("replace_failed", b.count("replace_failed")+2)
		b.eventually("the last error names the subject", func() bool { return strings.Contains(r.Status().LastError, "MSG.NEXT") })
		b.publish(21, 30)
		b.must(server.Reload(ctx, user("")))
		b.expect(r, 21, 30)
	})
}

func TestManyReadersComeBack(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	const n = 100
	readers := make([]*reader.Reader, n)
	for i := range readers {
		cfg := calm()
		cfg.NamePrefix = "r" + strconv.Itoa(i)
		readers[i] = b.open(cfg)
		b.expect(readers[i], 1, 10)
	}
	b.must(b.server.Kill(b.ctx))
	b.must(b.server.Start(b.ctx))
	b.eventually("the publisher is back", b.direct.IsConnected)
	b.publish(11, 15)
	for _, r := range readers {
		b.expect(r, 11, 15)
	}
}

// A user who may not subscribe to inboxes hears it from Open at once.
func TestOpenWithoutInboxes(t *testing.T) {
	t.Parallel()
	config := `authorization { users = [
  { user: admin, password: admin }
  { user: reader, password: reader, permissions: { subscribe: { deny: ["_INBOX.>"] } } }
] }`
	admin := nats.UserInfo("admin", "admin")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := lab.Start(ctx, lab.Options{Config: config, ReadyOptions: []nats.Option{admin}})
	if err != nil {
		t.Fatal(err)
	}
	b := attachBed(t, ctx, server, admin, nats.UserInfo("reader", "reader"))
	if _, err := reader.Open(ctx, b.js, reader.Config{Stream: b.stream}); !errors.Is(err, reader.ErrPermission) || !contains(err, "_INBOX.") {
		t.Fatalf("got %v, want ErrPermission that names the inbox", err)
	}
}
