// Package simulate runs readers against a model of a server under virtual time,
// breaks everything that can break on the way, and looks whether the contract was
// kept. It is for tests.
//
// A Plan says all that happens in a run: the server's version, the stream, the
// readers' configurations, and steps, each at its time. It comes from a seed. Run
// gives nil, or a Failure that says which promise was broken. Shrink drops steps for
// as long as the run still fails the same way, and Transcript writes what the reader
// lived through in the format of the transcripts of package session.
package simulate
