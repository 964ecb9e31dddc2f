package tui

import (
	"fmt"
	"time"

	"github.com/an-open-reader/nats-reader/reader"
)

// condition is what a reader does, in a word and a phrase.
type condition struct {
	word  string
	about string
	role  role
}

// conditionOf says what a reader does at a time. The worst that is true is said.
func conditionOf(r *readerBook, now time.Time) condition {
	s := r.status()
	deaf := r.deafFor(now)
	since := func(at time.Time) string {
		if at.IsZero() {
			return ""
		}
		return "for " + age(now.Sub(at))
	}
	switch {
	case r.failed != "":
		return condition{"FAILED", r.failed, roleBad}
	case !r.ended.IsZero() || s.State == reader.StateClosed:
		return condition{"CLOSED", closedAbout(r, s), roleDim}
	case s.State == reader.StateDisconnected:
		return condition{"DISCONNECTED", since(s.Since) + ": the connection is down, reconnecting", roleBad}
	case deaf > 0 && r.deafLimit() > 0 && deaf > r.deafLimit():
		return condition{"DEAF", fmt.Sprintf("for %s, allowed %s: %s", age(deaf), age(r.deafLimit()), recovery(r, s, now)), roleBad}
	case r.denied != "":
		return condition{"DENIED", "the server denied " + r.denied, roleBad}
	case s.State == reader.StateOpening:
		return condition{"OPENING", opening(r, s, now), roleWarn}
	case r.sessions.lost, s.State == reader.StateRecovering && !r.sessions.silent:
		return condition{"REPLACING", recovery(r, s, now), roleWarn}
	case r.sessions.silent:
		return condition{"SILENT", fmt.Sprintf("#%d: no answer for %s, asking why", r.number(), seconds(deaf)), roleWarn}
	case s.State == reader.StatePaused:
		return condition{"PAUSED", fmt.Sprintf("#%d", r.number()) + " by an operator, " + since(s.Since), roleWarn}
	case s.State == reader.StateWaitingAcks:
		return condition{"WAITING FOR ACKS", since(s.Since) + ": the durable is at max_ack_pending", roleWarn}
	case s.State == reader.StateBufferFull:
		return condition{"BUFFER FULL", since(s.Since) + ": the caller reads slower than the stream", roleWarn}
	}
	about := fmt.Sprintf("#%d", r.number())
	if row := r.sessions.current(); row != nil {
		about += " " + since(row.from)
	}
	if s.State == reader.StateIdle {
		about += ", nothing waits"
	}
	return condition{"LIVE", about, roleGood}
}

// number is that of the session in use: events may be ahead of the snapshot.
func (r *readerBook) number() int {
	n := r.status().Session.Number
	if row := r.sessions.current(); row != nil {
		n = max(n, row.number)
	}
	return n
}

func closedAbout(r *readerBook, s reader.Status) string {
	return fmt.Sprintf("after %d sessions, %s messages read", len(r.sessions.rows)+r.sessions.forgotten, count(s.Delivered))
}

// opening says how far the first session is.
func opening(r *readerBook, s reader.Status, now time.Time) string {
	if s.Retry.Attempt > 1 || r.sessions.attempt > 1 {
		return "the first session: " + attempt(r, s, now)
	}
	return "the first session is being made"
}

// recovery says why a session ended and how far its replacement is.
func recovery(r *readerBook, s reader.Status, now time.Time) string {
	cause := words(string(r.sessions.cause))
	switch {
	case r.denied != "":
		cause = "the server denied " + r.denied
	case cause == "" && r.sessions.silent:
		cause = "no answer"
	case cause == "":
		cause = "being replaced"
	}
	return fmt.Sprintf("#%d: %s, %s", r.number(), cause, attempt(r, s, now))
}

func attempt(r *readerBook, s reader.Status, now time.Time) string {
	text := fmt.Sprintf("attempt %d", max(s.Retry.Attempt, r.sessions.attempt, 1))
	if wait := s.Retry.NextAt.Sub(now); !s.Retry.NextAt.IsZero() && wait > 0 {
		text += " in " + seconds(wait)
	}
	return text
}

// deafLimit is how long the reader may be deaf; 0: not known.
func (r *readerBook) deafLimit() time.Duration {
	if r.contract == nil {
		return 0
	}
	return r.contract.Deaf
}

// verdict is the contract in two words.
func (r *readerBook) verdict() (string, role) {
	c := r.contract
	switch {
	case c == nil:
		return "contract not judged yet", roleDim
	case c.Finding == "held":
		return "contract HELD", roleGood
	case c.Finding == "broken":
		return "contract BROKEN", roleBad
	default:
		return "contract " + c.Finding, roleWarn
	}
}

// suspicion orders readers: the higher, the sooner one is to be looked at.
func suspicion(r *readerBook, now time.Time) int {
	rank := map[string]int{
		"FAILED": 90, "DEAF": 80, "DENIED": 70, "DISCONNECTED": 60, "REPLACING": 50, "SILENT": 40, "BUFFER FULL": 30,
		"WAITING FOR ACKS": 25, "PAUSED": 20, "OPENING": 15, "CLOSED": 10,
	}[conditionOf(r, now).word]
	if r.contract != nil && r.contract.Finding == "broken" {
		rank += 100
	}
	return rank
}
