package reader_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/reader"
)

// exampleStream gives a JetStream with a stream ORDERS of three messages.
func exampleStream(ctx context.Context) (js jetstream.JetStream, stop func()) {
	server, err := lab.Start(ctx, lab.Options{})
	if err != nil {
		log.Fatal(err)
	}
	nc, err := nats.Connect(server.URL(), nats.FlusherTimeout(2*time.Second), nats.MaxReconnects(-1))
	if err != nil {
		log.Fatal(err)
	}
	js, err = jetstream.New(nc)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"orders.>"}}); err != nil {
		log.Fatal(err)
	}
	for _, order := range []string{"apples", "pears", "plums"} {
		if _, err := js.Publish(ctx, "orders.new", []byte(order)); err != nil {
			log.Fatal(err)
		}
	}
	return js, func() {
		nc.Close()
		if err := server.Close(); err != nil {
			log.Fatal(err)
		}
	}
}

func ExampleOpen() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	js, stop := exampleStream(ctx)
	defer stop()

	r, err := reader.Open(ctx, js, reader.Config{Stream: "ORDERS", StopAtEnd: true})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close(ctx)
	for m, err := range r.Messages(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(m.Sequence, m.Subject, string(m.Data))
	}
	// Output:
	// 1 orders.new apples
	// 2 orders.new pears
	// 3 orders.new plums
}

// A checkpoint after processing, and a reader that goes on from it.
func ExampleReader_Position() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	js, stop := exampleStream(ctx)
	defer stop()

	r, err := reader.Open(ctx, js, reader.Config{Stream: "ORDERS"})
	if err != nil {
		log.Fatal(err)
	}
	m, err := r.Next(ctx)
	if err != nil {
		log.Fatal(err)
	}
	checkpoint, err := json.Marshal(m.Position())
	if err != nil {
		log.Fatal(err)
	}
	if err := r.Close(ctx); err != nil {
		log.Fatal(err)
	}

	var p reader.Position
	if err := json.Unmarshal(checkpoint, &p); err != nil {
		log.Fatal(err)
	}
	r, err = reader.Open(ctx, js, reader.Config{Stream: "ORDERS", Start: reader.FromPosition(p)})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close(ctx)
	m, err = r.Next(ctx)
	fmt.Println(m.Sequence, string(m.Data), err)
	// Output: 2 pears <nil>
}

func ExampleOpen_missingStream() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	js, stop := exampleStream(ctx)
	defer stop()

	_, err := reader.Open(ctx, js, reader.Config{Stream: "INVOICES"})
	fmt.Println(errors.Is(err, reader.ErrStreamNotFound))
	fmt.Fprintln(os.Stderr, err)
	// Output: true
}
