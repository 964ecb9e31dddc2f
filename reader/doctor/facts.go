package doctor

import (
	"slices"
	"time"
)

// FactsSchema is the schema of Facts as JSON: of a bundle.
const FactsSchema = "nats-reader/facts/v1"

// Facts is everything that was gathered. All times are the server's.
type Facts struct {
	Schema   string        `json:"schema"`
	Stream   string        `json:"stream,omitempty"`   // the one that was asked for; empty: all
	Consumer string        `json:"consumer,omitempty"` // the one that was asked for; empty: all
	Began    time.Time     `json:"began"`              // the server's time at the first look
	Ended    time.Time     `json:"ended"`              // and at the last
	Watch    time.Duration `json:"watch_ns"`           // how long was to be watched

	API       string    `json:"api_prefix,omitempty"` // of the JetStream API that was asked, with its last dot
	Server    Server    `json:"server"`
	JetStream JetStream `json:"jetstream"`
	Account   Account   `json:"account"`

	Streams     []Stream     `json:"streams,omitempty"`
	Consumers   []Consumer   `json:"consumers,omitempty"`
	Connections *Connections `json:"connections,omitempty"` // nil: could not be asked for
	Advisories  []Advisory   `json:"advisories,omitempty"`
	Heard       *Heard       `json:"heard,omitempty"` // nil: nobody listened
	Dry         []DryRun     `json:"dry_run,omitempty"`
	Monitor     *Monitor     `json:"monitor,omitempty"` // nil: no monitoring port was named
	Nodes       []Node       `json:"nodes,omitempty"`   // what servers hold, by the system account or a monitoring port

	// Reconnected says that our own connection was lost during the watch: servers
	// may have been restarted, which count the idleness of consumers anew.
	Reconnected bool `json:"reconnected,omitempty"`
	// Blind says that streams, or the consumers of one, could not be listed.
	Blind     bool        `json:"blind,omitempty"`
	NotJudged []NotJudged `json:"not_judged,omitempty"`
}

// Server is the server that our connection was with.
type Server struct {
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
	Cluster string `json:"cluster,omitempty"`
}

// APIError is what the JetStream API, or the way to it, answered with.
type APIError struct {
	Code        int    `json:"code,omitempty"`
	ErrCode     int    `json:"err_code,omitempty"`
	Description string `json:"description,omitempty"`
}

// JetStream says whether there is any.
type JetStream struct {
	Error *APIError `json:"error,omitempty"` // why account information was refused
	Off   bool      `json:"off,omitempty"`   // nobody answers the API at all: no responders
	// Silent says that the API did not answer in time, though there is one.
	Silent bool `json:"silent,omitempty"`
}

// Account is what $JS.API.INFO tells. Limits below 0, and MaxMemory and MaxStorage
// of 0 with a tier, are none.
type Account struct {
	Known     bool           `json:"known"`
	Domain    string         `json:"domain,omitempty"`
	Memory    uint64         `json:"memory"`
	Storage   uint64         `json:"storage"`
	Streams   int            `json:"streams"`
	Consumers int            `json:"consumers"`
	Limits    Limits         `json:"limits"`
	Tiers     map[string]any `json:"tiers,omitempty"`
}

// Limits are those of an account.
type Limits struct {
	MaxMemory    int64 `json:"max_memory"`
	MaxStorage   int64 `json:"max_storage"`
	MaxStreams   int   `json:"max_streams"`
	MaxConsumers int   `json:"max_consumers"` // on each stream
}

// Stream is one stream, looked at when the watch began and when it ended.
type Stream struct {
	Name    string       `json:"name"`
	Created time.Time    `json:"created"`
	Config  StreamConfig `json:"config"`
	First   StreamState  `json:"first"`
	Last    StreamState  `json:"last"`
	Group   *Group       `json:"cluster,omitempty"`
	Error   *APIError    `json:"error,omitempty"` // the last look was answered with it
	Silent  bool         `json:"silent,omitempty"`

	subjects int // how many the stream holds, while gathering
}

// StreamConfig is the part of a stream's configuration that checks look at, as the
// API writes it.
type StreamConfig struct {
	Subjects       []string          `json:"subjects,omitempty"`
	Retention      string            `json:"retention,omitempty"`
	Storage        string            `json:"storage,omitempty"`
	Discard        string            `json:"discard,omitempty"`
	MaxConsumers   int               `json:"max_consumers"`
	MaxMsgs        int64             `json:"max_msgs"`
	MaxBytes       int64             `json:"max_bytes"`
	Replicas       int               `json:"num_replicas"`
	Mirror         *Origin           `json:"mirror,omitempty"`
	Sources        []Origin          `json:"sources,omitempty"`
	Transform      *struct{}         `json:"subject_transform,omitempty"`
	Metadata       map[string]string `json:"metadata,omitempty"`
	MaxMsgsSubject int64             `json:"max_msgs_per_subject,omitempty"`
}

// Origin is a stream that another one copies.
type Origin struct {
	Name string `json:"name"`
}

// StreamState is a stream's state at one look.
type StreamState struct {
	Time      time.Time `json:"ts"`
	Messages  uint64    `json:"messages"`
	Bytes     uint64    `json:"bytes"`
	FirstSeq  uint64    `json:"first_seq"`
	LastSeq   uint64    `json:"last_seq"`
	LastTime  time.Time `json:"last_ts"`
	Consumers int       `json:"consumer_count"`
}

