package reader_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/reader"
)

// account is a server with one account whose JetStream is what the text says.
func account(jetstream string) string {
	return `accounts {
  A: { jetstream: ` + jetstream + `, users: [ { user: admin, password: admin } ] }
  SYS: { users: [ { user: sys, password: sys } ] }
}
system_account: SYS
`
}

func withAccount(t *testing.T, jetstream string, options ...func(*jetstream.StreamConfig)) *bed {
	t.Helper()
	admin := nats.UserInfo("admin", "admin")
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	server, err := lab.Start(ctx, lab.Options{Config: account(jetstream), ReadyOptions: []nats.Option{admin}})
	if err != nil {
		t.Fatal(err)
	}
	return attachBed(t, ctx, server, admin, admin, options...)
}

// JetStream is switched off for the account and on again under the reader: told
// with its code meanwhile, read on afterwards; Open says it at once, typed.
func TestLimitsJetStreamSwitchedOffAndOn(t *testing.T) {
	t.Parallel()
	b := withAccount(t, "enabled")
	b.publish(1, 10)
	cfg := quick()
	cfg.Pull.Expires = time.Second
	r := b.open(cfg)
	b.expect(r, 1, 10)
	b.must(b.server.Reload(b.ctx, account("disabled")))
	b.eventually("an attempt hears of it", func() bool {
		for _, e := range b.seen() {
			if e.Kind == "replace_failed" && errors.Is(e.Err, reader.ErrJetStreamNotEnabled) && e.Code == 10039 {
				return true
			}
		}
		return false
	})
	b.eventually("the status says so", func() bool {
		s := r.Status()
		return s.State == reader.StateRecovering && strings.Contains(s.LastError, "10039")
	})
	if _, err := reader.Open(b.ctx, b.js, quick()); !errors.Is(err, reader.ErrJetStreamNotEnabled) || !contains(err, "10039") {
		t.Fatalf("open: %v", err)
	}
	b.must(b.server.Reload(b.ctx, account("enabled")))
	b.eventually("the stream is back", func() bool {
		_, err := b.admin.Publish(b.ctx, "orders.new", []byte("11"))
		return err == nil
	})
	b.publish(12, 20)
	b.expect(r, 11, 20)
}

// An account with room for one consumer: the reader keeps its consumer through a
// replacement, and a second reader is told of the limit, typed.
func TestLimitsOfTheAccount(t *testing.T) {
	t.Parallel()
	b := withAccount(t, "{ max_consumers: 1 }")
	b.publish(1, 10)
	r := b.open(quick())
	b.expect(r, 1, 10)
	b.fault("drop-subscription")
	b.publish(11, 20)
	b.expect(r, 11, 20)
	b.must(b.admin.DeleteConsumer(b.ctx, b.stream, r.Status().Session.Consumer))
	b.publish(21, 30)
	b.expect(r, 21, 30)
	if err := b.refused(quick(), "10026"); !errors.Is(err, reader.ErrConsumerLimit) || !contains(err, "10026") {
		t.Fatalf("open: %v", err)
	}
}

// A stream that allows consumers only a short life without a pull: the reader's
// own default would be refused, so it obeys.
func TestLimitsOfTheStreamOnIdleConsumers(t *testing.T) {
	t.Parallel()
	b := withStream(t, func(c *jetstream.StreamConfig) {
		c.ConsumerLimits = jetstream.StreamConsumerLimits{InactiveThreshold: 5 * time.Second, MaxAckPending: 50}
	})
	b.publish(1, 10)
	r := b.open(calm())
	b.expect(r, 1, 10)
	b.must(b.admin.DeleteConsumer(b.ctx, b.stream, r.Status().Session.Consumer))
	b.publish(11, 20)
	b.expect(r, 11, 20)
	c, err := b.admin.Consumer(b.ctx, b.stream, r.Status().Session.Consumer)
	b.must(err)
	if got := c.CachedInfo().Config.InactiveThreshold; got != 5*time.Second {
		t.Fatalf("threshold %s, want the stream's limit", got)
	}
	b.handle(b.open(durable()), 20)
}
