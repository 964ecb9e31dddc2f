package commands_test

import (
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

// What nobody can heal ends read and watch with exit code 3 and the same words: one
// line with the server's code or the subject, one line that says what to do.
func TestEndings(t *testing.T) {
	t.Parallel()
	for _, c := range []ending{
		{
			name: "no stream", args: []string{"NONE"},
			problem: []string{`stream "NONE" not found`, "404/10059"}, hint: "--wait-for-stream",
		},
		{
			name: "no stream stores the subject", args: []string{"none.such"},
			problem: []string{"none.such", "stream not found"}, hint: "check the name",
		},
		{
			name: "work queue without a durable", stream: func(c *jetstream.StreamConfig) { c.Retention = jetstream.WorkQueuePolicy },
			problem: []string{"stream ORDERS has workqueue retention"}, hint: "--durable NAME",
		},
		{
			name: "interest without a durable", stream: func(c *jetstream.StreamConfig) { c.Retention = jetstream.InterestPolicy },
			problem: []string{"stream ORDERS has interest retention"}, hint: "--durable NAME",
		},
		{
			name: "a durable that pushes", args: []string{"ORDERS", "--durable", "d"}, before: func(b *stage) {
				_, err := b.js.CreatePushConsumer(b.ctx, "ORDERS", jetstream.ConsumerConfig{Durable: "d", DeliverSubject: "to.me", AckPolicy: jetstream.AckExplicitPolicy})
				b.must(err)
			},
			problem: []string{"durable d", "push consumer"}, hint: "another --durable NAME",
		},
		{
			name: "a durable that takes no acks", args: []string{"ORDERS", "--durable", "d"}, before: func(b *stage) {
				b.consumer(jetstream.ConsumerConfig{Durable: "d", AckPolicy: jetstream.AckNonePolicy})
			},
			problem: []string{"durable d", "takes no acks"}, hint: "another --durable NAME",
		},
		{
			name: "a durable with another filter", args: []string{"ORDERS", "orders.b", "--durable", "d"}, before: func(b *stage) {
				b.consumer(jetstream.ConsumerConfig{Durable: "d", FilterSubject: "orders.a", AckPolicy: jetstream.AckExplicitPolicy})
			},
			problem: []string{"argument FILTER: durable d filters orders.a, not orders.b"}, hint: "another --durable NAME",
		},
		{
			name: "filters that overlap", args: []string{"ORDERS", "orders.a", "orders.>"},
			problem: []string{"cannot overlap", "400/10138"}, hint: "leave out the narrower filter",
		},
		{
			name: "no slot in the stream", stream: func(c *jetstream.StreamConfig) { c.MaxConsumers = 1 }, before: func(b *stage) {
				b.consumer(jetstream.ConsumerConfig{Name: "other"})
			},
			args: []string{"ORDERS", "--timeout", "1s"}, problem: []string{"ORDERS", "10026"}, hint: "max_consumers",
		},
		{
			name: "no slot in the account", before: func(b *stage) {
				b.must(b.server.Reload(b.ctx, strings.Replace(endingConfig, "max_consumers: 100", "max_consumers: 1", 1)))
				b.consumer(jetstream.ConsumerConfig{Name: "other"})
			},
			args: []string{"ORDERS", "--timeout", "1s"}, problem: []string{"ORDERS", "consumer limit", "10026"}, hint: "max_consumers",
		},
		{
			name: "the name is another's", before: func(b *stage) {
				b.consumer(jetstream.ConsumerConfig{Name: "mine", AckPolicy: jetstream.AckExplicitPolicy})
			},
			args: []string{"ORDERS", "--name", "mine", "--timeout", "1s"}, problem: []string{"consumer name in use: mine", "400/10148"}, hint: "another reader uses the name",
		},
		{
			name: "no JetStream in the account", user: "nojs",
			problem: []string{"JetStream not enabled for account", "503/10039"}, hint: "--js-domain",
		},
		{
			name: "JetStream taken from the account", before: func(b *stage) {
				b.must(b.server.Reload(b.ctx, strings.Replace(endingConfig, "jetstream: {max_consumers: 100}, ", "", 1)))
			},
			problem: []string{"JetStream not enabled for account", "503/10039"}, hint: "--js-domain",
		},
		{
			name: "no JetStream on the server", bare: true, args: []string{"ORDERS", "--timeout", "1s"},
			problem: []string{"JetStream"}, hint: "JetStream",
		},
		{
			name: "create is denied", user: "nocreate",
			problem: []string{"permission denied", "$JS.API.CONSUMER.CREATE.ORDERS."}, hint: "permission on that subject",
		},
		{
			name: "pull is denied", user: "nopull",
			problem: []string{"permission denied", "$JS.API.CONSUMER.MSG.NEXT.ORDERS."}, hint: "permission on that subject",
		},
		{
			name: "inbox is denied", user: "noinbox", args: []string{"ORDERS", "--timeout", "3s"},
			problem: []string{"permission denied", "_INBOX."}, hint: "permission on that subject",
		},
		{
			name: "the look at the stream is denied", user: "noinfo", args: []string{"ORDERS", "--last-per-subject"},
			problem: []string{"permission denied: flag --last-per-subject needs $JS.API.STREAM.INFO.ORDERS"}, hint: "permission on that subject",
		},
		{
			name: "stream deleted for longer than its grace", wreck: func(b *stage) { b.must(b.js.DeleteStream(b.ctx, "ORDERS")) },
			problem: []string{"ORDERS", "stream not found", "404/10059"}, hint: "--wait-for-stream",
		},
		{
			name: "stream made again under --on-reset fail", args: []string{"ORDERS", "--on-reset", "fail"}, wreck: func(b *stage) {
				b.must(b.js.DeleteStream(b.ctx, "ORDERS"))
				_, err := b.js.CreateStream(b.ctx, jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"orders.>"}})
				b.must(err)
			},
			problem: []string{"ORDERS", "stream was reset", "sequence 10"}, hint: "--on-reset restart",
		},
		{
			name: "recovery beyond --retry-timeout", args: []string{"ORDERS", "--retry-timeout", "1s"}, wreck: func(b *stage) { b.must(b.server.Kill(b.ctx)) },
			problem: []string{"gave up", "1s"}, hint: "--retry-timeout",
		},
		{
			name: "failure under --on-error finish", args: []string{"ORDERS", "--on-error", "finish", "--expires", "2s", "--heartbeat", "250ms"},
			wreck: func(b *stage) {
				b.must(b.server.Reload(b.ctx, strings.Replace(endingConfig, `"nothing.here"`, `"$JS.API.CONSUMER.MSG.NEXT.>"`, 1)))
			},
			problem: []string{"permission", "$JS.API.CONSUMER.MSG.NEXT.ORDERS."}, hint: "permission on that subject",
		},
	} {
		for _, command := range []string{"read", "watch"} {
			t.Run(command+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				b := newStage(t, c)
				b.play(command, c)
			})
		}
	}
}

