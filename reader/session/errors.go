package session

import (
	"errors"
	"fmt"
	"strings"
)

// Errors that end a reader, or that a failed attempt carries. Package reader
// exports them; what the server said is kept in the text of what wraps them.
var (
	ErrClosed              = errors.New("reader closed")
	ErrConfig              = errors.New("invalid configuration")
	ErrStreamNotFound      = errors.New("stream not found")
	ErrStreamReset         = errors.New("stream was reset")
	ErrGaveUp              = errors.New("gave up")
	ErrPermission          = errors.New("permission denied")
	ErrJetStreamNotEnabled = errors.New("JetStream not enabled")
	ErrConnectionClosed    = errors.New("connection closed")
	ErrConsumerLimit       = errors.New("consumer limit reached")
	ErrNameInUse           = errors.New("consumer name in use")
)

// RecoveryError is a failure of a session or of an attempt to replace it.
// OnErrorRaise returns it from Next, OnErrorFinish keeps it in Err, and a reader
// that gave up wraps it.
type RecoveryError struct {
	Session int   // number of the session that failed; 0 before the first
	Cause   Cause // why the session ended, or what the attempt was for
	Attempt int   // attempt of the recovery, 0 for the session's own failure
	Err     error // the server's or the connection's word
}

// Error says which session failed, at which attempt, and why.
func (e *RecoveryError) Error() string {
	s := fmt.Sprintf("session %d: %s", e.Session, e.Cause)
	if e.Attempt > 0 {
		s += fmt.Sprintf(", attempt %d", e.Attempt)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap gives the server's or the connection's error.
func (e *RecoveryError) Unwrap() error { return e.Err }

// marked puts the sentinel that callers branch on before what the server said.
func marked(err error) error {
	switch natureOf(err) {
	case streamMissing:
		return mark(ErrStreamNotFound, err)
	case noSlot:
		return mark(ErrConsumerLimit, err)
	case nameTaken:
		return mark(ErrNameInUse, err)
	case denied:
		return mark(ErrPermission, err)
	case noJetStream:
		return mark(ErrJetStreamNotEnabled, err)
	case misfit:
		return fmt.Errorf("%w: the server refuses the consumer: %w", ErrConfig, err)
	}
	return err
}

// mark joins a sentinel to what was said, without saying it twice.
func mark(sentinel, err error) error {
	if errors.Is(err, sentinel) {
		return err
	}
	return &markedError{sentinel, err}
}

type markedError struct{ sentinel, err error }

func (e *markedError) Error() string {
	text := e.err.Error()
	if strings.Contains(text, e.sentinel.Error()) {
		return text
	}
	return e.sentinel.Error() + ": " + text
}

func (e *markedError) Unwrap() []error { return []error{e.sentinel, e.err} }
