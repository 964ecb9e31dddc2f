package lab

import (
	"flag"
	"fmt"
	"os"

	"github.com/nats-io/nats-server/v2/server"
)

const exitCannotServe = 1

// serve is the embedded nats-server: same flags, config file, signals
// (TERM shuts down with 409 Server Shutdown to pulls, HUP reloads) and exit as
// the binary of that version. It returns the exit code.
func serve(args []string) int {
	fs := flag.NewFlagSet("nats-server", flag.ContinueOnError)
	opts, err := server.ConfigureOptions(fs, args,
		server.PrintServerAndExit,
		func() { fs.Usage(); os.Exit(0) },
		server.PrintTLSHelpAndDie)
	if err != nil {
		return cannotServe(err)
	}
	if opts.CheckConfig {
		fmt.Fprintf(os.Stderr, "nats-server: configuration file %s is valid\n", opts.ConfigFile)
		return 0
	}
	s, err := server.NewServer(opts)
	if err != nil {
		return cannotServe(err)
	}
	s.ConfigureLogger()
	if err := server.Run(s); err != nil {
		return cannotServe(err)
	}
	s.WaitForShutdown()
	return 0
}

func cannotServe(err error) int {
	fmt.Fprintf(os.Stderr, "nats-server: %s\n", err)
	return exitCannotServe
}
