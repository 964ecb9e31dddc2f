package session

import "time"

// StartKind is how the first consumer of a reader is told where to begin.
type StartKind int

// Where a reader begins. StartPosition goes on after Config.Cursor, as a
// replacement would.
const (
	StartAll StartKind = iota
	StartNew
	StartLast
	StartLastPerSubject
	StartSequence
	StartTime
	StartPosition
)

// OnError, OnMissed and OnReset are the caller's policies; their values are
// those of package reader, in the same order.
type (
	// OnError says what a failure does to the caller.
	OnError int
	// OnMissed says where to go on after a failure.
	OnMissed int
	// OnReset says what to do when the stream was re-created.
	OnReset int
)

// The policies' values.
const (
	OnErrorWait OnError = iota
	OnErrorRaise
	OnErrorFinish

	OnMissedReplay OnMissed = iota - 3
	OnMissedSkip

	OnResetRestart OnReset = iota - 5
	OnResetFollowNew
	OnResetFail
)

// Config is what the rules need to know. Every field is set by the driver, which
// fills in defaults and refuses nonsense; times are offsets on the driver's clock,
// stream times are nanoseconds since 1970.
type Config struct {
	Stream      string
	Subjects    []string
	Durable     string
	Name        string
	Prefix      string // unique names are Prefix-ID-<attempt>
	ID          string
	Inbox       string // attempt n subscribes to Inbox.<n>.*
	InboxPrefix string // of every inbox of the connection, "_INBOX"
	APIPrefix   string // "$JS.API." or a domain's

	Start         StartKind
	StartSequence uint64
	StartTime     int64
	Cursor        Cursor // StartPosition
	Created       int64  // StartPosition: when its stream was created, 0 unknown

	StopAtEnd     bool
	OnError       OnError
	OnMissed      OnMissed
	OnReset       OnReset
	WaitForStream bool
	StreamGrace   time.Duration // 0: fatal at once

	Retry Policy

	MaxMessages int
	MaxBytes    int
	Expires     time.Duration
	Heartbeat   time.Duration
	Inactive    time.Duration

	// Rand gives the jitter of a pause, in [0, 1).
	Rand func() float64
}

// filtered says whether the reader sees a part of the stream only.
func (c *Config) filtered() bool { return len(c.Subjects) > 0 }

// private says whether consumers are ours alone: no acks, no other reader.
func (c *Config) private() bool { return c.Durable == "" }
