package plan

import (
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
)

// SchemaName is what the field schema of a plan says.
const SchemaName = "nats-reader/plan/v1"

// Plan is one experiment. All times of steps and quiet windows count from the start
// of the inject phase. The zero value of a field is its default, which Resolve fills in.
type Plan struct {
	Schema string   `yaml:"schema" need:"true"`
	Name   string   `yaml:"name" need:"true"`
	Title  string   `yaml:"title" need:"true"`
	Why    string   `yaml:"why,omitempty"`
	Tags   []string `yaml:"tags,omitempty"`
	// Seed fixes the draws where no other is given; 0: none. In a resolved plan it is
	// the seed that was used.
	Seed uint64 `yaml:"seed,omitempty"`

	Server Server   `yaml:"server,omitempty"`
	Stream Stream   `yaml:"stream,omitempty"`
	Load   Load     `yaml:"load,omitempty"`
	Target Target   `yaml:"target,omitempty"`
	Steps  []Step   `yaml:"steps,omitempty"`
	Random *Random  `yaml:"random,omitempty"` // nil in a resolved plan: its draws are steps there
	Quiet  []Window `yaml:"quiet,omitempty"`
	Phases Phases   `yaml:"phases,omitempty"`

	Contract oracle.Limits `yaml:"contract,omitempty"`
	// Ends is what the target's own error must hold, where the plan is to end it; empty:
	// a target that ends by itself breaks off the run.
	Ends string `yaml:"ends,omitempty"`
	// Expect is the finding by target, by its name on the command line ("exec" for all
	// commands) and "others" for all that are not named; Held where nothing is said.
	Expect map[string]oracle.Finding `yaml:"expect,omitempty"`
}

// Server is where the stream lives: one of the lab's, or (Connect) the one that the
// command line names.
type Server struct {
	Version  string  `yaml:"version,omitempty"`                   // such as 2.10.22; "": the one that the program brings
	Nodes    int     `yaml:"nodes,omitempty" most:"9"`            // default 1; more: a cluster
	Replicas int     `yaml:"replicas,omitempty"`                  // of the stream; default 1
	Storage  Storage `yaml:"storage,omitempty" one:"file,memory"` // of the stream; default file
	Config   string  `yaml:"config,omitempty"`                    // text added to the lab server's config
	Connect  bool    `yaml:"connect,omitempty"`
}

// Storage is where a stream keeps its messages.
type Storage string

// The storages.
const (
	File   Storage = "file"
	Memory Storage = "memory"
)

// Stream is how the stream is made. 0 is no limit.
type Stream struct {
	Retention             Retention     `yaml:"retention,omitempty" one:"limits,interest,workqueue"` // default limits
	MaxMessages           int64         `yaml:"max_msgs,omitempty"`
	MaxBytes              int64         `yaml:"max_bytes,omitempty"`
	MaxMessagesPerSubject int64         `yaml:"max_msgs_per_subject,omitempty"`
	MaxAge                time.Duration `yaml:"max_age,omitempty"`
	Discard               Discard       `yaml:"discard,omitempty" one:"old,new"` // default old
	MaxConsumers          int           `yaml:"max_consumers,omitempty"`
	FirstSequence         uint64        `yaml:"first_seq,omitempty"`
	// MadeAfter makes the stream only so long after the target began to open it (with
	// wait_for_stream); the steady phase follows.
	MadeAfter time.Duration `yaml:"made_after,omitempty"`
}

// Retention is what a stream keeps messages for.
type Retention string

// The retentions.
const (
	Limits    Retention = "limits"
	Interest  Retention = "interest"
	WorkQueue Retention = "workqueue"
)

// Discard is what a full stream does.
type Discard string

// The discards.
const (
	DiscardOld Discard = "old"
	DiscardNew Discard = "new"
)

// Load is who publishes. Every writer has ids of its own and publishes to one subject:
// writer n of w writers to subject (n-1) mod Subjects + 1. They publish from the
// beginning of the steady phase to the end of the recover phase, quiet windows apart.
type Load struct {
	Rate     int    `yaml:"rate,omitempty" most:"100000"`     // messages a second, of all writers together; default 100
	Size     int    `yaml:"size,omitempty" most:"1000000"`    // bytes of a payload, filled up behind the id; 0: the id alone
	Writers  int    `yaml:"writers,omitempty" most:"100"`     // default as many as subjects
	Subjects int    `yaml:"subjects,omitempty" most:"100"`    // default 1
	Prefill  int    `yaml:"prefill,omitempty" most:"1000000"` // messages stored before the target opens
	Bursts   *Burst `yaml:"bursts,omitempty"`
}

