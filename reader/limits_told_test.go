package reader_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
)

// What ends a reader before it began: Open's error and the event are the same, the
// error is typed and names the subject, limit or code.
func TestLimitsToldAtOpen(t *testing.T) {
	t.Parallel()
	limits := func(c *jetstream.StreamConfig) {}
	for _, c := range []struct {
		name   string
		stream func(*jetstream.StreamConfig)
		before func(*bed)
		set    func(*reader.Config)
		want   error
		code   int
		parts  []string
	}{
		{"no stream", limits, nil, func(c *reader.Config) { c.Stream = "NONE" }, reader.ErrStreamNotFound, 10059, []string{"NONE", "10059"}},
		{"no stream of the subject", limits, nil, func(c *reader.Config) { c.Stream, c.Subjects = "", []string{"none.such"} }, reader.ErrStreamNotFound, 10059, []string{"none.such"}},
		{"work queue", func(c *jetstream.StreamConfig) { c.Retention = jetstream.WorkQueuePolicy }, nil, nil, reader.ErrConfig, 0, []string{"ORDERS", "workqueue", "set Durable"}},
		{"more replicas than servers", limits, nil, func(c *reader.Config) { c.Replicas = 3 }, reader.ErrConfig, 10074, []string{"ORDERS", "replicas", "10074"}},
		{"no slot", func(c *jetstream.StreamConfig) { c.MaxConsumers = 1 }, func(b *bed) {
			_, err := b.admin.CreateConsumer(b.ctx, b.stream, jetstream.ConsumerConfig{Name: "other"})
			b.must(err)
		}, nil, reader.ErrConsumerLimit, 10026, []string{"ORDERS", "10026"}},
		{"name in use", limits, func(b *bed) {
			_, err := b.admin.CreateConsumer(b.ctx, b.stream, jetstream.ConsumerConfig{Name: "mine", AckPolicy: jetstream.AckExplicitPolicy})
			b.must(err)
		}, func(c *reader.Config) { c.Name = "mine" }, reader.ErrNameInUse, -1, []string{"ORDERS"}},
		{"push durable", limits, func(b *bed) {
			_, err := b.admin.CreatePushConsumer(b.ctx, b.stream, jetstream.ConsumerConfig{Durable: "d", DeliverSubject: "to.me", AckPolicy: jetstream.AckExplicitPolicy})
			b.must(err)
		}, func(c *reader.Config) { c.Durable = "d" }, reader.ErrConfig, 0, []string{"d", "push"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := withStream(t, c.stream)
			b.publish(1, 3)
			if c.before != nil {
				c.before(b)
			}
			cfg := calm()
			cfg.Observer = b.observe
			if c.set != nil {
				c.set(&cfg)
			}
			err := b.refused(cfg, c.want.Error())
			if !errors.Is(err, c.want) {
				t.Fatalf("got %v, want %v", err, c.want)
			}
			e := b.await("failed", 1)
			if !errors.Is(e.Err, c.want) || e.Err.Error() != err.Error() || (c.code >= 0 && e.Code != c.code) {
				t.Fatalf("told %v with code %d; returned %v", e.Err, e.Code, err)
			}
			for _, part := range c.parts {
				if !contains(err, part) {
					t.Fatalf("%v: does not name %s", err, part)
				}
			}
			if n := b.count("failed"); n != 1 {
				t.Fatalf("failed %d times\n%s", n, b.story())
			}
		})
	}
}

// What ends a reader under way: Next, Err, Status and the event tell the same.
func TestLimitsToldUnderWay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		set   func(*reader.Config)
		wreck func(*bed, *reader.Reader)
		want  error
		cause reader.Cause
		parts []string
	}{
		{"stream gone for longer than its grace", func(c *reader.Config) { c.StreamGrace = 500 * time.Millisecond }, func(b *bed, _ *reader.Reader) {
			b.must(b.admin.DeleteStream(b.ctx, b.stream))
		}, reader.ErrStreamNotFound, "", []string{"ORDERS", "10059"}},
		{"stream made again under OnResetFail", func(c *reader.Config) { c.OnReset = reader.OnResetFail }, func(b *bed, _ *reader.Reader) {
			b.must(b.admin.DeleteStream(b.ctx, b.stream))
			_, err := b.admin.CreateStream(b.ctx, jetstream.StreamConfig{Name: b.stream, Subjects: []string{"orders.>"}})
			b.must(err)
			b.publish(1, 1)
		}, reader.ErrStreamReset, "", []string{"ORDERS", "sequence 10"}},
		{"attempts are used up", func(c *reader.Config) { c.Retry.MaxAttempts = 2 }, func(b *bed, r *reader.Reader) {
			b.fault("api-error(subject=CONSUMER.CREATE.>)")
			b.deleteConsumer(r)
		}, reader.ErrGaveUp, "consumer_deleted", []string{"ORDERS", "2 attempts", "10008"}},
		{"the time is used up", func(c *reader.Config) { *c = hasty(*c); c.Retry.TotalTimeout = 3 * time.Second }, func(b *bed, r *reader.Reader) {
			b.fault("api-timeout(subject=CONSUMER.CREATE.>)")
			b.deleteConsumer(r)
		}, reader.ErrGaveUp, "consumer_deleted", []string{"ORDERS", "total timeout 3s", "no answer"}},
		{"the connection is closed", nil, func(b *bed, _ *reader.Reader) { b.nc.Close() }, reader.ErrConnectionClosed, "connection_closed", []string{"connection closed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := withStream(t)
			b.publish(1, 10)
			cfg := calm()
			if c.set != nil {
				c.set(&cfg)
			}
			r := b.open(cfg)
			b.expect(r, 1, 10)
			c.wreck(b, r)
			_, err := r.Next(b.ctx)
			b.sameStory(r, err, c.want, c.parts...)
			if e := b.await("failed", 1); c.cause != "" && e.Cause != c.cause {
				t.Fatalf("cause %s, want %s", e.Cause, c.cause)
			}
			for _, err := range r.Messages(b.ctx) {
				if !errors.Is(err, c.want) {
					t.Fatalf("Messages gave %v", err)
				}
			}
		})
	}
}

// Under OnErrorFinish a failure is a chosen end: io.EOF behind what is buffered,
// and the failure in Err, Status, the event and Messages.
func TestLimitsToldByAnEnd(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 10)
	cfg := calm()
	cfg.OnError = reader.OnErrorFinish
	r := b.open(cfg)
	b.expect(r, 1, 10)
	b.fault("forge-status(code=409,text=Exceeded MaxWaiting)")
	b.publish(11, 11)
	for {
		if _, err := r.Next(b.ctx); err != nil {
			if !errors.Is(err, io.EOF) {
				t.Fatalf("got %v, want io.EOF\n%s", err, b.story())
			}
			break
		}
	}
	var failure *reader.RecoveryError
	if !errors.As(r.Err(), &failure) || failure.Cause != "pull_refused" || !contains(failure, "409") || !contains(failure, "MaxWaiting") {
		t.Fatalf("Err gives %v", r.Err())
	}
	if e := b.await("failed", 1); e.Err == nil || e.Err.Error() != r.Err().Error() {
		t.Fatalf("told %v", e.Err)
	}
	if s := r.Status(); s.State != reader.StateClosed || !strings.Contains(s.LastError, "MaxWaiting") {
		t.Fatalf("status %+v", s)
	}
	var last error
	for _, err := range r.Messages(b.ctx) {
		last = err
	}
	if last == nil || last.Error() != r.Err().Error() {
		t.Fatalf("Messages ended with %v", last)
	}
}
