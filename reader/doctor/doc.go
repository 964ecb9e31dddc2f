// Package doctor finds readers of a live server that are deaf, stuck or in the
// way, and tells why.
//
//	server ---> Gather ---> Facts ---> Judge ---> Report
//	                          |  ^
//	                   Write  v  |  Read
//	                         bundle
//
// Facts are plain values, all with the server's own times. Checks are pure
// functions of facts: what is found in a bundle on another machine is what was
// found on the server.
//
// What must stay true:
//
//   - Gathering only asks. Nothing on the server differs afterwards, and no client
//     is answered differently, unless Options.Listen was set.
//   - Every age is a difference of two times of the server. The clock of this
//     machine only paces the looks.
//   - What could not be seen is among Facts.NotJudged, and no check guesses it: a
//     check that needs it stays silent.
//   - A check names the figures that made it fire, and steps that are safe in the
//     order given.
package doctor
