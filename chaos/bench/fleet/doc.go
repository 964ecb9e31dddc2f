// Package fleet measures what many readers of one process cost, and whether they stay as they are.
//
//	plan ──> stage (server, connections, streams) ──> readers open, all read a message
//	             │
//	             ├─ cost:    idle for a while, then the server ends and comes back: all read again
//	             ├─ steady:  idle for long, a sample every few seconds
//	             └─ flow:    one reader and a publisher at full speed, a sample every few seconds
//	             │
//	         all close ──> what is left on the server ──> result, judged by pure functions
//
// What must stay true:
//
//  1. The server is a process of its own; its publisher and the questions about it have a connection of
//     their own, so that what is counted on the readers' connections is the readers'.
//  2. Every way out closes all readers, ends the lab's servers, and deletes streams on a server of others.
//  3. Judging (limits.go, judge.go, steady.go) has no clock and no connection.
package fleet
