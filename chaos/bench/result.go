package bench

import (
	"time"
)

// Schema is the schema field of a Result.
const Schema = "nats-reader/bench/v1"

// Result is what a bench has measured so far.
type Result struct {
	Schema string `json:"schema"`
	Made   Made   `json:"made"`

	Storage  string        `json:"storage"`
	Rounds   int           `json:"rounds"`
	Batch    int           `json:"batch"` // of equal pulls
	Work     time.Duration `json:"work_ns"`
	Metadata bool          `json:"metadata"`
	Bases    []string      `json:"bases"`
	Whole    bool          `json:"whole"` // every contestant has read in every round

	Series []Series `json:"series"`
}

// Made says where and when a bench was made.
type Made struct {
	Program string    `json:"program"` // its version
	System  string    `json:"system"`  // such as linux/amd64
	Go      string    `json:"go"`
	Client  string    `json:"client"` // the version of nats.go
	Cores   int       `json:"cores"`
	Server  string    `json:"server"`  // its version
	Foreign bool      `json:"foreign"` // the server is not the lab's
	Began   time.Time `json:"began"`
	Ended   time.Time `json:"ended"`
}

// Series is one load, read by all contestants in every round.
type Series struct {
	Size    int     `json:"size"`
	Count   int     `json:"count"`
	Pulls   Pulls   `json:"pulls"`
	Entries []Entry `json:"entries"`
}

// Entry is what one contestant did with a load.
type Entry struct {
	Contestant
	Ahead    string    `json:"ahead"`             // what it asked for ahead
	Stopped  string    `json:"stopped,omitempty"` // why it was not measured to the end
	Readings []Reading `json:"readings"`
	Figures  Figures   `json:"figures"`
	Ratios   []Ratio   `json:"ratios,omitempty"`
}

// Reading is one contestant that read the stream once.
type Reading struct {
	Round       int            `json:"round"` // from 1
	Place       int            `json:"place"` // in the order of the round, from 1
	Messages    uint64         `json:"messages"`
	Took        time.Duration  `json:"took_ns"`
	CPU         time.Duration  `json:"cpu_ns"`        // of this process
	ServerCPU   *time.Duration `json:"server_cpu_ns"` // null: not measured
	Allocations uint64         `json:"allocations"`
	Allocated   uint64         `json:"allocated_bytes"`
	Wire        uint64         `json:"wire_bytes"` // that arrived

	// Before the reading, behind a garbage collection: what grows from round to round is left by somebody.
	Heap       uint64 `json:"heap_before_bytes"`
	Goroutines int    `json:"goroutines_before"`

	Lost       uint64   `json:"lost"`
	Again      uint64   `json:"again"` // came again, or behind later ones
	Odd        uint64   `json:"odd"`   // not the payload or the sequence that was published
	Reconnects uint64   `json:"reconnects"`
	Said       []string `json:"said,omitempty"` // by the reader and its connection
	Error      string   `json:"error,omitempty"`
}

// Sound says whether a reading read what was published: every message once, in order.
func (r Reading) Sound() bool { return r.Lost == 0 && r.Again == 0 && r.Odd == 0 }
