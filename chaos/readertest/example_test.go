package readertest_test

import (
	"context"
	"fmt"
	"log"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/readertest"
)

// Somebody's own nats.go code, behind a server and a proxy that loses the 50th message on the way. In a test
// this is New(t, readertest.Options{}), and the first line of TestMain is lab.Main().
func ExampleRun() {
	ctx := context.Background()
	err := readertest.Run(ctx, readertest.Options{}, func(bed *readertest.Bed) {
		bed.Stream("ORDERS", "orders.>")
		bed.Publish(100)
		bed.Inject("drop-message(nth=50)")

		// The code under test: an ordered consumer of nats.go.
		js, err := jetstream.New(bed.Connect())
		if err != nil {
			log.Fatal(err)
		}
		consumer, err := js.OrderedConsumer(ctx, "ORDERS", jetstream.OrderedConsumerConfig{})
		if err != nil {
			log.Fatal(err)
		}
		messages, err := consumer.Messages()
		if err != nil {
			log.Fatal(err)
		}
		defer messages.Stop()
		var ids []string
		for len(ids) < 100 {
			m, err := messages.Next()
			if err != nil {
				log.Fatal(err)
			}
			ids = append(ids, string(m.Data()))
		}

		fmt.Println("lost:", bed.Judge(ids).Lost, "fired:", bed.Fired("drop-message(nth=50)"))
	})
	fmt.Println("failed:", err)
	// Output:
	// lost: 0 fired: 1
	// failed: <nil>
}
