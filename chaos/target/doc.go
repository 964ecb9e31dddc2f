// Package target is who reads while faults act: the reader of this module, the
// readers of nats.go as their documentation tells users to write them, and any
// program in any language that prints the id of each message it reads.
//
//	t, err := target.Parse("ordered-messages(max-wait=1s)")
//	err = t.Read(ctx, in) // until ctx ends, or the target gives up by itself
//
// What must stay true:
//
//   - Each of nats.go's readers runs at the defaults of its library, on a connection
//     of its own with the defaults of nats.go.
//   - A target that ends by itself says so at once, and with which error; one that is
//     open and deaf stays open, for the judge to see.
//   - After Read has returned nothing is told any more, no process is left, and what
//     nats.go does not let go of at once ends behind its closed connection (Settle).
//
// # Outside programs
//
// exec:CMD is run by sh -c in a process group of its own, with these variables; every
// other NATS_ variable is taken out of its environment:
//
//	NATS_URL             where to connect, with the login where one is needed
//	NATS_READER_STREAM   the stream to read
//	NATS_READER_SUBJECT  the subjects to read, separated by blanks; empty: the whole stream
//	NATS_READER_DURABLE  the name of the durable consumer to use; empty: a private reader
//	NATS_READER_API_PREFIX, NATS_READER_DOMAIN
//	                     where the JetStream API is; both empty: $JS.API
//	NATS_READER_SEED     a number that fixes whatever the program draws by chance
//
// It reads from the start of the stream and prints the payload of each message, or its
// first word, as one line on stdout, each when it is read. Blank lines count for
// nothing; any other line is a message that nobody published. It goes on until it gets
// TERM, and KILL after ExitGrace. A program that leaves its process group is not
// followed. Windows has no process groups, and so no such targets.
package target
