package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/plan"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
	"github.com/an-open-reader/nats-reader/chaos/target"
	"github.com/an-open-reader/nats-reader/reader"
)

// Options say what to run.
type Options struct {
	Plan   plan.Plan // resolved: no draw is left in it
	Target target.Target
	// ServerBin is the path of the nats-server that the lab runs; "": the version of the
	// plan, or else the one that the lab takes by itself.
	ServerBin string
	// Server is the one that plans with server.connect run on; nil: there is none.
	Server *Foreign
	// Timeout ends the run, whatever it is doing; 0: the plan's own times do.
	Timeout time.Duration
	// Progress is told what happens, from several goroutines; it must be quick. nil: nobody is.
	Progress func(Progress)
	// Opened is given the status of our reader once it is open; nil: nobody is. It must be quick.
	Opened func(status func() reader.Status)
	// Stderr takes what outside programs write there; nil: it is thrown away.
	Stderr io.Writer
	// Trace takes the stack of a panic, of a target or of ours; nil: it is thrown away.
	Trace io.Writer
}

// Foreign is a server that is not the lab's. The run makes a stream of its own there, and
// removes it.
type Foreign struct {
	Servers string        // their URLs, separated by commas
	Login   *url.Userinfo // for outside programs; nil: they find their own
	// Connect makes a connection with the login of the command line and these options. How it
	// behaves is theirs to say: without them it is as nats.go has it by itself.
	Connect func(ctx context.Context, options ...nats.Option) (*nats.Conn, error)
	// JetStream gives the API on a connection, by its prefix or domain.
	JetStream func(*nats.Conn) (jetstream.JetStream, error)
	// Proxy says how the proxy speaks with the servers.
	Proxy proxy.Options
	// Inside are the options of a connection that goes through the proxy.
	Inside []nats.Option
	// AllowServerFaults and TargetName permit faults that act on a whole stream, and
	// those that destroy one. The stream of the run is called TargetName where that is
	// set; it must not exist.
	AllowServerFaults bool
	TargetName        string
	// Journal keeps what is to be undone there in case this process does not come to it.
	Journal *chaos.Journal
}

// Check tells what cannot be run at all: what is missing, and what the safety rules forbid
// on a server of others. Run begins with it.
func (o Options) Check() error {
	switch {
	case o.Target == nil:
		return errors.New("run a plan: Options.Target is missing")
	case o.Timeout < 0:
		return fmt.Errorf("run plan %s: Options.Timeout is %s: use a positive duration, or 0 for none", o.Plan.Name, o.Timeout)
	case o.Plan.Server.Connect && o.Server == nil:
		return fmt.Errorf("run plan %s: it connects to a server, and Options.Server names none", o.Plan.Name)
	case !o.Plan.Server.Connect && o.Server != nil:
		return fmt.Errorf("run plan %s: it brings a server of the lab, and Options.Server names another", o.Plan.Name)
	case o.Plan.Random != nil || o.Plan.Seed == 0 || o.Plan.Phases.Inject == 0:
		return fmt.Errorf("run plan %s: it is not resolved: use Plan.Resolve", o.Plan.Name)
	}
	if err := o.Plan.Validate(); err != nil {
		return fmt.Errorf("run plan %s: %w", o.Plan.Name, err)
	}
	if err := o.refused(); err != nil {
		return fmt.Errorf("run plan %s: %w", o.Plan.Name, err)
	}
	return nil
}

// unnamed stands for the stream of a run that nobody has named.
const unnamed = "NAME"

// refused tells what the safety rules forbid before anything is begun.
func (o Options) refused() error {
	if o.Server == nil {
		return nil
	}
	env := &chaos.Environment{
		Stream: cmp.Or(o.Server.TargetName, unnamed), AllowServerFaults: o.Server.AllowServerFaults, TargetName: o.Server.TargetName,
	}
	for _, s := range o.Plan.Steps {
		spec, err := s.Spec()
		if err != nil {
			return err
		}
		if f, _ := chaos.FindFault(spec.Name); f.Layer != chaos.LayerServer {
			continue // the others act on what is the run's own
		}
		if err := env.Allow(spec); err != nil {
			return err
		}
	}
	return nil
}
