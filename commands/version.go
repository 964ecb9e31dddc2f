package commands

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/nats-io/nats.go"
	"github.com/urfave/cli/v2"
)

const versionSchema = "nats-reader/version/v1"

// versionOf is the version given at the build, else the module's, else "dev".
func versionOf(given string) string {
	if given != "" {
		return given
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

var versionExamples = []example{
	{line: "nats-reader version --json", about: "for a report of a bug"},
}

func (p *program) versionCommand() *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "tell the version and what it is made of",
		Flags: []cli.Flag{
			formatFlag(),
			boolFlag(flagJSON, "", "short for --format json"),
		},
		Action: func(c *cli.Context) error {
			asJSON, err := wantsJSON(c)
			if err != nil {
				return err
			}
			if c.NArg() > 0 {
				return usage{problem: fmt.Sprintf("version takes no argument: %q is one too many", c.Args().First())}
			}
			return p.printVersion(asJSON)
		},
	}
}

type versionJSON struct {
	Schema     string `json:"schema"`
	Version    string `json:"version"`
	Commit     string `json:"commit,omitempty"`
	Go         string `json:"go"`
	Platform   string `json:"platform"`
	NATS       string `json:"nats_go"`
	NATSServer string `json:"nats_server"` // of the demo
}

func (p *program) printVersion(asJSON bool) error {
	v := versionJSON{
		Schema: versionSchema, Version: p.version, Commit: commit(), Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, NATS: nats.Version, NATSServer: moduleVersion("github.com/nats-io/nats-server/v2"),
	}
	if asJSON {
		return json.NewEncoder(p.stdout).Encode(v)
	}
	_, err := fmt.Fprintf(p.stdout, "nats-reader %s (%s, %s; nats.go %s; demo server %s)\n", v.Version, v.Go, v.Platform, v.NATS, v.NATSServer)
	return err
}

// moduleVersion is the version of a module this binary was linked with.
func moduleVersion(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path == path {
			return m.Version
		}
	}
	return ""
}

// commit is what the binary was built from, where the build could tell.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
