package commands

import "slices"

const (
	nothing = "Nothing."
	refused = "A refusal: the session is condemned, the failure goes through --on-error, and the next one is paced."
)

func status(code, text, means, reader, do string) entry {
	return entry{Topic: topicStatus, Word: code, Text: text, Means: means, Reader: reader, Do: do}
}

// statusEntries explain what a server answers to a pull. Only 100 leaves the pull
// open; every other status ends it.
func statusEntries() []entry {
	s := status
	return slices.Concat([]entry{
		s("100", "Idle Heartbeat",
			"The pull is alive and nothing is due. Nats-Last-Consumer and Nats-Last-Stream say how far the consumer has delivered.",
			"Takes it as an answer. A Nats-Last-Consumer above what has arrived is a delivery lost on the way: the session is replaced.", nothing),
		s("404", "No Messages",
			"A pull that was not to wait found nothing. A paused consumer says it too, although messages wait.",
			"Takes it as an answer, and as the end of the stream only where the consumer is not paused.", nothing),
		s("408", "Request Timeout",
			"The pull's time is up. Nats-Pending-Messages says how many of it were not used.",
			"Pulls again. It is the ordinary end of a pull.", nothing),
		s("408", "Requests Pending",
			"A pull that was not to wait came while earlier pulls claim more than is there.",
			"Takes it as an answer and pulls again.", nothing),
		s("408", "Interest Expired",
			"Nobody listens any more where the pull wants its answers.",
			"Takes it as the end of that pull.", "Where it repeats, look for a leaf node or gateway that loses subscriptions."),
		s("400", "Bad Request",
			"The server cannot read the pull, or its values cannot be: a heartbeat above half of expires, a priority group that is missing.",
			refused, "Read the rest of the text. A consumer with priority groups cannot be read by a reader of nats-reader."),
		s("412", "Required Api Level",
			"The pull asks for what this server is too old to know.",
			refused, "Upgrade the server."),
		s("423", "Nats-Wrong-Pin-Id",
			"The consumer is pinned to one client, and that is another.",
			refused, "Read another consumer, or wait until the pinned client is gone."),
		s("503", "No Responders",
			"Nothing answers where the pull went: the consumer or stream is gone, its node is down, or JetStream is off. Servers up to 2.10.22 say nothing at all instead.",
			"Asks about the consumer once. Gone: replaced at once without an error. No answer: a failure, paced.",
			"Where it lasts, look at the cluster's leaders and at JetStream itself."),
	}, conflictEntries())
}

// conflictEntries explain the many texts of 409.
func conflictEntries() []entry {
	s := status
	return []entry{
		s("409", "Consumer Deleted",
			"The consumer is gone, or its whole stream: the text is the same.",
			"The session is condemned and replaced at once, without an error. The answer to the create tells whether the stream went too.",
			"Where it repeats, find who deletes consumers; a max_age or a clean-up job is a usual suspect."),
		s("409", "Batch Completed",
			"A pull with a limit in bytes has delivered its number of messages.",
			"Pulls again.", nothing),
		s("409", "Message Size Exceeds MaxBytes",
			"The next message does not fit into what is left of the pull's bytes.",
			"Waits for room in the buffer; a message larger than the whole of it is pulled alone, and told once as message_too_large.",
			"Nothing; a larger Pull.MaxBytes spares the extra pull."),
		s("409", "Leadership Change",
			"Another node of the cluster leads the consumer now.",
			"Pulls again soon, in the same session.", nothing),
		s("409", "Server Shutdown",
			"The server ends in order, and tells its pulls.",
			"Pulls again soon; the reconnect that follows replaces the session.", nothing),
		s("409", "Exceeded MaxRequestBatch",
			"The pull asks for more messages than the consumer or server allows in one.",
			"Obeys the number in the text with the next pull; refused again, it is a failure.",
			"Lower --batch, or raise max_batch of the consumer or max_request_batch of the server."),
		s("409", "Exceeded MaxRequestExpires",
			"The pull wants to wait longer than the consumer allows.",
			"Obeys the duration in the text with the next pull; refused again, it is a failure.",
			"Lower --expires, and --heartbeat to at most half of it."),
		s("409", "Exceeded MaxRequestMaxBytes",
			"The pull allows more bytes than the consumer does.",
			"Obeys the number in the text with the next pull; refused again, it is a failure.",
			"Lower Pull.MaxBytes, or raise max_bytes of the consumer."),
		s("409", "Exceeded MaxWaiting",
			"Too many pulls wait on this consumer. From 2.11 on a pull with a heartbeat is dropped in silence instead.",
			refused, "Look for other readers of the same durable, or raise max_waiting."),
		s("409", "Consumer is push based",
			"The consumer pushes to a subject of its own and takes no pulls.",
			refused, "Name another durable: a reader pulls."),
	}
}
