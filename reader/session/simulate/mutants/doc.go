// Package mutants breaks every rule of package session, one at a time, and looks
// whether its transcripts, its other tests or the simulator find it. All mutants are
// in one build, made by go's -overlay flag from texts in a table; the code of the
// rules knows nothing of them.
package mutants
