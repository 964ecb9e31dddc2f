package reader

import "time"

// State is what a reader is doing, in one word.
type State string

// The states of a reader.
const (
	StateOpening      State = "opening"      // Open has not returned yet
	StateReading      State = "reading"      // messages arrive, or wait in the stream
	StateIdle         State = "idle"         // nothing waits in the stream, and nothing came for a heartbeat
	StatePaused       State = "paused"       // an operator paused the consumer; a resume shows by the next message, or when the pause would have ended
	StateWaitingAcks  State = "waiting_acks" // the durable is at max_ack_pending
	StateBufferFull   State = "buffer_full"  // the caller reads slower than the stream
	StateRecovering   State = "recovering"   // the session is silent or gone and being replaced
	StateDisconnected State = "disconnected" // the connection is down
	StateClosed       State = "closed"       // closed, at its end, or failed
)

// SessionStatus is the session in use.
type SessionStatus struct {
	Number     int       `json:"number"`
	Consumer   string    `json:"consumer,omitempty"`
	Inbox      string    `json:"inbox,omitempty"`
	Created    time.Time `json:"created,omitzero"`
	LastAnswer time.Time `json:"last_answer,omitzero"`
}

// RetryStatus is where the running recovery stands; zero while none runs.
type RetryStatus struct {
	Attempt    int           `json:"attempt"`
	NextAt     time.Time     `json:"next_at,omitzero"`
	BudgetLeft time.Duration `json:"budget_left_ns,omitempty"` // of TotalTimeout; 0 without one
}

// Status is a consistent snapshot of a reader.
type Status struct {
	State             State             `json:"state"`
	Since             time.Time         `json:"since"`
	Stream            string            `json:"stream"`
	Session           SessionStatus     `json:"session"`
	Cursor            uint64            `json:"cursor"`   // stream sequence of the last message accepted in order
	Position          uint64            `json:"position"` // stream sequence of the last message handed to the caller
	Delivered         uint64            `json:"delivered"`
	Bytes             uint64            `json:"bytes"`
	Pending           uint64            `json:"pending"` // messages waiting in the stream, by the server's last word
	Buffered          int               `json:"buffered"`
	Replaced          map[Cause]uint64  `json:"replaced"`
	Missed            uint64            `json:"missed"`
	DuplicatesDropped uint64            `json:"duplicates_dropped"`
	Gaps              uint64            `json:"gaps"`
	Pulls             uint64            `json:"pulls"`
	APIRequests       map[string]uint64 `json:"api_requests"`
	Orphans           int               `json:"orphans"`
	Retry             RetryStatus       `json:"retry"`
	LastError         string            `json:"last_error,omitempty"`
	StreamCreated     time.Time         `json:"stream_created,omitzero"`
	EventsDropped     uint64            `json:"events_dropped"`
}
