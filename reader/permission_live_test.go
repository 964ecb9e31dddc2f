package reader_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/reader"
)

// A permission that is taken away under the reader is told with its subject; once
// it is given back the reader reads on and nothing is lost.
func TestPermissionTakenAwayAndGivenBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		deny  permissions
		set   func(*reader.Config)
		cause func(*bed, *reader.Reader) // what makes the reader use the subject
		want  string
		reads bool // it reads on while the subject is denied
	}{
		{"pull", deny("$JS.API.CONSUMER.MSG.NEXT.>"), nil, nil, "$JS.API.CONSUMER.MSG.NEXT.ORDERS.", false},
		{"pull of a durable", deny("$JS.API.CONSUMER.MSG.NEXT.>"), func(c *reader.Config) { c.Durable = "d" }, nil, "$JS.API.CONSUMER.MSG.NEXT.ORDERS.d", false},
		{"inbox", permissions{denySubscribe: []string{"_INBOX.>"}}, nil, nil, "_INBOX.", false},
		{"create", deny("$JS.API.CONSUMER.CREATE.>"), nil, (*bed).deleteConsumer, "$JS.API.CONSUMER.CREATE.ORDERS.", false},
		{"delete", deny("$JS.API.CONSUMER.DELETE.>"), nil, (*bed).dropSubscription, "$JS.API.CONSUMER.DELETE.ORDERS.", true},
		{"consumer info", deny("$JS.API.CONSUMER.INFO.>"), nil, (*bed).dropSubscription, "$JS.API.CONSUMER.INFO.ORDERS.", true},
		{"stream info", deny("$JS.API.STREAM.INFO.>"), nil, (*bed).purgeAll, "$JS.API.STREAM.INFO.ORDERS", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := withPermissions(t, permissions{})
			b.publish(1, 10)
			cfg := quick()
			cfg.Pull.Expires = 2 * time.Second // a pull that waits is not taken away
			if c.set != nil {
				c.set(&cfg)
			}
			r := b.open(cfg)
			next := 1
			read := func(n int) {
				if cfg.Durable != "" {
					// While it is replaced, pulls wait on two inboxes, whose messages may
					// change places.
					b.expectAcked(r, next, next+n-1)
					next += n
					return
				}
				for range n {
					m, err := r.Next(b.ctx)
					b.must(err)
					if string(m.Data) != num(next) {
						t.Fatalf("got %s, want %d\n%s", m.Data, next, b.story())
					}
					next++
				}
			}
			read(10)
			b.permit(c.deny)
			if c.cause != nil {
				c.cause(b, r)
			}
			e := b.await("permission_denied", 1)
			if !strings.Contains(e.Text, c.want) || !contains(e.Err, c.want) || !errors.Is(e.Err, reader.ErrPermission) {
				t.Fatalf("told %q, %v, want %s", e.Text, e.Err, c.want)
			}
			if c.reads {
				b.publish(11, 20)
				read(10)
				b.permit(permissions{})
			} else {
				failed := b.await("replace_failed", 2)
				if !errors.Is(failed.Err, reader.ErrPermission) || !contains(failed.Err, c.want) {
					t.Fatalf("attempt: %v", failed.Err)
				}
				b.eventually("the status says so", func() bool {
					s := r.Status()
					return strings.Contains(s.LastError, c.want) && s.State == reader.StateRecovering
				})
				b.publish(11, 20)
				b.permit(permissions{})
				read(10)
			}
			b.publish(21, 30)
			read(10)
			if s := r.Status(); s.Missed != 0 || s.Gaps != 0 {
				t.Fatalf("status %+v\n%s", s, b.story())
			}
		})
	}
}

func (b *bed) deleteConsumer(r *reader.Reader) {
	b.must(b.admin.DeleteConsumer(b.ctx, b.stream, r.Status().Session.Consumer))
}

func (b *bed) dropSubscription(*reader.Reader) { b.fault("drop-subscription") }

// purgeAll takes the message at the cursor away, so that a replacement must look
// at the stream.
func (b *bed) purgeAll(r *reader.Reader) {
	s, err := b.admin.Stream(b.ctx, b.stream)
	b.must(err)
	b.must(s.Purge(b.ctx))
	b.deleteConsumer(r)
}

// A denied ack is told with its subject, and the message comes again.
func TestPermissionToAckDenied(t *testing.T) {
	t.Parallel()
	b := withPermissions(t, permissions{})
	b.publish(1, 1)
	r := b.open(durable())
	m, err := r.Next(b.ctx)
	b.must(err)
	b.permit(deny("$JS.ACK.>"))
	b.must(m.Ack()) // published; the refusal comes later
	e := b.await("permission_denied", 1)
	if !strings.Contains(e.Text, "$JS.ACK.ORDERS.d.") || !errors.Is(e.Err, reader.ErrPermission) {
		t.Fatalf("told %q, %v", e.Text, e.Err)
	}
	b.publish(2, 2)
	b.permit(permissions{})
	m, err = r.Next(b.ctx)
	b.must(err)
	b.must(m.DoubleAck(b.ctx))
	if s := r.Status(); s.Session.Number != 1 {
		t.Fatalf("a denied ack cost a session: %+v\n%s", s, b.story())
	}
}

// A denied ask is not the end of asking: once the permission is back the reader
// learns again why it is silent.
func TestPermissionToAskIsTriedAgain(t *testing.T) {
	t.Parallel()
	b := withPermissions(t, permissions{})
	b.publish(1, 10)
	r := b.open(quick())
	b.expect(r, 1, 10)
	b.permit(deny("$JS.API.CONSUMER.INFO.>", "$JS.API.STREAM.INFO.>"))
	b.fault("drop-subscription")
	b.await("permission_denied", 1)
	b.publish(11, 20)
	b.expect(r, 11, 20)
	b.permit(permissions{})
	// A new connection may have new permissions.
	b.fault("cut")
	b.await("reconnected", 1)
	b.eventually("it reads again", func() bool { return r.Status().State == reader.StateIdle })
	lost := b.count("session_lost")
	// It fires only once a pull is out on the new connection, and a moment after it is applied.
	fired := len(b.proxy.Firings())
	b.eventually("the inbox of a pull on the new connection is dropped", func() bool {
		if len(b.proxy.Firings()) == fired {
			b.fault("drop-subscription")
		}
		return len(b.proxy.Firings()) > fired
	})
	e := b.await("session_lost", lost+1)
	if !contains(e.Err, "exists") {
		t.Fatalf("lost: %v\n%s", e.Err, b.story())
	}
	b.publish(21, 30)
	b.expect(r, 21, 30)
	if n := b.count("permission_denied"); n != 1 {
		t.Fatalf("%d refusals were told\n%s", n, b.story())
	}
}
