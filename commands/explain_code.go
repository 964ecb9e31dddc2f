package commands

import "slices"

// The kinds of what a reader makes of an err_code.
const (
	codeTemporary = "Takes it as temporary: tries again, paced, and is never ended by it."
	codeConfig    = "At the start it ends with a configuration error; later it is a failure, paced."
	codeOthers    = "A reader never asks for it; faults on a server and the demo can meet it."
)

func code(word, text, means, reader, do string) entry {
	return entry{Topic: topicCode, Word: word, Text: text, Means: means, Reader: reader, Do: do}
}

// codeEntries explain the err_code of the JetStream API: those that a reader's own
// requests, its faults and the demo can be answered with (errors.json of 2.15.3).
func codeEntries() []entry {
	return slices.Concat(serviceCodes(), consumerCodes(), streamCodes())
}

// serviceCodes are about JetStream, its cluster and the account.
func serviceCodes() []entry {
	return []entry{
		code("10002", "resource limits exceeded for account", "The account has used up its memory, storage, streams or consumers.", codeTemporary, "Raise the account's limits, or delete what nobody uses."),
		code("10003", "bad request", "The server could not read the request.", codeConfig, "Check the versions of server and client."),
		code("10004", "incomplete results", "Not every server of the cluster answered a list in time.", "A reader asks for no list; orphans are then counted as unknown.", "Look at the cluster, and ask again."),
		code("10005", "no suitable peers for placement", "No node of the cluster can take it: too few, full, or without the tags.", codeTemporary, "Bring nodes back, or lower the replicas."),
		code("10007", "JetStream cluster not assigned to this server", "The server that was asked does not lead the stream or consumer.", codeTemporary, "Nothing, while a leader is elected."),
		code("10008", "JetStream system temporarily unavailable", "The cluster has no leader for what was asked: an election, or the quorum is lost.", codeTemporary, "Bring the missing nodes back."),
		code("10009", "JetStream cluster can not handle request", "The cluster is not ready to do it.", codeTemporary, "Look at the cluster's leaders."),
		code("10010", "JetStream clustering support required", "What was asked for, such as another leader, needs a cluster.", "A reader never asks for it; step-down-stream and step-down-consumer need a cluster.", "Nothing."),
		code("10023", "insufficient resources", "The server or account has no memory, storage or slot left for it.", codeTemporary, "Look at the account's limits and the disks."),
		code("10025", "invalid JSON", "The request holds something this server does not know or cannot read.", codeConfig, "Check the versions of server and client."),
		code("10028", "insufficient memory resources available", "The server has no memory left for JetStream.", codeTemporary, "Raise max_mem of the server, or delete what nobody uses."),
		code("10035", "account not found", "The server does not know the account of this connection.", codeTemporary, "Check the login, and that the account was pushed to the server."),
		code("10036", "not currently supported in clustered mode", "A cluster cannot do what was asked for.", codeOthers, "Nothing."),
		code("10039", "JetStream not enabled for account", "The account has no JetStream.", "Ends at the start with that error.", "Enable JetStream for the account, or connect to another with --creds or --context."),
		code("10047", "insufficient storage resources available", "The server has no storage left for JetStream.", codeTemporary, "Look at the disk and max_file of the server."),
		code("10076", "JetStream not enabled", "The server runs without JetStream.", "Ends at the start with that error.", "Start the server with JetStream, or set --js-domain."),
		code("10118", "stream is offline", "The server cannot serve the stream: none of its nodes is up.", codeTemporary, "Bring the nodes back."),
		code("10119", "consumer is offline", "The server cannot serve the consumer: none of its nodes is up.", codeTemporary, "Bring the nodes back."),
		code("10120", "no JetStream default or applicable tiered limit present", "The account has JetStream limits for other numbers of replicas only.", codeConfig, "Ask for a number of replicas that the account has a limit for, or add one."),
		code("10157", "pedantic mode", "The request asks to be refused rather than adjusted, and something would have been.", codeConfig, "Read the text."),
		code("10167", "too many requests", "The server has more JetStream API requests waiting than it takes.", codeTemporary, "Look for a client that floods the API."),
		code("10185", "JetStream minimum api level required", "The request asks for what this server is too old to know.", codeTemporary, "Upgrade the server."),
		code("10194", "stream is offline", "The server cannot serve the stream; the text says why: often it was made by a newer server.", codeTemporary, "Upgrade the server, or read the text."),
		code("10195", "consumer is offline", "The server cannot serve the consumer; the text says why: often it was made by a newer server.", codeTemporary, "Upgrade the server, or read the text."),
		code("10202", "cluster member change is in progress", "The cluster takes on or lets go of a node.", codeConfig, "Wait until it is over, and start the reader again."),
	}
}

// streamCodes are about streams, and about messages on their way into one.
func streamCodes() []entry {
	return []entry{
		code("10027", "maximum number of streams reached", "The account may have no further stream.", "A reader makes no streams.", "Raise the account's limit."),
		code("10049", "stream creation failed", "The server could not make the stream; the text says why.", codeOthers, "Read the text."),
		code("10050", "stream deletion failed", "The server could not delete the stream; the text says why.", codeOthers, "Read the text."),
		code("10052", "stream configuration is invalid", "The stream cannot be as it was asked for; the text says why.", codeOthers, "Read the text."),
		code("10054", "message size exceeds maximum allowed", "A message is larger than the stream or server takes.", "Only a publisher meets it.", "Raise max_msg_size, or publish less at once."),
		code("10056", "stream name in subject does not match request", "A stream's name holds what a name cannot, such as a dot.", codeConfig, "Name the stream; a subject is a filter."),
		code("10058", "stream name already in use", "A stream of that name exists with another configuration.", "A reader makes no streams; recreate-stream may meet it.", "Delete the other stream, or choose another name."),
		code("10059", "stream not found", "The stream does not exist.", "At the start it ends at once; later after the stream's grace of 15 s; with --wait-for-stream it waits.", "Check the name and the account; nats-reader suggests the nearest name."),
		code("10065", "subjects overlap with an existing stream", "Another stream stores some of these subjects already.", codeOthers, "Give the stream subjects of its own."),
		code("10077", "storing the message failed", "The stream refused a message: it is full, or the disk is; the text says which.", "Only a publisher meets it.", "Raise the stream's limits, or let it discard old messages."),
		code("10109", "invalid operation on sealed stream", "A sealed stream takes, deletes and purges no message.", "Reads it like any other.", "Nothing; purge-stream cannot act on it."),
		code("10110", "stream purge failed", "The server could not purge; the text says why.", codeOthers, "Read the text."),
		code("10128", "stream name can not contain path separators", "A name has no slash.", codeConfig, "Check the stream's name."),
	}
}
