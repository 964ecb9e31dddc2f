package control_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/chaos/proxy/control"
)

// A proxy whose faults another program decides on.
func ExampleClient() {
	ctx := context.Background()
	p, err := proxy.New("nats://127.0.0.1:4222", proxy.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	c := control.New(p, control.Options{Name: "orders"})
	defer c.Close()
	server, err := c.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close(ctx)

	client, err := control.NewClient(server.URL(), "") // the other program
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	fault, err := client.Inject(ctx, "drop-message(nth=3)", 10*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(fault.ID, fault.Fault, "for", fault.For)
	_, err = client.Inject(ctx, "drop-mesage", 0)
	fmt.Println(err)
	// Output:
	// 1 drop-message(nth=3) for 10s
	// fault "drop-mesage": no such fault
}
