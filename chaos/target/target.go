package target

import (
	"context"
	"io"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/reader"
)

// Target reads a stream. One value reads once at a time.
type Target interface {
	// Name is the target as Parse takes it.
	Name() string
	// Traits say what can be expected of it.
	Traits() Traits
	// Read reads until ctx ends, and then returns nil. An error says that the target
	// ended by itself, and why; before Ready was called, that it could not begin.
	Read(ctx context.Context, in Input) error
}

// Traits are what a judge and faults must know of a target.
type Traits struct {
	Ours    bool // it is this module's reader: it tells its events and its status
	Process bool // it is a program of its own, a chaos.Program and has a PID; no pace can be set
	Durable bool // it reads at least once: a message may come again, and out of order
	Lossy   bool // its consumer acks nothing and tells nobody what was lost on the way
}

// Pace is how fast the code behind a target works; chaos.Environment takes it.
type Pace = chaos.Pace

// Report is something that a target tells beside its messages.
type Report struct {
	Time  time.Time
	Text  string
	Times uint64 // how often it was said so far; what is said again and again is told at 1, 10, 100, ...
}

// Input is what a target reads and whom it tells. Callbacks come from several
// goroutines, and none after Read has returned.
type Input struct {
	URL      string        // for outside programs: where to connect, with the login
	Stream   string        // must exist
	Subjects []string      // none: the whole stream
	Durable  string        // the name of the durable of a target that has one; "": one of its own, deleted at the end
	Config   reader.Config // of ours; Stream, Subjects, Durable and Observer are set here
	Seed     uint64        // for outside programs

	// Connect connects, as the scene wants, with these options more. How the connection behaves
	// is the target's own to say: without options as nats.go has it by itself.
	Connect func(ctx context.Context, options ...nats.Option) (*nats.Conn, error)
	// APIPrefix or Domain say where the JetStream API is; empty: where it is by itself. An
	// outside program gets them as variables.
	APIPrefix, Domain string

	Read   func(oracle.Delivery)             // every message, when the target's caller has it
	Event  func(reader.Event)                // of ours; nil: not told
	Opened func(status func() reader.Status) // of ours, once it is open; nil: not told
	Report func(Report)                      // nil: not told
	Ready  func()                            // reading has begun; of an outside program: it was started; nil: not told

	Pace   *Pace     // of the code that is handed the messages; nil: full speed
	Stderr io.Writer // of outside programs, up to MaxStderr bytes; nil: thrown away
	Env    []string  // variables more for an outside program, as key=value
}

// jetStream is the API on a connection.
func (in *Input) jetStream(nc *nats.Conn) (jetstream.JetStream, error) {
	switch {
	case in.Domain != "":
		return jetstream.NewWithDomain(nc, in.Domain)
	case in.APIPrefix != "":
		return jetstream.NewWithAPIPrefix(nc, in.APIPrefix)
	default:
		return jetstream.New(nc)
	}
}

// legacy is the older API on a connection.
func (in *Input) legacy(nc *nats.Conn) (nats.JetStreamContext, error) {
	switch {
	case in.Domain != "":
		return nc.JetStream(nats.Domain(in.Domain))
	case in.APIPrefix != "":
		return nc.JetStream(nats.APIPrefix(in.APIPrefix))
	default:
		return nc.JetStream()
	}
}

func (in *Input) ready() {
	if in.Ready != nil {
		in.Ready()
	}
}

// IDOf is the id in a payload, or in a line that an outside program printed: its
// first word. One longer than MaxID bytes is cut there, and is nobody's.
func IDOf[P []byte | string](payload P) string {
	from := 0
	for from < len(payload) && isBlank(payload[from]) {
		from++
	}
	to := from
	for to < len(payload) && to-from <= MaxID && !isBlank(payload[to]) {
		to++
	}
	return string(payload[from:to])
}

// MaxID is the length that no id reaches.
const MaxID = 128

func isBlank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// delivery is a message that an in-process target was handed.
func delivery(payload []byte, sequence, consumerSequence uint64) oracle.Delivery {
	return oracle.Delivery{ID: IDOf(payload), Sequence: sequence, ConsumerSequence: consumerSequence, Time: time.Now()}
}