// Group is the cluster's view of a stream or consumer.
type Group struct {
	Name     string `json:"name,omitempty"`
	Leader   string `json:"leader,omitempty"`
	Replicas []Peer `json:"replicas,omitempty"`
}

// Peer is a follower.
type Peer struct {
	Name    string        `json:"name"`
	Current bool          `json:"current"`
	Offline bool          `json:"offline,omitempty"`
	Active  time.Duration `json:"active,omitempty"`
	Lag     uint64        `json:"lag,omitempty"`
}

// Consumer is one consumer and what several looks at it saw.
type Consumer struct {
	Stream  string         `json:"stream_name"`
	Name    string         `json:"name"`
	Created time.Time      `json:"created"`
	Config  ConsumerConfig `json:"config"`
	Samples []Sample       `json:"samples,omitempty"` // oldest first; none: it was never seen
	Group   *Group         `json:"cluster,omitempty"`
	Gone    bool           `json:"gone,omitempty"`   // it was seen, and then no longer
	Lapsed  bool           `json:"lapsed,omitempty"` // and that while it was looked at for longer, since nobody pulled
	Error   *APIError      `json:"error,omitempty"`  // the last look was answered with it
	Silent  bool           `json:"silent,omitempty"` // the last look was not answered
	// LeaderChanged says that another node led it at a later look.
	LeaderChanged bool `json:"leader_changed,omitempty"`
	// Matching counts the messages its filters match, all of the stream, just
	// before the last sample; nil: not counted.
	Matching *uint64 `json:"matching,omitempty"`
	// NextSize is the size in bytes of the message it would be given next; 0: not
	// looked at.
	NextSize int `json:"next_size,omitempty"`
	// NextTime is when that message came; nil: not looked at.
	NextTime *time.Time `json:"next_time,omitempty"`
}

// ConsumerConfig is the part of a consumer's configuration that checks look at, as
// the API writes it.
type ConsumerConfig struct {
	Durable           string            `json:"durable_name,omitempty"`
	DeliverPolicy     string            `json:"deliver_policy,omitempty"`
	StartSequence     uint64            `json:"opt_start_seq,omitempty"`
	AckPolicy         string            `json:"ack_policy,omitempty"`
	AckWait           time.Duration     `json:"ack_wait,omitempty"`
	BackOff           []time.Duration   `json:"backoff,omitempty"`
	MaxDeliver        int               `json:"max_deliver,omitempty"`
	FilterSubject     string            `json:"filter_subject,omitempty"`
	FilterSubjects    []string          `json:"filter_subjects,omitempty"`
	MaxWaiting        int               `json:"max_waiting,omitempty"`
	MaxAckPending     int               `json:"max_ack_pending,omitempty"`
	InactiveThreshold time.Duration     `json:"inactive_threshold,omitempty"`
	DeliverSubject    string            `json:"deliver_subject,omitempty"`
	MaxBatch          int               `json:"max_batch,omitempty"`
	MaxExpires        time.Duration     `json:"max_expires,omitempty"`
	MaxBytes          int               `json:"max_bytes,omitempty"`
	Replicas          int               `json:"num_replicas"`
	Memory            bool              `json:"mem_storage,omitempty"`
	PauseUntil        *time.Time        `json:"pause_until,omitempty"`
	PriorityPolicy    string            `json:"priority_policy,omitempty"`
	Metadata          map[string]string `json:"metadata,omitempty"`
}

// Filters are the subjects it takes; none: all of the stream.
func (c ConsumerConfig) Filters() []string {
	if c.FilterSubject != "" {
		return []string{c.FilterSubject}
	}
	return c.FilterSubjects
}

// Sample is one look at a consumer.
type Sample struct {
	Time           time.Time     `json:"ts"`
	Delivered      Sequences     `json:"delivered"`
	AckFloor       Sequences     `json:"ack_floor"`
	AckPending     int           `json:"num_ack_pending"`
	Redelivered    int           `json:"num_redelivered"`
	Waiting        int           `json:"num_waiting"`
	Pending        uint64        `json:"num_pending"`
	PushBound      bool          `json:"push_bound,omitempty"`
	Paused         bool          `json:"paused,omitempty"`
	PauseRemaining time.Duration `json:"pause_remaining,omitempty"`
}

// Sequences are a place in a consumer and in its stream.
type Sequences struct {
	Consumer uint64     `json:"consumer_seq"`
	Stream   uint64     `json:"stream_seq"`
	Active   *time.Time `json:"last_active,omitempty"` // nil: never
}

// NotJudged is what could not be seen, and which checks therefore stay silent.
type NotJudged struct {
	What   string   `json:"what"`
	Why    string   `json:"why"`
	Checks []string `json:"checks,omitempty"`
}

// notJudged adds what could not be seen, once.
func (f *Facts) notJudged(what, why string, checks ...string) {
	if !slices.ContainsFunc(f.NotJudged, func(n NotJudged) bool { return n.What == what }) {
		f.NotJudged = append(f.NotJudged, NotJudged{what, why, checks})
	}
}
