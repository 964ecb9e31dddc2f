package doctor_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/reader/doctor"
)

// What a server says is gathered once, and judged here or, from a bundle, anywhere.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := lab.Start(ctx, lab.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	nc, err := nats.Connect(server.URL())
	if err != nil {
		log.Fatal(err)
	}
	defer nc.Close()
	if err := pausedDurable(ctx, nc); err != nil {
		log.Fatal(err)
	}

	facts, err := doctor.Gather(ctx, nc, doctor.Options{Stream: "ORDERS", For: 100 * time.Millisecond})
	if err != nil {
		log.Fatal(err)
	}
	var bundle bytes.Buffer // to send to somebody
	if err := doctor.Write(&bundle, facts); err != nil {
		log.Fatal(err)
	}
	received, err := doctor.Read(&bundle)
	if err != nil {
		log.Fatal(err)
	}
	report := doctor.Judge(received, doctor.JudgeOptions{})
	fmt.Println(report.Verdict)
	for _, f := range report.Findings {
		fmt.Println(f.Check, f.Severity, f.Consumer)
	}
	// Output:
	// healthy
	// READER_014 info billing
}

// pausedDurable stands for what went wrong.
func pausedDurable(ctx context.Context, nc *nats.Conn) error {
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	stream, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"orders.>"}})
	if err != nil {
		return err
	}
	until := time.Now().Add(24 * time.Hour)
	_, err = stream.CreateConsumer(ctx, jetstream.ConsumerConfig{Durable: "billing", PauseUntil: &until, AckPolicy: jetstream.AckExplicitPolicy})
	return err
}
