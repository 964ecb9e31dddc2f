package proxy_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// A client connects through the proxy, and the second message that JetStream delivers to it is lost on the way.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := lab.Start(ctx, lab.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()

	p, err := proxy.New(server.URL(), proxy.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	nc, err := nats.Connect(server.URL(), nats.SetCustomDialer(p.Dialer()))
	if err != nil {
		log.Fatal(err)
	}
	defer nc.Close()

	fault, err := proxy.ParseFault("drop-message(nth=2)")
	if err != nil {
		log.Fatal(err)
	}
	undo, err := p.Apply(fault)
	if err != nil {
		log.Fatal(err)
	}
	defer undo()

	if err := publishAndFetch(ctx, nc); err != nil {
		log.Fatal(err)
	}
	for _, f := range p.Firings() {
		fmt.Println(f.Fault, "took stream sequence", f.Frame.StreamSequence)
	}
	// Output:
	// got order 1
	// got order 3
	// drop-message(nth=2) took stream sequence 2
}

// publishAndFetch stands for the program under test.
func publishAndFetch(ctx context.Context, nc *nats.Conn) error {
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	stream, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"ORDERS.>"}})
	if err != nil {
		return err
	}
	for i := 1; i <= 3; i++ {
		if _, err := js.Publish(ctx, "ORDERS.new", fmt.Append(nil, "order ", i)); err != nil {
			return err
		}
	}
	consumer, err := stream.CreateConsumer(ctx, jetstream.ConsumerConfig{AckPolicy: jetstream.AckNonePolicy})
	if err != nil {
		return err
	}
	batch, err := consumer.FetchNoWait(3)
	if err != nil {
		return err
	}
	for m := range batch.Messages() {
		fmt.Println("got", string(m.Data()))
	}
	return nil
}
