package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/reader"
)

// Dial makes a connection: to the servers of a URL, or to those that the user named where it is empty. More options win over its own.
type Dial func(ctx context.Context, url, name string, more ...nats.Option) (jetstream.JetStream, error)

// Plan says what is measured. Only one of three is: what readers cost (Readers without For), whether idle
// readers stay as they are (Readers with For), whether one reader does at full speed (For alone).
type Plan struct {
	Readers     int // how many, all opened at once; 0: one at full speed
	Streams     int // they are spread over; default 20, or one a reader where there are fewer readers
	Connections int // they share; default 1

	Idle time.Duration // how long idle readers are counted; default 1m
	For  time.Duration // how long samples are taken; 0: no samples

	Rate int // messages a second at full speed at most; 0: no bound
	Size int // bytes of a payload; default 128

	Memory bool // the streams are kept in memory instead of in files

	Config reader.Config // what every reader is; the stream is the fleet's

	Given     bool           // measure on a server of others: it is not ended, and what was made is deleted
	Journal   *chaos.Journal // of Given: what a killed process leaves is found by it
	Nodes     int            // of the lab's cluster; 0 and 1: one server
	ServerBin string         // what the lab runs; "": as lab.Options
	Dial      Dial           // how connections are made

	Within   time.Duration // how soon all must read again once the server is up; 0: it is not judged
	Patience time.Duration // after which a reader that has not read counts as one that does not; default 5m

	Told func(Progress) // is told what happens, by one goroutine at a time; may be nil
}

// Defaults of a plan.
const (
	DefaultStreams  = 20
	DefaultIdle     = time.Minute
	DefaultSize     = 128
	defaultPatience = 5 * time.Minute
)

// Bounds of a plan.
const (
	MostReaders = 200_000
	MostStreams = 10_000
	MostRate    = 100_000_000
	MostSize    = 1 << 20
	LeastFor    = 3 * time.Second // fewer samples tell nothing
	LeastIdle   = time.Second
)

// ErrPlan marks a plan that cannot be played; the error tells the field by the name of its flag.
var ErrPlan = errors.New("no such fleet")

// PlanError is a field of a plan that cannot be as it is.
type PlanError struct {
	Flag    string // without dashes
	Problem string
	Hint    string // may be empty
}

func (e *PlanError) Error() string { return fmt.Sprintf("flag --%s: %s", e.Flag, e.Problem) }

// Unwrap lets errors.Is find ErrPlan.
func (e *PlanError) Unwrap() error { return ErrPlan }

// settle puts in the defaults and refuses what cannot be.
func (p *Plan) settle() error {
	if p.Streams == 0 {
		p.Streams = min(DefaultStreams, max(p.Readers, 1))
	}
	if p.Connections == 0 {
		p.Connections = 1
	}
	if p.Idle == 0 {
		p.Idle = DefaultIdle
	}
	if p.Size == 0 {
		p.Size = DefaultSize
	}
	if p.Patience == 0 {
		p.Patience = defaultPatience
	}
	if p.Told == nil {
		p.Told = func(Progress) {}
	}
	return p.validate()
}

func (p *Plan) validate() error {
	refuse := func(flag, hint, problem string, args ...any) error {
		return &PlanError{Flag: flag, Problem: fmt.Sprintf(problem, args...), Hint: hint}
	}
	for _, f := range []struct {
		flag        string
		n, low, top int
	}{
		{"readers", p.Readers, 0, MostReaders}, {"streams", p.Streams, 1, MostStreams}, {"connections", p.Connections, 1, MostReaders},
		{"rate", p.Rate, 0, MostRate}, {"size", p.Size, 1, MostSize},
	} {
		if f.n < f.low || f.n > f.top {
			return refuse(f.flag, "", "%d is not %d to %d", f.n, f.low, f.top)
		}
	}
	switch {
	case p.Readers == 0 && p.For == 0:
		return refuse("readers", "name a number of readers, or --for the time of one reader at full speed", "nothing is to be measured")
	case p.For != 0 && p.For < LeastFor:
		return refuse("for", "a run of minutes tells what grows", "%s is too short to see whether anything grows: %s at least", p.For, LeastFor)
	case p.Idle < LeastIdle:
		return refuse("idle-time", "", "%s is too short to count anything: %s at least", p.Idle, LeastIdle)
	case p.Readers > 0 && p.Streams > p.Readers:
		return refuse("streams", "a stream without a reader measures nothing", "%d streams are more than %d readers", p.Streams, p.Readers)
	case p.Connections > max(p.Readers, 1):
		return refuse("connections", "", "%d connections are more than %d readers", p.Connections, max(p.Readers, 1))
	case p.Given && p.Nodes != 0:
		return refuse("nodes", "leave --server and --context out for a cluster of the lab", "the server is given: its nodes are not the lab's")
	case p.Nodes < 0 || p.Nodes == 2 || p.Nodes > mostNodes:
		return refuse("nodes", "1 is a server by itself", "%d nodes are no cluster of the lab: 1, or 3 to %d", p.Nodes, mostNodes)
	case p.Within < 0:
		return refuse("within", "", "%s is below 0", p.Within)
	case p.Patience < 0:
		return refuse("limit", "", "%s is below 0", p.Patience)
	case p.Dial == nil:
		return fmt.Errorf("%w: Plan.Dial is missing", ErrPlan)
	case p.Given && p.Journal == nil:
		return fmt.Errorf("%w: Plan.Journal is missing", ErrPlan)
	}
	return p.openFiles()
}

// kind is which of the three measurements a plan asks for.
func (p *Plan) kind() Kind {
	switch {
	case p.Readers == 0:
		return Flow
	case p.For > 0:
		return Steady
	default:
		return Cost
	}
}
