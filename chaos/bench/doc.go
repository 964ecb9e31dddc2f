// Package bench measures how fast readers read: this module's beside those of nats.go, in one run, on one server.
//
//	fill a stream     round 1: A B C    round 2: C A B    round 3: ...    remove it
//	once a size  -->  each opens a reader, reads to the last message, closes  -->  medians, ratios of the rounds
//
// A figure by itself is the machine's. What can be compared is the ratio of two readers within a round, and of those
// the median: whatever slows the machine for a while slows all of one round. The order within rounds changes, so that
// what goes on for longer falls on all alike.
//
// What must stay true:
//
//   - Between the reader and the count there is nothing: each contestant is a loop or a callback that calls tally.count.
//   - Every message carries its number. Each contestant compares it with the one that must come next, and the size of
//     the payload; of the last message it compares the stream sequence. With Plan.Metadata it knows the stream sequence
//     of every message: nats.go's readers parse it for that, this module's has parsed it anyway.
//   - A reading begins before the reader is opened and ends with the last message. Each has a connection of its own,
//     made before. Nothing else happens in this process meanwhile: what a plan tells its progress is told between
//     readings.
//   - The server is a process of its own. What it uses is measured where that process is known.
//   - Whatever ends a run, the stream is removed.
package bench
