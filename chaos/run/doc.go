// Package run plays one plan with one target on one server, and gives what came of it.
//
//	prepare > steady > inject > clear > recover > drain > judge
//
// prepare makes the server, the stream, the proxy and what is stored before. steady lets
// the target read with no fault; where that fails nothing is injected, and nothing can be
// judged. inject makes the faults of the plan; clear undoes them. recover waits until the
// target reads again, drain until it has read all that is stored. judge always comes.
//
// What must stay true:
//
//   - Whatever ends a run (its end, an interrupt, its time, a panic, the end of the target
//     or of a server) every fault is undone and nothing of the run is left.
//   - The target's connection goes through the proxy; the connections of the publishers,
//     and the one that manages the server, do not.
//   - A run shares no port, folder, stream, subject or consumer with another one.
//   - What could not be done makes the finding unknown: a run never holds because a fault
//     did not come, or because nobody looked.
package run
