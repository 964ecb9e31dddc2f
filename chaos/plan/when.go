package plan

import (
	"fmt"
	"time"
)

// When is the moment at which a step's fault comes: one of the kinds, and After it.
type When struct {
	Kind   WhenKind
	Time   time.Duration // At: when; Random: the earliest
	Until  time.Duration // Random: the latest
	Number uint64        // Session, Heartbeat, Sequence, Quiet
	After  time.Duration // all but At and Random: so long behind the moment
}

// WhenKind says what a step waits for.
type WhenKind string

// The kinds. A resolved plan has none that is Random.
const (
	// At is a time from the start of the inject phase.
	At WhenKind = "at"
	// Session is the moment at which the target has its nth session (a consumer that
	// answers), counted from when it opened.
	Session WhenKind = "session"
	// Heartbeat is the moment at which the nth idle heartbeat (status 100) reaches the
	// target, counted from the start of the inject phase.
	Heartbeat WhenKind = "heartbeat"
	// Sequence is the moment at which the target is handed the message with that stream
	// sequence, or the first beyond it.
	Sequence WhenKind = "sequence"
	// Quiet is the moment before the last message ahead of the nth quiet window, from 1:
	// the target has read all else, the fault is made, one message is published, and the
	// window begins.
	Quiet WhenKind = "quiet"
	// Drawn is a time between Time and Until, fixed by the seed.
	Drawn WhenKind = "random"
)

// Timed says whether the moment is known before the run.
func (w When) Timed() bool { return w.Kind == At || w.Kind == Drawn }

// String says the moment in words.
func (w When) String() string {
	var text string
	switch w.Kind {
	case At:
		return "at " + short(w.Time)
	case Drawn:
		return "between " + short(w.Time) + " and " + short(w.Until)
	case Session:
		text = fmt.Sprintf("at session %d", w.Number)
	case Heartbeat:
		text = fmt.Sprintf("at heartbeat %d", w.Number)
	case Sequence:
		text = fmt.Sprintf("at sequence %d", w.Number)
	case Quiet:
		text = fmt.Sprintf("before the last message ahead of quiet window %d", w.Number)
	default:
		return "never"
	}
	if w.After > 0 {
		text = short(w.After) + " after: " + text
	}
	return text
}

// short writes a duration without the parts that are zero: 2m, not 2m0s.
func short(d time.Duration) string {
	text := d.String()
	if len(text) > 2 && text[len(text)-2:] == "0s" && (text[len(text)-3] == 'm') {
		text = text[:len(text)-2]
	}
	if len(text) > 2 && text[len(text)-2:] == "0m" && (text[len(text)-3] == 'h') {
		text = text[:len(text)-2]
	}
	return text
}
