// Package oracle judges what a reader made of what was published and of the faults it met.
//
//	Attempted, Acknowledged (publisher) --+
//	Ready, Read (the reader's caller) ----+--> Oracle --> Judge(Ending) --> Verdict
//	Event (a reader of ours) -------------+                 ^
//	Request, Consumers (the server's side)+                 Period of each fault, Limits
//
// What must stay true:
//
//   - The oracle has no clock and asks nobody: every time comes from the caller, and the same observations
//     give the same verdict.
//   - Observations may come in any order between publisher and reader: a message may be read before its
//     acknowledgement is told.
//   - What is acknowledged and read is forgotten, so that a long run does not grow without end, and is
//     still judged when it is read again.
//   - What a fault destroyed is no loss of the reader's, and only what it can have destroyed.
//   - What cannot be judged is unknown, never held.
package oracle
