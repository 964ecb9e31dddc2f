package session

import "time"

// Kind names what an Event tells. The values are part of the contract of every
// output: log, JSON lines, reports and tests.
type Kind string

// The kinds of events, in the order of a session's life.
const (
	KindSessionOpened    Kind = "session_opened"    // the first session is proven
	KindSessionSilent    Kind = "session_silent"    // an outstanding pull, and no answer for two heartbeats
	KindSessionLost      Kind = "session_lost"      // the session ended; Cause says why
	KindSessionReplaced  Kind = "session_replaced"  // a new session is proven and in use
	KindSessionRetired   Kind = "session_retired"   // the old session's consumer is gone
	KindSessionHealed    Kind = "session_healed"    // a silent session answered again and stays
	KindReplaceFailed    Kind = "replace_failed"    // one attempt failed; Err says why
	KindRetryWaiting     Kind = "retry_waiting"     // the next attempt is due after Wait
	KindAPIRequest       Kind = "api_request"       // one JetStream API request was sent
	KindPullRefused      Kind = "pull_refused"      // the server refused a pull of ours; Text is its word
	KindGap              Kind = "gap"               // a delivery was lost on the way
	KindDuplicate        Kind = "duplicate"         // the server sent a message again; it was dropped
	KindMissed           Kind = "missed"            // retention took messages before their turn
	KindSkipped          Kind = "skipped"           // messages were passed over on purpose (OnMissedSkip)
	KindStreamReset      Kind = "stream_reset"      // the stream was re-created or rolled back
	KindStreamMissing    Kind = "stream_missing"    // the stream does not exist at the moment
	KindCaughtUp         Kind = "caught_up"         // nothing waits in the stream
	KindPaused           Kind = "paused"            // an operator paused the consumer
	KindBufferFull       Kind = "buffer_full"       // the caller reads slower than the stream; no pull is out
	KindDisconnected     Kind = "disconnected"      // the connection is down
	KindReconnected      Kind = "reconnected"       // the connection is back
	KindConnectionForced Kind = "connection_forced" // a dead link: the connection was made anew
	KindPermissionDenied Kind = "permission_denied" // the server denied a subject of the session
	KindMessageTooLarge  Kind = "message_too_large" // a message is larger than Pull.MaxBytes; it is pulled alone
	KindConsumerLimit    Kind = "consumer_limit"    // no slot for a new consumer
	KindOrphanLeft       Kind = "orphan_left"       // a consumer of ours could not be deleted yet
	KindOrphanRemoved    Kind = "orphan_removed"    // it is gone
	KindClosed           Kind = "closed"            // the reader was closed by its caller, or reached its end
	KindFailed           Kind = "failed"            // the reader ended by an error
)

// Kinds lists every kind of event, for documentation and completion.
func Kinds() []Kind {
	return []Kind{
		KindSessionOpened, KindSessionSilent, KindSessionLost, KindSessionReplaced, KindSessionRetired,
		KindSessionHealed, KindReplaceFailed, KindRetryWaiting, KindAPIRequest, KindPullRefused, KindGap,
		KindDuplicate, KindMissed, KindSkipped, KindStreamReset, KindStreamMissing, KindCaughtUp, KindPaused,
		KindBufferFull, KindDisconnected, KindReconnected, KindConnectionForced, KindPermissionDenied,
		KindMessageTooLarge, KindConsumerLimit, KindOrphanLeft, KindOrphanRemoved, KindClosed, KindFailed,
	}
}

// Cause names why a session ended or a replacement was begun.
type Cause string

// The causes.
const (
	CauseConsumerDeleted  Cause = "consumer_deleted"  // 409 Consumer Deleted on a pull
	CauseConsumerGone     Cause = "consumer_gone"     // 10014 to the ask: it expired or was deleted
	CauseAnswersLost      Cause = "answers_lost"      // the consumer lives, its answers do not arrive
	CauseAPISilent        Cause = "api_silent"        // neither the pull nor the ask was answered
	CauseNoResponders     Cause = "no_responders"     // 503 to a pull, and the ask told no more
	CauseGap              Cause = "gap"               // a delivery was lost on the way
	CauseRefused          Cause = "pull_refused"      // the server refused a pull for good
	CauseReconnected      Cause = "reconnected"       // the connection was made anew; pulls ended with the old one
	CauseStreamGone       Cause = "stream_gone"       // 10059: the stream does not exist
	CausePermission       Cause = "permission_denied" // the server denied one of the session's subjects
	CauseRequested        Cause = "requested"         // Replace was called
	CauseRolledBack       Cause = "rolled_back"       // the stream was re-created or lost its tail
	CauseSnapshotRead     Cause = "snapshot_read"     // the last-per-subject snapshot is used up; it goes on by sequence
	CauseConsumerAhead    Cause = "consumer_ahead"    // the consumer delivered what never arrived
	CausePassedOver       Cause = "passed_over"       // messages that waited did not come: removed, or passed over by the server
	CauseConnectionClosed Cause = "connection_closed" // the connection is closed for good
	CauseOpening          Cause = "opening"           // the first session could not be made
)

// Causes lists every cause, for documentation and completion.
func Causes() []Cause {
	return []Cause{
		CauseConsumerDeleted, CauseConsumerGone, CauseAnswersLost, CauseAPISilent, CauseNoResponders, CauseGap,
		CauseRefused, CauseReconnected, CauseStreamGone, CausePermission, CauseRequested, CauseRolledBack, CauseSnapshotRead,
		CauseConsumerAhead, CausePassedOver, CauseConnectionClosed, CauseOpening,
	}
}

// Event is one thing that happened to a reader. One type serves log, screen,
// JSON lines, report and tests; fields that a kind has no use for are zero.
type Event struct {
	Time     time.Time     // wall clock of the client, stamped by the driver
	Kind     Kind          // what happened
	Session  int           // the session's number, counted at its proof; 0 before the first
	Cause    Cause         // why
	Consumer string        // the consumer's name on the server
	Inbox    string        // the session's inbox, with its wildcard
	Sequence uint64        // a stream sequence: the cursor, unless the kind says otherwise
	From, To uint64        // bounds of stream sequences, both included
	Count    uint64        // how many messages
	Attempt  int           // attempt of the recovery, from 1
	Wait     time.Duration // pause until the next attempt
	Took     time.Duration // duration of a replacement or a request
	Deaf     time.Duration // from the session's last answer (or the first pull after it) to the proof or the heal; on what comes before, until then
	Request  string        // kind of an API request: stream_info, consumer_create, ...
	Code     int           // status code, or the API's err_code
	Err      error         // the failure
	Text     string        // the server's own words, or a remark
}
