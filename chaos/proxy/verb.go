package proxy

import (
	"fmt"
	"slices"
)

// Direction says which way a frame travels.
type Direction uint8

// The two directions of a connection.
const (
	Up   Direction = iota // from the client to the server
	Down                  // from the server to the client
)

// String returns "up" or "down".
func (d Direction) String() string {
	if d == Up {
		return "up"
	}
	return "down"
}

// MarshalText writes the direction as String does.
func (d Direction) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (d *Direction) UnmarshalText(text []byte) error {
	names := []string{Up.String(), Down.String()}
	n := slices.Index(names, string(text))
	if n < 0 {
		return unknownWord("direction", string(text), names)
	}
	*d = Direction(n)
	return nil
}

// Verb is the operation a frame of the NATS client protocol begins with.
type Verb uint8

// The verbs of the client protocol. NoVerb belongs to facts that are about no single
// frame, such as a connection that was cut.
const (
	NoVerb Verb = iota
	INFO
	CONNECT
	PING
	PONG
	SUB
	UNSUB
	PUB
	HPUB
	MSG
	HMSG
	OK
	ERR
	verbs
)

var verbNames = [verbs]string{"", "INFO", "CONNECT", "PING", "PONG", "SUB", "UNSUB", "PUB", "HPUB", "MSG", "HMSG", "+OK", "-ERR"}

// String returns the verb as it is written on the wire; "" for NoVerb.
func (v Verb) String() string {
	if v >= verbs {
		return fmt.Sprintf("Verb(%d)", uint8(v))
	}
	return verbNames[v]
}

// MarshalText writes the verb as String does.
func (v Verb) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (v *Verb) UnmarshalText(text []byte) error {
	n := slices.Index(verbNames[:], string(text))
	if n < 0 {
		return unknownWord("verb", string(text), verbNames[1:])
	}
	*v = Verb(n)
	return nil
}

// travels tells whether a peer of the client protocol may send this verb in this direction.
// What may not be sent is a malformed stream: the receiver would refuse it.
func (v Verb) travels(d Direction) bool {
	switch v {
	case INFO, MSG, HMSG:
		return d == Down
	case CONNECT, SUB, UNSUB, PUB, HPUB:
		return d == Up
	case PING, PONG, OK, ERR:
		return true
	default:
		return false
	}
}

// longLine is the bound of an INFO or CONNECT line: a cluster's URLs or a JWT make these long.
// Every other control line is bounded by shortLine, sixteen times the server's default.
const (
	shortLine = 64 << 10
	longLine  = 1 << 20
)

func (v Verb) maxLine() int {
	if v == INFO || v == CONNECT {
		return longLine
	}
	return shortLine
}

// verbOf recognises the verb at the start of b, in any letter case as servers do. ok is false when
// b cannot become the start of any frame. An unfinished word gives NoVerb and true.
func verbOf(b []byte) (v Verb, size int, ok bool) {
	switch {
	case len(b) > 3 && string(b[:4]) == "MSG ":
		return MSG, 3, true
	case len(b) > 3 && string(b[:4]) == "PUB ":
		return PUB, 3, true
	}
	for size < len(b) && size <= len("CONNECT") && b[size] > ' ' {
		size++
	}
	unfinished := size == len(b)
	for v = INFO; v < verbs; v++ {
		name := verbNames[v]
		if size == len(name) && equalFold(b[:size], name) {
			if unfinished {
				return NoVerb, size, true
			}
			return v, size, true
		}
		if unfinished && size < len(name) && equalFold(b, name[:size]) {
			return NoVerb, size, true
		}
	}
	return NoVerb, 0, false
}

// equalFold compares ASCII without regard to case; upper is in capitals.
func equalFold(b []byte, upper string) bool {
	if len(b) != len(upper) {
		return false
	}
	for i, c := range b {
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		if c != upper[i] {
			return false
		}
	}
	return true
}
