package fleet

import (
	"time"

	"github.com/an-open-reader/nats-reader/reader"
)

// Schema is the schema field of a result's JSON.
const Schema = "nats-reader/bench-fleet/v1"

// Kind is which of the measurements was made.
type Kind string

// The kinds.
const (
	Cost   Kind = "cost"   // what idle readers cost, and how soon they read again after a restart
	Steady Kind = "steady" // idle readers over a long time
	Flow   Kind = "flow"   // one reader and a publisher at full speed over a long time
)

// Verdict is the end of a measurement in a word.
type Verdict string

// The verdicts.
const (
	Held   Verdict = "held"   // every finding holds
	Flat   Verdict = "flat"   // every finding holds, and nothing grows
	Grows  Verdict = "grows"  // something grows
	Broken Verdict = "broken" // another finding does not hold
)

// Result is a measurement that is over.
type Result struct {
	Schema   string    `json:"schema"`
	Kind     Kind      `json:"kind"`
	Verdict  Verdict   `json:"verdict"`
	Findings []Finding `json:"findings"`
	Made     Made      `json:"made"`

	Readers     int  `json:"readers"`
	Streams     int  `json:"streams"`
	Connections int  `json:"connections"`
	Room        Room `json:"consumers"` // per stream

	Open       Opening    `json:"open,omitzero"`
	Cost       Costs      `json:"cost,omitzero"`
	Idle       Quiet      `json:"idle,omitzero"`
	Recoveries []Recovery `json:"recoveries,omitempty"`

	For     time.Duration `json:"for_ns,omitempty"`
	Every   time.Duration `json:"every_ns,omitempty"`
	Trends  []Trend       `json:"trends,omitempty"`
	Speed   Speed         `json:"speed,omitzero"`
	Samples []Sample      `json:"samples,omitempty"`

	Closed Closing `json:"close"`
}

// Made says where and of what a result is.
type Made struct {
	Program  string    `json:"program"`
	Time     time.Time `json:"time"`
	System   string    `json:"system"`
	Go       string    `json:"go"`
	Cores    int       `json:"cores"`
	Server   string    `json:"server"` // its version
	Place    string    `json:"place"`  // of the lab, or given
	Nodes    int       `json:"nodes"`
	Replicas int       `json:"replicas"`
	Storage  string    `json:"storage"` // of the streams
}

// Finding is one thing that was judged.
type Finding struct {
	What string `json:"what"`
	Seen string `json:"seen"`
	Want string `json:"want"`
	Held bool   `json:"held"`
}

// Opening is how long it took until all were open, all at once, and until all had read a message.
type Opening struct {
	All     time.Duration     `json:"all_ns"`
	AllRead time.Duration     `json:"all_read_ns"`
	API     map[string]uint64 `json:"api_requests"` // of the readers, by kind
}

// Costs are what readers keep while idle. Bytes are what lies between before they were opened and while they are
// idle, both after a collection, divided by their number.
type Costs struct {
	Goroutines float64 `json:"goroutines_per_reader"`
	Memory     float64 `json:"heap_and_stack_bytes_per_reader"`
	Resident   float64 `json:"rss_bytes_per_reader,omitempty"` // absent where the system does not tell
	Timers     float64 `json:"timers_per_reader"`              // counted in the heap profile of a few readers
	TimedOf    int     `json:"timers_counted_on_readers"`
	Server     uint64  `json:"server_rss_bytes,omitempty"` // of all nodes; of the lab's alone
}

// Quiet is what idle readers did in a time.
type Quiet struct {
	For      time.Duration     `json:"for_ns"`
	API      map[string]uint64 `json:"api_requests"`        // of the readers, by kind
	OnServer int64             `json:"api_requests_server"` // of the account, by the server's count, less our own questions; -1: unknown
	Pulls    float64           `json:"pulls_per_reader_minute"`
	Most     uint64            `json:"most_pulls_of_a_reader"`
	In       float64           `json:"bytes_in_per_minute"` // of all connections, on the wire
	Out      float64           `json:"bytes_out_per_minute"`
	Replaced int               `json:"sessions_replaced"`
}

// Recovery is what an end of a server did.
type Recovery struct {
	What       string            `json:"what"` // kill, stop
	Node       string            `json:"node,omitempty"`
	Connection bool              `json:"held_connection"`          // a connection of the readers was on it
	Down       time.Duration     `json:"down_ns,omitempty"`        // from its end until it was ready again; absent where the others read on without it
	HalfProven time.Duration     `json:"half_proven_ns,omitempty"` // from its end until half of the new sessions were proven; absent where there was none
	AllProven  time.Duration     `json:"all_proven_ns,omitempty"`
	Read       time.Duration     `json:"read_ns"`                        // from its end until all had read a message that was published afterwards
	ReadReady  time.Duration     `json:"read_after_ready_ns,omitempty"`  // the same, from when it was ready
	Back       time.Duration     `json:"read_after_return_ns,omitempty"` // until all had read another one once the node was back and ready
	NotRead    int               `json:"not_read"`                       // readers that had not got the message within the patience
	Restless   int               `json:"not_idle"`                       // that were not idle within the patience once all had read
	Examples   []reader.Status   `json:"examples,omitempty"`             // of both, as they were then; a few
	Deaf       time.Duration     `json:"longest_deaf_ns"`                // from before the end, so that it has the time the server was away
	Replaced   int               `json:"readers_replaced"`               // whose session has a higher number
	Healed     int               `json:"sessions_healed"`                // that answered again before there was another
	API        map[string]uint64 `json:"api_requests"`
	Consumers  int               `json:"consumers"` // on the server, when that is quiet again
	Orphans    int               `json:"orphans"`   // that the readers know of, then
	Clean      time.Duration     `json:"clean_ns"`  // from when all had read until there were as many consumers as readers, and no orphan
}

// Speed is what flowed at full speed.
type Speed struct {
	Read     uint64  `json:"read"`
	Lost     uint64  `json:"lost"` // sequences that were passed over
	Missed   uint64  `json:"missed"`
	Unread   uint64  `json:"unread"` // published, and not read in good time
	Rate     float64 `json:"messages_per_second"`
	MB       float64 `json:"mb_per_second"` // payload, in 1e6 bytes
	Size     int     `json:"size"`
	Bound    int     `json:"rate_bound,omitempty"`
	Store    uint64  `json:"most_stored_bytes"`
	Sessions int     `json:"sessions"`
}

// Closing is the end of all readers.
type Closing struct {
	Took      time.Duration `json:"took_ns"`
	Consumers int           `json:"consumers_left"`
}

// Progress is one moment of a measurement, for a user who waits.
type Progress struct {
	Text string
	Done int // of All
	All  int // 0: nothing is counted
}

// expires is the life of one pull of a reader.
func expires(cfg reader.Config) time.Duration {
	if cfg.Pull.Expires > 0 {
		return cfg.Pull.Expires
	}
	return 30 * time.Second
}

// readAhead is how many bytes a reader may have asked for ahead.
func readAhead(cfg reader.Config) int {
	if cfg.Pull.MaxBytes > 0 {
		return cfg.Pull.MaxBytes
	}
	return 8 << 20
}
