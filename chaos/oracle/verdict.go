package oracle

import "time"

// Finding is the verdict in one word.
type Finding string

// The findings.
const (
	Held    Finding = "held"
	Broken  Finding = "broken"
	Unknown Finding = "unknown" // it could not be judged
)

// NotCounted stands for a count of orphans that could not be taken.
const NotCounted = -1

// MaxSamples is how many samples a violation has at most.
const MaxSamples = 32

// Verdict is what became of the contract. Durations are in nanoseconds in JSON, beside their Go strings.
type Verdict struct {
	Finding    Finding `json:"finding"`
	MeasuredBy Measure `json:"measured_by"`
	Blind      bool    `json:"blind"` // the target tells no events: deafness and sessions are not known

	Attempted    uint64 `json:"attempted"`    // ids that were published
	Acknowledged uint64 `json:"acknowledged"` // ids that the server stored
	Delivered    uint64 `json:"delivered"`    // messages handed out, repetitions included
	Lost         uint64 `json:"lost"`         // stored, not read, and not accounted for
	LostPrefix   uint64 `json:"lost_prefix"`  // of them before the first that was read
	LostMiddle   uint64 `json:"lost_middle"`  // of them passed over
	LostPostfix  uint64 `json:"lost_postfix"` // of them behind the last that was read
	Duplicated   uint64 `json:"duplicated"`
	OutOfOrder   uint64 `json:"out_of_order"`
	Redelivered  uint64 `json:"redelivered"`  // repeated or out of order, as at least once allows
	Unexpected   uint64 `json:"unexpected"`   // read, and never published
	Told         uint64 `json:"told"`         // not read, and accounted for: told as missed or skipped, or destroyed by a fault
	Unknown      uint64 `json:"unknown"`      // published without an acknowledgement, and not read
	UnknownRead  uint64 `json:"unknown_read"` // published without an acknowledgement, and read

	Sessions             int           `json:"sessions"`
	LongestDeaf          time.Duration `json:"longest_deaf_ns"`    // by the reader's own events
	LongestSilence       time.Duration `json:"longest_silence_ns"` // nothing handed out while stored messages waited
	Recoveries           []Recovery    `json:"recoveries,omitempty"`
	APIRequests          uint64        `json:"api_requests"`
	MostRequestsInMinute uint64        `json:"most_requests_in_minute"`
	Orphans              int           `json:"-"` // consumers of ours left on the server, or NotCounted; in JSON null
	MostConsumers        int           `json:"most_consumers"`
	WireBytes            uint64        `json:"wire_bytes"`

	Allowance  time.Duration `json:"allowance_ns"`         // how long it may be deaf or silent beyond the length of the faults
	Limits     Limits        `json:"limits"`               // what it was judged by
	Violations []Violation   `json:"violations,omitempty"` // why it is broken
	Doubts     []string      `json:"doubts,omitempty"`     // why it is unknown, or would be were it not broken
}

// Kind names what a violation is one of.
type Kind string

// The kinds of violations, in the order in which they are told.
const (
	KindLost                 Kind = "lost"
	KindDuplicated           Kind = "duplicated"
	KindOutOfOrder           Kind = "out_of_order"
	KindUnexpected           Kind = "unexpected"
	KindDeaf                 Kind = "deaf"
	KindSilence              Kind = "silence"
	KindRecovery             Kind = "recovery"
	KindEnded                Kind = "ended"
	KindSessions             Kind = "sessions"
	KindAPIRequests          Kind = "api_requests"
	KindAPIRequestsPerMinute Kind = "api_requests_per_minute"
	KindOrphans              Kind = "orphans"
	KindConsumers            Kind = "consumers"
	KindWireBytes            Kind = "wire_bytes"
)

// Kinds lists every kind of violation in the order in which they are told.
func Kinds() []Kind {
	return []Kind{
		KindLost, KindDuplicated, KindOutOfOrder, KindUnexpected, KindDeaf, KindSilence, KindRecovery, KindEnded,
		KindSessions, KindAPIRequests, KindAPIRequestsPerMinute, KindOrphans, KindConsumers, KindWireBytes,
	}
}

// Violation is one way in which the contract was broken.
type Violation struct {
	Kind    Kind     `json:"kind"`
	Count   uint64   `json:"count"` // messages, times, consumers, requests or bytes, by kind
	Limit   string   `json:"limit"` // as in Limits; of times the limit of the first sample
	Text    string   `json:"text"`  // a sentence without a full stop
	Samples []Sample `json:"samples,omitempty"`
}

// Sample is one instance of a violation. What does not apply is zero.
type Sample struct {
	ID       string    `json:"id,omitempty"`
	Sequence uint64    `json:"sequence,omitempty"` // of the stream
	Time     time.Time `json:"time,omitzero"`
	Text     string    `json:"text,omitempty"`
}

// Recovery is how long a reader took to read again after a fault.
type Recovery struct {
	Fault     string        `json:"fault"`
	From      time.Time     `json:"from"`
	To        time.Time     `json:"to"`        // when the fault ended
	Took      time.Duration `json:"took_ns"`   // from the end of the fault; 0: it read on, or was back before
	Recovered bool          `json:"recovered"` // false: it did not read again by the end of the run
	// Cut: it had not read again when the next fault began; how long it had taken by itself is not known.
	Cut bool `json:"cut,omitempty"`
}

// Span is a time in which something lasted.
type Span struct {
	From  time.Time `json:"from"`
	To    time.Time `json:"to"`
	Cause string    `json:"cause,omitempty"`
	Open  bool      `json:"open,omitempty"` // it had not ended when the run did
}

// Session is one session of a reader of ours, as its events tell.
type Session struct {
	Number   int           `json:"number"`
	Consumer string        `json:"consumer,omitempty"`
	From     time.Time     `json:"from"`
	To       time.Time     `json:"to"`               // when the next was in use, or the end
	Cause    string        `json:"cause,omitempty"`  // why it ended; empty: it was in use at the end
	Deaf     time.Duration `json:"deaf_ns"`          // before it was in use
	Took     time.Duration `json:"took_ns"`          // to put it in the place of the one before
	Resumed  uint64        `json:"resumed"`          // the cursor from which it went on
	Missed   uint64        `json:"missed,omitempty"` // told as missed or skipped while it was in use
}

// Series are figures of a run at even steps.
type Series struct {
	From      time.Time     `json:"from"`
	Step      time.Duration `json:"step_ns"`
	Published []float64     `json:"published"` // acknowledged a second
	Read      []float64     `json:"read"`      // handed out a second
	Lag       []uint64      `json:"lag"`       // acknowledged and not handed out at the end of the step
}

// Reasons says why the contract is not held, a sentence each.
func (v Verdict) Reasons() []string {
	var all []string
	for _, x := range v.Violations {
		all = append(all, x.Text)
	}
	return append(all, v.Doubts...)
}
