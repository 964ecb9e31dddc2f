package commands

import (
	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

// eventEntries explain every kind of event.
func eventEntries() []entry {
	e := func(kind session.Kind, means, does, do string) entry {
		return entry{Topic: topicEvent, Word: string(kind), Means: means, Reader: does, Do: do}
	}
	return []entry{
		e(session.KindSessionOpened, "The first session is proven: a pull of ours was answered on its inbox.", "Reads.", nothing),
		e(session.KindSessionSilent, "A pull is out and nothing came for two heartbeats.", "Asks once about the consumer, to tell an expired one from lost answers.", nothing),
		e(session.KindSessionLost, "The session is over; the cause says why.", "Puts a new one in its place, by the retry policy.", "Look up the cause."),
		e(session.KindSessionReplaced, "A new session is proven and in use. deaf says how long no session answered.", "Reads on behind the last message in order.", nothing),
		e(session.KindSessionRetired, "The old session's consumer is gone from the server.", "Nothing more of it exists.", nothing),
		e(session.KindSessionHealed, "A silent session answered again, in order, before it was replaced.", "Keeps it, and removes what an attempt to replace it left.", nothing),
		e(session.KindReplaceFailed, "One attempt to replace the session failed; the session in use is untouched.", "Tries again after a pause.", "Read the error; it holds the server's words."),
		e(session.KindRetryWaiting, "The next attempt is due after the pause.", "Waits; the pause grows up to --retry-max.", nothing),
		e(session.KindAPIRequest, "One request to the JetStream API was sent. There is none while all is well.", "Counts it in the status.", nothing),
		e(session.KindPullRefused, "The server refused a pull; the text is its word.", "Obeys a limit that the text names; anything else is a failure.", "Look up the status."),
		e(session.KindGap, "A delivery did not arrive: the consumer's own count has a hole.", "Condemns the session and reads again from the last message in order: nothing is lost.", "Where it repeats, look at the network, and for a subscription that takes our inbox."),
		e(session.KindDuplicate, "The server sent a message again, as it does after a crash.", "Drops it.", nothing),
		e(session.KindMissed, "The stream's limits or a purge took messages before their turn: they no longer exist.", "Tells how many: exactly without a filter, otherwise as bounds.", "Raise the stream's limits, or read faster."),
		e(session.KindSkipped, "Messages were passed over after a failure, because --on-missed skip asks for it.", "Goes on at the end of the stream.", "Use --on-missed replay to read them."),
		e(session.KindStreamReset, "The stream is not the one that was read: re-created, or rolled back to an earlier state.", "Goes on as --on-reset says.", "Find who re-created it."),
		e(session.KindStreamMissing, "The stream does not exist at the moment.", "Waits for the stream's grace, or with --wait-for-stream without end.", "Make the stream again, or stop the reader."),
		e(session.KindCaughtUp, "Nothing waits in the stream.", "Keeps a pull open for what comes.", nothing),
		e(session.KindPaused, "An operator paused the consumer: messages wait, and that is meant.", "Keeps its pull open; they come when the pause ends.", "Resume the consumer."),
		e(session.KindBufferFull, "The caller takes messages slower than they come.", "Sends no pull until there is room: memory stays bounded, and nothing is dropped.", "Take messages faster, or leave it."),
		e(session.KindDisconnected, "The connection to the server is down.", "Sends and counts nothing until it is back.", "Look at the network and the server."),
		e(session.KindReconnected, "The connection is back. Pulls of the old one are over.", "Replaces the session.", nothing),
		e(session.KindConnectionForced, "The connection looked open and carried nothing: a dead link.", "Makes it anew; others on the same connection notice a reconnect.", "Look for a firewall or NAT that forgets connections."),
		e(session.KindPermissionDenied, "The server denied a subject that the session needs; the text names it.", "At the start it ends; later it tries again, paced, since permissions are given back.", "Allow the subject for this user."),
		e(session.KindMessageTooLarge, "A message is larger than the read-ahead allows in bytes.", "Pulls it alone, once.", "Raise Pull.MaxBytes, or leave it."),
		e(session.KindConsumerLimit, "There is no slot for another consumer.", "Goes on with the consumer it has, or waits for a slot.", "Delete unused consumers, or raise max_consumers."),
		e(session.KindOrphanLeft, "A consumer of ours could not be deleted yet. With code 10014: its create was not answered, and the server may still make it.", "Asks for its delete again until it is gone or has lapsed.", nothing),
		e(session.KindOrphanRemoved, "A consumer of ours that was left is gone.", "Forgets it.", nothing),
		e(session.KindClosed, "The reader was closed, or came to its end.", "Leaves nothing on the server.", nothing),
		e(session.KindFailed, "The reader ended by an error.", "Returns it from every call.", "Read the error; its hint says what to do."),
	}
}

// causeEntries explain why a session ends.
func causeEntries() []entry {
	c := func(cause session.Cause, means, does, do string) entry {
		return entry{Topic: topicCause, Word: string(cause), Means: means, Reader: does, Do: do}
	}
	const ordinary = "Ordinary life: replaced at once, no error reaches the caller."
	const failure = "A failure: goes through --on-error, and attempts are paced."
	return []entry{
		c(session.CauseConsumerDeleted, "A waiting pull was told that the consumer was deleted.", ordinary, "Find who deletes consumers, where it repeats."),
		c(session.CauseConsumerGone, "The consumer does not exist: it expired, or was deleted unseen.", ordinary, "Nothing."),
		c(session.CauseAnswersLost, "The consumer lives and its answers do not arrive: the server has no subscription for our inbox, or it is not allowed.", failure, "Where it repeats, look at permissions, leaf nodes and gateways."),
		c(session.CauseAPISilent, "Neither the pull nor the question about the consumer was answered.", failure, "Look at the cluster's leaders and the network."),
		c(session.CauseNoResponders, "Nobody answers where the pull goes, and the question about the consumer told no more.", failure, "Look whether JetStream runs."),
		c(session.CauseGap, "A delivery was lost on the way.", "Ordinary life: read again from the last message in order.", "Look at the network, where it repeats."),
		c(session.CauseRefused, "The server refuses our pulls for good.", failure, "Look up the status in the text."),
		c(session.CauseReconnected, "The connection was made anew, and pulls ended with the old one.", ordinary, "Nothing."),
		c(session.CauseStreamGone, "The stream does not exist.", "Waits for the stream's grace, then ends with that error; with --wait-for-stream it waits.", "Make the stream again."),
		c(session.CausePermission, "The server denied one of the session's subjects.", failure, "Allow the subject that the text names."),
		c(session.CauseRequested, "Replace was called.", "Replaces a session that works; it stays where that fails.", "Nothing."),
		c(session.CauseRolledBack, "The stream lost its tail: a crash, or a restored backup.", "Tells stream_reset and goes on behind the last message read, by its time.", "Find out what the server lost."),
		c(session.CausePassedOver, "Messages that the consumer had counted as waiting did not come: removed, or passed over by the server (2.10.22 to 2.14.0 do so when one of several filters' subjects is purged).", "Reads again from the last message in order: what is still there comes. Looks less and less often where it was removed.", "Nothing; a newer server (2.14.10, 2.15) passes over none."),
		c(session.CauseConsumerAhead, "The consumer has delivered what never arrived here.", "Reads again from the last message in order.", "Look for somebody else who pulls from our consumer."),
		c(session.CauseConnectionClosed, "The connection is closed for good.", "Ends with that error.", "Connect with MaxReconnects(-1); check the login."),
		c(session.CauseSnapshotRead, "The last message of each subject has been read, or was overtaken by newer ones.", "Ordinary life: goes on by sequence behind the snapshot.", "Nothing."),
		c(session.CauseOpening, "The first session could not be made.", "Tries until the caller's context ends.", "Read the error that comes with it."),
	}
}

// stateEntries explain what a reader is doing.
func stateEntries() []entry {
	s := func(state reader.State, means, does, do string) entry {
		return entry{Topic: topicState, Word: string(state), Means: means, Reader: does, Do: do}
	}
	return []entry{
		s(reader.StateOpening, "Open has not returned yet.", "Makes its first session.", nothing),
		s(reader.StateReading, "Messages wait in the stream and arrive.", "Pulls.", nothing),
		s(reader.StateIdle, "Nothing waits in the stream.", "Keeps a pull open.", nothing),
		s(reader.StatePaused, "An operator paused the consumer.", "Keeps a pull open.", "Resume the consumer."),
		s(reader.StateWaitingAcks, "The durable has as many messages out as max_ack_pending allows.", "Waits for acks.", "Ack what was handed out, or raise max_ack_pending."),
		s(reader.StateBufferFull, "The caller reads slower than the stream.", "Sends no pull until there is room.", "Read faster, or leave it."),
		s(reader.StateRecovering, "The session is silent or gone.", "Puts another in its place.", "See the events before it."),
		s(reader.StateDisconnected, "The connection is down.", "Waits for it.", "Look at the network and the server."),
		s(reader.StateClosed, "Closed, at its end, or failed.", "Nothing more.", "See why in Err."),
	}
}