// Burst is so many messages at once, every so often, beside the rate.
type Burst struct {
	Every time.Duration `yaml:"every" need:"true"`
	Count int           `yaml:"count" need:"true" least:"1" most:"100000"`
}

// Target is who reads. The settings of a reader are for the target "reader"; others
// heed Durable, Subjects and Work.
type Target struct {
	Name     string        `yaml:"name,omitempty"`                                      // as on the command line; default reader
	Durable  string        `yaml:"durable,omitempty"`                                   // its name; "": a private reader
	Subjects []int         `yaml:"subjects,omitempty"`                                  // which of the load's subjects it reads, from 1; none: the whole stream
	Start    Start         `yaml:"start,omitempty" one:"all,new,last,last-per-subject"` // default all
	Work     time.Duration `yaml:"work,omitempty"`                                      // that its caller does with each message

	Consumer          string        `yaml:"consumer,omitempty"` // exact name of the consumer (--name)
	Heartbeat         time.Duration `yaml:"heartbeat,omitempty"`
	Expires           time.Duration `yaml:"expires,omitempty"`
	Batch             int           `yaml:"batch,omitempty"`
	MaxBytes          int           `yaml:"max_bytes,omitempty"`                              // of the read-ahead
	OnError           string        `yaml:"on_error,omitempty" one:"wait,raise,finish"`       // wait, raise, finish
	OnMissed          string        `yaml:"on_missed,omitempty" one:"replay,skip"`            // replay, skip
	OnReset           string        `yaml:"on_reset,omitempty" one:"restart,follow-new,fail"` // restart, follow-new, fail
	WaitForStream     bool          `yaml:"wait_for_stream,omitempty"`
	StreamGrace       time.Duration `yaml:"stream_grace,omitempty"`
	RetryMax          time.Duration `yaml:"retry_max,omitempty"`
	RetryTimeout      time.Duration `yaml:"retry_timeout,omitempty"`
	AttemptTimeout    time.Duration `yaml:"attempt_timeout,omitempty"`
	InactiveThreshold time.Duration `yaml:"inactive_threshold,omitempty"`
	Replicas          int           `yaml:"replicas,omitempty" most:"5"` // of the consumer; 0: as the server has it
	KeepConnection    bool          `yaml:"keep_connection,omitempty"`
}

// Start is where a target begins to read.
type Start string

// The starts.
const (
	StartAll            Start = "all"
	StartNew            Start = "new"
	StartLast           Start = "last"
	StartLastPerSubject Start = "last-per-subject"
)

// Step is one fault and when it comes.
type Step struct {
	When  When   `yaml:"when,flow" need:"true"`
	Fault string `yaml:"fault" need:"true"` // as chaos.Spec writes it, without its schedule
	// For is how long it lasts; 0: the catalogue's default, or 10s. 0 in a resolved plan:
	// it acts once.
	For time.Duration `yaml:"for,omitempty"`
	// Every and Count repeat the step: Count times in all, Every after the one before.
	// A resolved plan has a step for each repetition and neither of them.
	Every time.Duration `yaml:"every,omitempty"`
	Count int           `yaml:"count,omitempty" most:"1000"`
	// Node is the fault's parameter node, or "any": one of the nodes by lot. A resolved
	// plan has it in Fault.
	Node string `yaml:"node,omitempty"`
}

// Window is a time in which nothing is published.
type Window struct {
	From time.Duration `yaml:"from" need:"true"`
	For  time.Duration `yaml:"for" need:"true" above:"0"`
}

// Phases are how long the parts of a run last. Publishing goes on through all but drain.
type Phases struct {
	// Steady is how long all must go well before the first fault; default 1s.
	Steady time.Duration `yaml:"steady,omitempty"`
	// Inject bounds the time of the faults. The phase ends when every step has come and
	// its fault is over, and so are the quiet windows; without a step it lasts so long.
	// A step that has not come by its end makes the run unknown. Default: as long as the
	// steps take, and 30s for those that wait for an event.
	Inject time.Duration `yaml:"inject,omitempty"`
	// Recover bounds the time from when all faults are cleared until the target has read
	// a message that was published after that. Default 20s.
	Recover time.Duration `yaml:"recover,omitempty"`
	// Settle is how long publishing goes on once the target reads again; default 0. A
	// durable gets what was lost on the way only after ack_wait, which is 30s by default.
	Settle time.Duration `yaml:"settle,omitempty"`
	// Drain bounds the time until all that is stored is read, with nobody publishing.
	// Default 20s. A target that reads by a durable has the server's ack_wait (30s) more:
	// what was lost on the way comes again only then.
	Drain time.Duration `yaml:"drain,omitempty"`
}
