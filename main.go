// Command nats-reader reads JetStream streams without ever going deaf, and shows it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/commands"
)

// version is set by the release build; a plain build tells its module version.
var version = ""

func main() {
	lab.Main() // a child of the demo's server never gets past this line
	// A reader of our output that went away is told by the write, not by a
	// signal that would end the process before it has cleaned up.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	code := commands.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, version)
	stop()
	os.Exit(code)
}
