// A target of nats-reader chaos: reads a stream with nats.go's Consume, as its
// documentation tells users to, and prints the first word of each message as a line.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := read(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "reader:", err)
		os.Exit(1)
	}
}

// read reads until ctx ends, or until Consume gives up.
func read(ctx context.Context) error {
	url, stream := os.Getenv("NATS_URL"), os.Getenv("NATS_READER_STREAM")
	if url == "" || stream == "" {
		return errors.New("NATS_URL and NATS_READER_STREAM must say what to read")
	}
	nc, err := nats.Connect(url)
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	c, err := js.CreateOrUpdateConsumer(ctx, stream, jetstream.ConsumerConfig{
		Durable: os.Getenv("NATS_READER_DURABLE"), AckPolicy: jetstream.AckExplicitPolicy,
		FilterSubjects: strings.Fields(os.Getenv("NATS_READER_SUBJECT")),
	})
	if err != nil {
		return err
	}
	consuming, err := c.Consume(func(m jetstream.Msg) {
		id, _, _ := bytes.Cut(m.Data(), []byte(" "))
		fmt.Printf("%s\n", id)
		if err := m.Ack(); err != nil {
			fmt.Fprintln(os.Stderr, "reader: ack:", err)
		}
	}, jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) { fmt.Fprintln(os.Stderr, "reader:", err) }))
	if err != nil {
		return err
	}
	defer consuming.Stop()
	select {
	case <-consuming.Closed():
		return errors.New("Consume has ended by itself")
	case <-ctx.Done():
		return nil
	}
}
