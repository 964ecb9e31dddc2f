package commands

import "github.com/urfave/cli/v2"

// fleetFlags are the flags of many idle readers; there are none.
func fleetFlags() []cli.Flag { return nil }