// A login that is taken away and given back is told once, and read on with: no end,
// for it can be healed, and no silence.
func TestLoginTakenAway(t *testing.T) {
	t.Parallel()
	b := newStage(t, ending{})
	stdout := &awaited{text: "orders.a-10\n", seen: make(chan struct{})}
	stderr := &awaited{text: "trying again", seen: make(chan struct{})}
	args := []string{"read", "ORDERS", "--count", "12", "--no-context", "--server", b.server.URL(), "--user", "open", "--password", "open"}
	ended := make(chan int, 1)
	go func() { ended <- b.program(stdout, stderr, args...) }()
	await := func(w *awaited) {
		t.Helper()
		select {
		case <-w.seen:
		case code := <-ended:
			t.Fatalf("ended with %d before %q\n%s%s", code, w.text, stdout, stderr)
		}
	}
	await(stdout)
	b.must(b.server.Reload(b.ctx, strings.Replace(endingConfig, "password: open,", "password: other,", 1)))
	await(stderr)
	b.publish(11, 12)
	b.must(b.server.Reload(b.ctx, endingConfig))
	if code := <-ended; code != 0 || !strings.HasSuffix(stdout.String(), "orders.a-11\norders.a-12\n") {
		t.Errorf("ended with %d\n%s", code, stdout)
	}
	const warning = "nats-reader: warning: the server refuses user \"open\" of the flags: "
	if text := stderr.String(); strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, warning) {
		t.Errorf("stderr is %q", text)
	}
}

// A server that may pass over messages without a sign is told, where that concerns the
// reader; others are not.
func TestServerThatPassesOverIsTold(t *testing.T) {
	t.Parallel()
	b := newStage(t, ending{})
	for filters, warned := range map[string]bool{
		"orders.a":          false,
		"orders.a orders.b": b.js.Conn().ConnectedServerVersion() == "2.10.7",
	} {
		args := append([]string{"read", "ORDERS"}, strings.Fields(filters)...)
		stdout, stderr := &awaited{seen: make(chan struct{})}, &awaited{seen: make(chan struct{})}
		code := b.program(stdout, stderr, append(args, "--until-end", "--no-context", "--server", b.server.URL(), "--user", "open", "--password", "open")...)
		told := strings.HasPrefix(stderr.String(), "nats-reader: warning: nats-server 2.10.7 may pass over messages")
		if code != 0 || strings.Count(stdout.String(), "orders.a-") != 10 || told != warned || !told && stderr.String() != "" {
			t.Errorf("%s: exit code %d\n%s%s", filters, code, stdout, stderr)
		}
	}
}
