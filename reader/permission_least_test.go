package reader_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
)

// need is what a reader of ORDERS has to be allowed to publish, and what for. The README shows all of them.
type need struct {
	what    string
	publish []string
}

// The least, and what is more comfortable. Every reader also subscribes on its inbox prefix.
var (
	needPrivate = need{"a private reader", []string{"$JS.API.CONSUMER.CREATE.ORDERS.>", "$JS.API.CONSUMER.MSG.NEXT.ORDERS.>"}}
	needComfort = []need{
		{"… that knows a re-created stream for certain; `StopAtEnd`, `FromLastPerSubject`", []string{"$JS.API.STREAM.INFO.ORDERS"}},
		{"… that tells an expired consumer from lost answers", []string{"$JS.API.CONSUMER.INFO.ORDERS.>"}},
		{"… that deletes what it leaves, instead of telling it to lapse within a second or two", []string{"$JS.API.CONSUMER.DELETE.ORDERS.>"}},
		{"… with a filter, that notices a stream restored from a backup which has grown past its place since", []string{"$JS.API.STREAM.MSG.GET.ORDERS"}},
	}
	needName = need{"one with `Name: \"mine\"`, and no other consumer", []string{
		"$JS.API.CONSUMER.CREATE.ORDERS.mine", "$JS.API.CONSUMER.MSG.NEXT.ORDERS.mine",
		"$JS.API.CONSUMER.INFO.ORDERS.mine", "$JS.API.CONSUMER.DELETE.ORDERS.mine",
	}}
	needDurable = need{"one with `Durable: \"billing\"`, which exists", []string{
		"$JS.API.CONSUMER.INFO.ORDERS.billing", "$JS.API.CONSUMER.MSG.NEXT.ORDERS.billing", "$JS.ACK.ORDERS.billing.>",
	}}
	needCreated = need{"… which it is to create", []string{"$JS.API.CONSUMER.CREATE.ORDERS.billing", "$JS.API.CONSUMER.CREATE.ORDERS.billing.>"}}
)

// allow are the permissions that these needs add up to.
func allow(needs ...need) permissions {
	p := permissions{allowSubscribe: []string{"_INBOX.>"}}
	for _, n := range needs {
		p.allowPublish = append(p.allowPublish, n.publish...)
	}
	return p
}

// The README shows what is tested below.
func TestReadmePermissions(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	table := "| who | publishes on |\n|---|---|\n"
	for _, n := range append(append([]need{needPrivate}, needComfort...), needName, needDurable, needCreated) {
		table += "| " + n.what + " | `" + strings.Join(n.publish, "`, `") + "` |\n"
	}
	if !strings.Contains(string(text), "\n"+table+"\n") {
		t.Errorf("the table of permissions in README.md is to be\n%s", table)
	}
}

// The least that a reader needs: nothing else is used, and it heals with it.
func TestPermissionLeastSet(t *testing.T) {
	t.Parallel()
	b := withPermissions(t, permissions{})
	b.publish(1, 10)
	t.Run("private", func(t *testing.T) {
		b := b.on(t)
		b.permit(allow(needPrivate))
		r := b.open(quick())
		b.expect(r, 1, 10)
		b.fault("drop-subscription")
		b.publish(11, 20)
		b.expect(r, 11, 20)
		b.must(b.admin.DeleteConsumer(b.ctx, b.stream, r.Status().Session.Consumer))
		b.publish(21, 30)
		b.expect(r, 21, 30)
		b.await("session_replaced", 2)
	})
	t.Run("comfort", func(t *testing.T) {
		b := b.on(t)
		b.permit(allow(append(needComfort, needPrivate)...))
		cfg := calm()
		cfg.Subjects = []string{"orders.>"}
		r := b.open(cfg)
		b.expect(r, 1, 30)
		b.must(b.admin.DeleteConsumer(b.ctx, b.stream, r.Status().Session.Consumer))
		b.await("session_replaced", 1)
		b.must(r.Close(b.ctx))
		cfg.StopAtEnd = true
		r = b.open(cfg)
		b.expect(r, 1, 30)
		if m, err := r.Next(b.ctx); !errors.Is(err, io.EOF) {
			t.Errorf("got %v, %v, want io.EOF", m.Sequence, err)
		}
		b.must(r.Close(b.ctx))
		if n := b.count("permission_denied"); n != 0 {
			t.Errorf("%d requests were denied:\n%s", n, b.story())
		}
		b.eventually("nothing is left", func() bool { return len(b.consumers()) == 0 })
	})
	t.Run("one name", func(t *testing.T) {
		b := b.on(t)
		b.permit(allow(needName))
		cfg := quick()
		cfg.Name = "mine"
		r := b.open(cfg)
		b.expect(r, 1, 30)
		b.fault("drop-subscription")
		b.publish(31, 40)
		b.expect(r, 31, 40)
	})
	billing := calm()
	billing.Durable = "billing"
	t.Run("durable", func(t *testing.T) {
		b := b.on(t)
		b.permit(permissions{})
		_, err := b.admin.CreateConsumer(b.ctx, b.stream, jetstream.ConsumerConfig{Durable: "billing", AckPolicy: jetstream.AckExplicitPolicy})
		b.must(err)
		b.permit(allow(needDurable))
		r := b.open(billing)
		b.handle(r, 40)
		b.fault("drop-subscription")
		b.publish(41, 50)
		b.handle(r, 10)
		b.must(r.Close(b.ctx))
		b.must(b.admin.DeleteConsumer(b.ctx, b.stream, "billing"))
	})
	t.Run("durable to be created", func(t *testing.T) {
		b := b.on(t)
		b.permit(allow(needDurable, needCreated))
		for _, subjects := range [][]string{nil, {"orders.new"}} {
			cfg := billing
			cfg.Subjects = subjects
			r, err := reader.Open(b.ctx, b.js, cfg)
			b.must(err)
			b.handle(r, 50)
			b.must(r.Close(b.ctx))
			b.must(b.admin.DeleteConsumer(b.ctx, b.stream, "billing"))
		}
	})
}
