package reader_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/reader"
)

// permissions are what a user of the server may do; nil is no restriction.
type permissions struct {
	denyPublish, allowPublish     []string
	denySubscribe, allowSubscribe []string
}

func deny(subjects ...string) permissions { return permissions{denyPublish: subjects} }

func (p permissions) text() string {
	list := func(subjects []string) string {
		quoted := make([]string, len(subjects))
		for i, s := range subjects {
			quoted[i] = fmt.Sprintf("%q", s)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	part := func(verb string, allow, deny []string) string {
		s := ""
		if allow != nil {
			s = "allow: " + list(allow) + ", "
		}
		return verb + ": { " + s + "deny: " + list(deny) + " }"
	}
	return "{ " + part("publish", p.allowPublish, p.denyPublish) + ", " + part("subscribe", p.allowSubscribe, p.denySubscribe) + " }"
}

// config is a server with an administrator and a reader of these permissions.
func (p permissions) config() string {
	return "authorization { users = [\n  { user: admin, password: admin }\n  { user: reader, password: reader, permissions: " + p.text() + " }\n] }\n"
}

// withPermissions is a bed whose reader's connection has these permissions.
func withPermissions(t *testing.T, p permissions) *bed {
	t.Helper()
	admin := nats.UserInfo("admin", "admin")
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	server, err := lab.Start(ctx, lab.Options{Config: p.config(), ReadyOptions: []nats.Option{admin}})
	if err != nil {
		t.Fatal(err)
	}
	return attachBed(t, ctx, server, admin, nats.UserInfo("reader", "reader"))
}

func (b *bed) permit(p permissions) {
	b.Helper()
	b.must(b.server.Reload(b.ctx, p.config()))
}

// untimed is a configuration whose requests never run out of time: what ends one
// is an answer or a refusal.
func untimed() reader.Config {
	cfg := quick()
	cfg.Retry.AttemptTimeout = 10 * time.Minute
	return cfg
}

// A denied subject ends Open at its first attempt, by the server's word and not by
// a time-out, and is named in the error, the event and what else tells of it.
func TestPermissionDeniedAtOpen(t *testing.T) {
	t.Parallel()
	b := withPermissions(t, permissions{})
	b.publish(1, 5)
	durable := func(c *reader.Config) { c.Durable = "d" }
	for _, c := range []struct {
		name string
		deny permissions
		set  func(*reader.Config)
		want string
	}{
		{"stream names", deny("$JS.API.STREAM.NAMES"), func(c *reader.Config) { c.Stream, c.Subjects = "", []string{"orders.new"} }, "$JS.API.STREAM.NAMES"},
		{"stream info under StopAtEnd", deny("$JS.API.STREAM.INFO.>"), func(c *reader.Config) { c.StopAtEnd = true }, "$JS.API.STREAM.INFO.ORDERS"},
		{"stream info under FromLastPerSubject", deny("$JS.API.STREAM.INFO.>"), func(c *reader.Config) { c.Start = reader.FromLastPerSubject() }, "$JS.API.STREAM.INFO.ORDERS"},
		{"create", deny("$JS.API.CONSUMER.CREATE.>"), nil, "$JS.API.CONSUMER.CREATE.ORDERS."},
		{"create of a filter", deny("$JS.API.CONSUMER.CREATE.*.*.orders.new"), func(c *reader.Config) { c.Subjects = []string{"orders.new"} }, ".orders.new"},
		{"create of a durable", deny("$JS.API.CONSUMER.CREATE.>"), durable, "$JS.API.CONSUMER.CREATE.ORDERS.d"},
		{"pull", deny("$JS.API.CONSUMER.MSG.NEXT.>"), nil, "$JS.API.CONSUMER.MSG.NEXT.ORDERS."},
		{"pull of a durable", deny("$JS.API.CONSUMER.MSG.NEXT.>"), durable, "$JS.API.CONSUMER.MSG.NEXT.ORDERS.d"},
		{"end of a durable", deny("$JS.API.CONSUMER.INFO.>"), func(c *reader.Config) { c.Durable, c.StopAtEnd = "d", true }, "$JS.API.CONSUMER.INFO.ORDERS.d"},
		{"inbox", permissions{denySubscribe: []string{"_INBOX.>"}}, nil, "_INBOX."},
		{"everything", permissions{allowPublish: []string{"nothing"}, allowSubscribe: []string{"nothing"}}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := b.on(t)
			b.permit(c.deny)
			cfg := untimed()
			cfg.Observer = b.observe
			if c.set != nil {
				c.set(&cfg)
			}
			ctx, cancel := context.WithTimeout(b.ctx, patience)
			defer cancel()
			r, err := reader.Open(ctx, b.js, cfg)
			if err == nil {
				b.must(r.Close(ctx))
				t.Fatal("opened")
			}
			if !errors.Is(err, reader.ErrPermission) || !contains(err, c.want) || errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("got %v\nwant ErrPermission that names %s", err, c.want)
			}
			if e := b.await("permission_denied", 1); !strings.Contains(e.Text, c.want) || !errors.Is(e.Err, reader.ErrPermission) {
				t.Fatalf("told %q, %v", e.Text, e.Err)
			}
			if e := b.await("failed", 1); !errors.Is(e.Err, reader.ErrPermission) || e.Err.Error() != err.Error() {
				t.Fatalf("told %v, returned %v", e.Err, err)
			}
			if n := b.count("replace_failed"); n != 1 {
				t.Fatalf("%d attempts failed, want one\n%s", n, b.story())
			}
		})
	}
}
