package oracle

import "time"

// Limits are the contract that a run is judged by. Nil is the default that is said; a limit is the most that
// is allowed.
type Limits struct {
	Lost       *uint64 `json:"lost,omitempty" yaml:"lost,omitempty"`                 // messages: 0
	Duplicated *uint64 `json:"duplicated,omitempty" yaml:"duplicated,omitempty"`     // messages: 0; at least once: any
	OutOfOrder *uint64 `json:"out_of_order,omitempty" yaml:"out_of_order,omitempty"` // messages: 0; at least once: any
	Unexpected *uint64 `json:"unexpected,omitempty" yaml:"unexpected,omitempty"`     // messages: 0

	// Deaf is how long a reader of ours may be deaf, and Silence how long any target may hand out nothing
	// while stored messages wait: by default Rules.Deafness beyond the length of the faults that act
	// meanwhile. One that is given is the whole. Recovery is from a fault's end until it reads again, beyond the
	// time in which other faults act; by default any.
	Deaf     *time.Duration `json:"deaf_ns,omitempty" yaml:"deaf,omitempty"`
	Silence  *time.Duration `json:"silence_ns,omitempty" yaml:"silence,omitempty"`
	Recovery *time.Duration `json:"recovery_ns,omitempty" yaml:"recovery,omitempty"`

	Sessions             *uint64 `json:"sessions,omitempty" yaml:"sessions,omitempty"`                               // in all: any
	APIRequests          *uint64 `json:"api_requests,omitempty" yaml:"api_requests,omitempty"`                       // in all: any
	APIRequestsPerMinute *uint64 `json:"api_requests_per_minute,omitempty" yaml:"api_requests_per_minute,omitempty"` // in the worst minute: any
	Orphans              *uint64 `json:"orphans,omitempty" yaml:"orphans,omitempty"`                                 // consumers left on the server: 0; of a target that is not ours any
	Consumers            *uint64 `json:"consumers,omitempty" yaml:"consumers,omitempty"`                             // at one time: any
	WireBytes            *uint64 `json:"wire_bytes,omitempty" yaml:"wire_bytes,omitempty"`                           // any
}

// DeafnessLimit is the contract's allowance: detection twice, and two recoveries.
func DeafnessLimit(heartbeat, attemptTimeout, longestPause time.Duration) time.Duration {
	return 2*heartbeat + 2*(attemptTimeout+longestPause)
}

// DefaultDeafness is the allowance of a reader with its default configuration.
func DefaultDeafness() time.Duration {
	return DeafnessLimit(2*time.Second, 2*time.Second, 2*time.Second)
}
