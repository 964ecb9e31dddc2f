package reader

import (
	"errors"

	"github.com/an-open-reader/nats-reader/reader/session"
)

// Errors to branch on with errors.Is. What the server said is kept in the text
// of the error that wraps them.
var (
	// ErrClosed is returned by every call on a reader that was closed by its caller.
	ErrClosed = session.ErrClosed
	// ErrConfig marks a Config that cannot work: a field out of range, an impossible
	// pair, or a consumer configuration the server refuses.
	ErrConfig = session.ErrConfig
	// ErrStreamNotFound marks a stream that does not exist (err_code 10059), at
	// Open at once, under way after Config.StreamGrace.
	ErrStreamNotFound = session.ErrStreamNotFound
	// ErrStreamReset ends a reader under OnResetFail whose stream was re-created.
	ErrStreamReset = session.ErrStreamReset
	// ErrGaveUp ends a reader whose RetryPolicy allows no further attempt
	// (TotalTimeout or MaxAttempts).
	ErrGaveUp = session.ErrGaveUp
	// ErrPermission marks a subject the server denies; the text names it.
	ErrPermission = session.ErrPermission
	// ErrJetStreamNotEnabled marks an account without JetStream (err_code 10039).
	ErrJetStreamNotEnabled = session.ErrJetStreamNotEnabled
	// ErrConnectionClosed ends a reader whose connection is closed for good.
	ErrConnectionClosed = session.ErrConnectionClosed
	// ErrConsumerLimit marks a stream or account with no slot for a consumer
	// (err_code 10026).
	ErrConsumerLimit = session.ErrConsumerLimit
	// ErrNameInUse marks a Config.Name held by a consumer that is not ours.
	ErrNameInUse = session.ErrNameInUse
	// ErrNotDurable is returned by the ack methods of a private reader's message:
	// its consumer takes no acks.
	ErrNotDurable = errors.New("message of a private reader takes no ack: set Durable")
)

// The types of events and failures are defined beside the rules that make them.
type (
	// Event is one thing that happened to a reader.
	Event = session.Event
	// Kind names what an Event tells.
	Kind = session.Kind
	// Cause names why a session ended.
	Cause = session.Cause
	// RecoveryError is a failure of a session or of an attempt to replace it.
	RecoveryError = session.RecoveryError
)
