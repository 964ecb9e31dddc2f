package commands

import "github.com/urfave/cli/v2"

// connectionless are the commands that talk to no server of the user's: they take the
// flags of a connection, as every command does, and do not tell of them.
var connectionless = map[string]bool{
	"version": true, "explain": true, "completion": true, "man": true,
	"chaos list": true, "chaos show": true, "chaos validate": true, "chaos matrix": true,
}

// wholeTime are the commands whose --timeout, given on the command line, is the time
// for all that they do.
var wholeTime = map[string]bool{"chaos run": true, "chaos matrix": true}

// connectionFlagsOf are the flags of a connection as a command tells of them.
func connectionFlagsOf(name string) []cli.Flag {
	flags := globalFlags()
	for _, f := range flags {
		hidden := connectionless[name]
		if f, is := f.(*cli.DurationFlag); is && f.Name == flagTimeout && wholeTime[name] {
			f.Category, f.Usage, f.DefaultText = "", "end the whole command after this; by its variable: how long to wait for one answer", "never"
			if hidden { // nothing is asked
				f.Usage, f.EnvVars, hidden = "end the whole command after this", nil, false
			}
		}
		if hidden {
			hide(f)
		}
	}
	return flags
}

// hide leaves a flag out of what is told.
func hide(f cli.Flag) {
	switch f := f.(type) {
	case *cli.StringFlag:
		f.Hidden = true
	case *cli.BoolFlag:
		f.Hidden = true
	case *cli.DurationFlag:
		f.Hidden = true
	case *cli.StringSliceFlag:
		f.Hidden = true
	}
}
