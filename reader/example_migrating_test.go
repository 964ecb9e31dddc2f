package reader_test

import (
	"context"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
)

// The functions below are shown in MIGRATING.md, and are run. Each reads ORDERS and gives the payloads to handle.

func consumeBefore(ctx context.Context, js jetstream.JetStream, handle func([]byte)) error {
	consumer, err := js.CreateOrUpdateConsumer(ctx, "ORDERS", jetstream.ConsumerConfig{
		Durable: "billing", AckPolicy: jetstream.AckExplicitPolicy,
	})
	if err != nil {
		return err
	}
	consuming, err := consumer.Consume(func(m jetstream.Msg) {
		handle(m.Data())
		m.Ack()
	})
	if err != nil {
		return err
	}
	defer consuming.Stop()
	<-ctx.Done()
	return nil
}

func consumeAfter(ctx context.Context, js jetstream.JetStream, handle func([]byte)) error {
	r, err := reader.Open(ctx, js, reader.Config{Stream: "ORDERS", Durable: "billing"})
	if err != nil {
		return err
	}
	defer r.Close(context.WithoutCancel(ctx))
	for m, err := range r.Messages(ctx) {
		if err != nil {
			return err
		}
		handle(m.Data)
		m.Ack()
	}
	return nil
}

func messagesBefore(ctx context.Context, js jetstream.JetStream, handle func([]byte)) error {
	consumer, err := js.CreateOrUpdateConsumer(ctx, "ORDERS", jetstream.ConsumerConfig{
		Durable: "billing", AckPolicy: jetstream.AckExplicitPolicy,
	})
	if err != nil {
		return err
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(100))
	if err != nil {
		return err
	}
	defer messages.Stop()
	for {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if errors.Is(err, jetstream.ErrMsgIteratorClosed) {
			return nil
		}
		if errors.Is(err, jetstream.ErrNoHeartbeat) {
			continue
		}
		if err != nil {
			return err
		}
		handle(m.Data())
		m.Ack()
	}
}

func messagesAfter(ctx context.Context, js jetstream.JetStream, handle func([]byte)) error {
	r, err := reader.Open(ctx, js, reader.Config{
		Stream: "ORDERS", Durable: "billing", Pull: reader.Pull{MaxMessages: 100},
	})
	if err != nil {
		return err
	}
	defer r.Close(context.WithoutCancel(ctx))
	for {
		m, err := r.Next(ctx)
		if err != nil {
			return err // ErrClosed, ctx's error, or what nobody can heal
		}
		handle(m.Data)
		m.Ack()
	}
}

func orderedBefore(ctx context.Context, js jetstream.JetStream, handle func([]byte)) error {
	consumer, err := js.OrderedConsumer(ctx, "ORDERS", jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{"orders.new"},
		DeliverPolicy:  jetstream.DeliverByStartSequencePolicy, OptStartSeq: 1,
	})
	if err != nil {
		return err
	}
	messages, err := consumer.Messages()
	if err != nil {
		return err
	}
	defer messages.Stop()
	for {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return err
		}
		handle(m.Data())
	}
}

func orderedAfter(ctx context.Context, js jetstream.JetStream, handle func([]byte)) error {
	r, err := reader.Open(ctx, js, reader.Config{
		Stream: "ORDERS", Subjects: []string{"orders.new"}, Start: reader.FromSequence(1),
	})
	if err != nil {
		return err
	}
	defer r.Close(context.WithoutCancel(ctx))
	for m, err := range r.Messages(ctx) {
		if err != nil {
			return err
		}
		handle(m.Data)
	}
	return nil
}

func fetchBefore(ctx context.Context, js jetstream.JetStream, handle func([]byte)) error {
	consumer, err := js.CreateOrUpdateConsumer(ctx, "ORDERS", jetstream.ConsumerConfig{
		Durable: "billing", AckPolicy: jetstream.AckExplicitPolicy,
	})
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		batch, err := consumer.Fetch(100, jetstream.FetchMaxWait(time.Second))
		if err != nil {
			return err
		}
		for m := range batch.Messages() {
			handle(m.Data())
			m.Ack()
		}
		if err := batch.Error(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func fetchAfter(ctx context.Context, js jetstream.JetStream, handle func([]byte)) error {
	r, err := reader.Open(ctx, js, reader.Config{Stream: "ORDERS", Durable: "billing"})
	if err != nil {
		return err
	}
	defer r.Close(context.WithoutCancel(ctx))
	batch := make([]reader.Message, 100)
	for {
		n, err := r.NextBatch(ctx, batch)
		if err != nil {
			return err
		}
		for _, m := range batch[:n] {
			handle(m.Data)
			m.Ack()
		}
	}
}

// What MIGRATING.md shows is what is run here, before and after, with the same result.
func TestMigrating(t *testing.T) {
	page, err := os.ReadFile("MIGRATING.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("example_migrating_test.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)\n```go\n(.*?)```\n").FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 8 {
		t.Errorf("%d Go blocks, want two for each of four", len(blocks))
	}
	for _, b := range blocks {
		inFunction := "{\n\t" + strings.ReplaceAll(strings.TrimSuffix(b[1], "\n"), "\n", "\n\t")
		inFunction = regexp.MustCompile(`(?m)^\t+$`).ReplaceAllString(inFunction, "") + "\n}"
		if !strings.Contains(string(source), inFunction) {
			t.Errorf("no function of example_migrating_test.go is\n%s", b[1])
		}
	}
	for name, read := range map[string]func(context.Context, jetstream.JetStream, func([]byte)) error{
		"Consume": consumeBefore, "Consume, after": consumeAfter, "Messages": messagesBefore, "Messages, after": messagesAfter,
		"OrderedConsumer": orderedBefore, "OrderedConsumer, after": orderedAfter, "Fetch": fetchBefore, "Fetch, after": fetchAfter,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			js, stop := exampleStream(ctx)
			defer stop()
			var got []string
			err := read(ctx, js, func(payload []byte) {
				if got = append(got, string(payload)); len(got) == 3 {
					cancel()
				}
			})
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			if !slices.Equal(got, []string{"apples", "pears", "plums"}) {
				t.Errorf("got %q", got)
			}
		})
	}
}
