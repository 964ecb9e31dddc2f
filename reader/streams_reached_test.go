package reader_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/reader"
)

// The stream is in another domain or account; what the reader asks goes by a prefix,
// and what it does is the same.
func TestStreamsReachedByPrefix(t *testing.T) {
	t.Parallel()
	accounts := `jetstream { domain: hub }
accounts {
  JS: { jetstream: enabled, users: [ { user: admin, password: admin } ]
        exports: [ { service: "$JS.API.>", response_type: stream }, { service: "$JS.hub.API.>", response_type: stream }, { service: "$JS.ACK.>" } ] }
  APP: { users: [ { user: app, password: app } ]
         imports: [ { service: { account: JS, subject: "$JS.API.>" }, to: "JS.shop.API.>" }, { service: { account: JS, subject: "$JS.ACK.>" } } ] }
}
`
	admin, app := nats.UserInfo("admin", "admin"), nats.UserInfo("app", "app")
	for _, c := range []struct {
		name string
		user nats.Option
		js   func(*nats.Conn) (jetstream.JetStream, error)
	}{
		{"domain", admin, func(nc *nats.Conn) (jetstream.JetStream, error) { return jetstream.NewWithDomain(nc, "hub") }},
		{"prefix of the domain", admin, func(nc *nats.Conn) (jetstream.JetStream, error) { return jetstream.NewWithAPIPrefix(nc, "$JS.hub.API") }},
		{"imported account", app, func(nc *nats.Conn) (jetstream.JetStream, error) { return jetstream.NewWithAPIPrefix(nc, "JS.shop.API") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			t.Cleanup(cancel)
			server, err := lab.Start(ctx, lab.Options{Config: accounts, ReadyOptions: []nats.Option{admin}})
			if err != nil {
				t.Fatal(err)
			}
			b := attachBed(t, ctx, server, admin, c.user)
			b.js, err = c.js(b.nc)
			b.must(err)
			b.publish(1, 10)
			r := b.open(quick())
			b.expect(r, 1, 10)
			b.fault("drop-subscription")
			b.publish(11, 20)
			b.expect(r, 11, 20)
			b.replace(r)
			b.publish(21, 30)
			b.expect(r, 21, 30)
			b.must(b.server.Restart(b.ctx))
			b.eventually("the publisher is back", b.direct.IsConnected)
			b.publish(31, 40)
			b.expect(r, 31, 40)
			d := b.open(durable())
			b.handle(d, 40)
			b.must(d.Close(b.ctx))
			b.must(r.Close(b.ctx))
			if left := b.consumers(); len(left) != 1 || left[0] != "d" {
				t.Fatalf("left are %v, want the durable alone", left)
			}
		})
	}
}

// An operator's pause is told and respected: no other consumer is made, not for
// lost answers and not for a restart of the server (2.11; older servers know none).
func TestStreamsPausedConsumer(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	cfg := quick()
	cfg.Pull.MaxMessages = 4 // the rest waits on the server, which is known
	r := b.open(cfg)
	b.eventually("no more is read ahead", func() bool { return r.Status().State == reader.StateBufferFull })
	ahead := r.Status().Buffered
	name := r.Status().Session.Consumer
	pause := func(d time.Duration) error {
		ctx, cancel := context.WithTimeout(b.ctx, 3*time.Second) // an older server answers nothing
		defer cancel()
		_, err := b.admin.PauseConsumer(ctx, b.stream, name, time.Now().Add(d))
		return err
	}
	if !b.since(2, 11) {
		if err := pause(time.Hour); err == nil {
			t.Fatal("a server before 2.11 paused a consumer")
		}
		b.expect(r, 1, 10)
		return
	}
	b.must(pause(time.Hour))
	b.expect(r, 1, ahead)
	b.await("paused", 1)
	paused := func() bool { return r.Status().State == "paused" && r.Status().Session.Consumer == name }
	b.eventually("the state is paused", paused)

	t.Log("the answers are lost")
	n, lost := r.Status().Session.Number, b.count("session_lost")
	b.fault("drop-subscription")
	b.await("session_lost", lost+1)
	b.eventually("a new inbox is bound, and the state is paused", func() bool { return paused() && r.Status().Session.Number > n })

	t.Log("the server is restarted")
	n = r.Status().Session.Number
	b.must(b.server.Restart(b.ctx))
	b.eventually("a new inbox is bound, and the state is paused", func() bool { return paused() && r.Status().Session.Number > n })
	if got := b.consumers(); len(got) != 1 || got[0] != name {
		t.Fatalf("consumers %v, want %s alone", got, name)
	}
	if s := r.Status(); s.APIRequests["consumer_create"] != 1 || s.Delivered != uint64(ahead) {
		t.Fatalf("status %+v\n%s", s, b.story())
	}
	b.must(pause(-time.Second)) // over
	b.expect(r, ahead+1, 10)
	b.publish(11, 15)
	b.expect(r, 11, 15)
	if s := r.Status(); s.Session.Consumer != name || s.Missed != 0 {
		t.Fatalf("status %+v", s)
	}
}
