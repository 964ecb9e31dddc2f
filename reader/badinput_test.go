package reader_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/reader"
)

// Bad input is refused with its field, and nothing is made on the server.
func TestBadInput(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	_, err := b.admin.CreateStream(b.ctx, jetstream.StreamConfig{Name: "WORK", Subjects: []string{"work.>"}, Retention: jetstream.WorkQueuePolicy})
	b.must(err)
	_, err = b.admin.CreateStream(b.ctx, jetstream.StreamConfig{Name: "MORE", Subjects: []string{"more.a", "work2.>"}})
	b.must(err)
	for _, c := range []struct {
		name, says string
		is         error
		change     func(*reader.Config)
	}{
		{"no stream", "Stream", reader.ErrConfig, func(c *reader.Config) { c.Stream = "" }},
		{"stream with a dot", "Stream", reader.ErrConfig, func(c *reader.Config) { c.Stream = "a.b" }},
		{"heartbeat", "Pull.Heartbeat", reader.ErrConfig, func(c *reader.Config) { c.Pull.Heartbeat = 20 * time.Second }},
		{"negative heartbeat", "Pull.Heartbeat", reader.ErrConfig, func(c *reader.Config) { c.Pull.Heartbeat = -1 }},
		{"negative messages", "Pull.MaxMessages", reader.ErrConfig, func(c *reader.Config) { c.Pull.MaxMessages = -1 }},
		{"negative bytes", "Pull.MaxBytes", reader.ErrConfig, func(c *reader.Config) { c.Pull.MaxBytes = -1 }},
		{"sequence 0", "Start", reader.ErrConfig, func(c *reader.Config) { c.Start = reader.FromSequence(0) }},
		{"no time", "Start", reader.ErrConfig, func(c *reader.Config) { c.Start = reader.FromTime(time.Time{}) }},
		{"durable with name", "Name", reader.ErrConfig, func(c *reader.Config) { c.Durable, c.Name = "d", "n" }},
		{"end and skip", "OnMissed", reader.ErrConfig, func(c *reader.Config) { c.StopAtEnd, c.OnMissed = true, reader.OnMissedSkip }},
		{"durable and skip", "OnMissed", reader.ErrConfig, func(c *reader.Config) { c.Durable, c.OnMissed = "d", reader.OnMissedSkip }},
		{"policy", "OnError", reader.ErrConfig, func(c *reader.Config) { c.OnError = 9 }},
		{"retry", "Retry.Max", reader.ErrConfig, func(c *reader.Config) { c.Retry.Initial, c.Retry.Max = time.Second, time.Millisecond }},
		{"negative retry", "Retry.AttemptTimeout", reader.ErrConfig, func(c *reader.Config) { c.Retry.AttemptTimeout = -1 }},
		{"subject", "Subjects", reader.ErrConfig, func(c *reader.Config) { c.Subjects = []string{"a..b"} }},
		{"work queue", "set Durable", reader.ErrConfig, func(c *reader.Config) { c.Stream = "WORK" }},
		{"unknown stream", "10059", reader.ErrStreamNotFound, func(c *reader.Config) { c.Stream = "NONE" }},
		{"subject of several", "MORE", reader.ErrConfig, func(c *reader.Config) { c.Stream, c.Subjects = "", []string{">"} }},
		{"subject of none", "no.where", reader.ErrStreamNotFound, func(c *reader.Config) { c.Stream, c.Subjects = "", []string{"no.where"} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := calm()
			c.change(&cfg)
			r, err := reader.Open(b.ctx, b.js, cfg)
			if err == nil {
				_ = r.Close(b.ctx)
				t.Fatal("opened")
			}
			if !errors.Is(err, c.is) || !contains(err, c.says) {
				t.Fatalf("got %q, want %v with %q", err, c.is, c.says)
			}
		})
	}
	for _, s := range []string{"ORDERS", "WORK", "MORE"} {
		b.stream = s
		if c := b.consumers(); len(c) != 0 {
			t.Fatalf("consumers left on %s: %v", s, c)
		}
	}
}

func TestOpenWithoutJetStream(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := lab.Start(ctx, lab.Options{NoJetStream: true})
	if err != nil {
		t.Fatal(err)
	}
	b := &bed{TB: t, ctx: ctx, server: server, news: make(chan struct{}, 1)}
	t.Cleanup(func() { b.must(server.Close()) })
	js, err := jetstream.New(b.connect(server.URL()))
	b.must(err)
	b.js = js
	if err := b.refused(calm(), "no responders"); !contains(err, "no responders") {
		t.Fatalf("got %v, want no responders", err)
	}
}

// A filter outside the stream's subjects is allowed, and reads nothing.
func TestFilterOutsideTheStream(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 3)
	cfg := atEnd()
	cfg.Subjects = []string{"elsewhere.>"}
	b.end(b.open(cfg))
}
