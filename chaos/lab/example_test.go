package lab_test

import (
	"context"
	"fmt"
	"log"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

// A test's TestMain, or main, has called lab.Main first.
func ExampleStart() {
	ctx := context.Background()
	server, err := lab.Start(ctx, lab.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()

	if err := server.Kill(ctx); err != nil { // SIGKILL
		log.Fatal(err)
	}
	if err := server.Start(ctx); err != nil { // same port, same store
		log.Fatal(err)
	}
	nc, err := nats.Connect(server.URL())
	if err != nil {
		log.Fatal(err)
	}
	defer nc.Close()
	fmt.Println(nc.IsConnected())
	// Output: true
}
