package readerprom

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

// Health is what a probe is told of one reader.
type Health struct {
	Reader, Stream string
	State          reader.State
	// Ready: it reads. One that an operator has paused, that waits for acks or room in its
	// caller, or for which there is nothing to read, is ready, and Text says so.
	Ready bool
	// Alive: it is not closed. One that is not ready heals by itself as long as it is alive.
	Alive bool
	Text  string // the state, and why it does not read, in one line
}

// Health tells every reader's health, those that are not ready first.
func (c *Collector) Health() []Health {
	var all []Health
	for _, e := range c.entries() {
		all = append(all, e.look(c.now()).health())
	}
	slices.SortStableFunc(all, func(a, b Health) int { return int(flag(a.Ready)) - int(flag(b.Ready)) })
	return all
}

// Readyz answers a readiness probe: 200 when every reader reads, and 503 when one does not,
// or when there is none. A line for each says its state; those that do not read come first,
// with the reason. A deafness that was not noticed yet, which takes two heartbeats, is none.
//
// A replacement that takes milliseconds is a 503 too, for that time: let a probe fail a few
// times before it counts.
func (c *Collector) Readyz() http.Handler {
	return probe(func() (bool, []string) {
		all := c.Health()
		if len(all) == 0 {
			return false, []string{"not ready: no reader is open"}
		}
		return lines(all, "ready", func(h Health) bool { return h.Ready })
	})
}

// Livez answers a liveness probe: 503 when a reader is closed, which does not heal by itself,
// and 200 else. A reader that is deaf or disconnected is alive: to start its process anew
// heals nothing that it does not heal by itself.
func (c *Collector) Livez() http.Handler {
	return probe(func() (bool, []string) {
		all := c.Health()
		if len(all) == 0 {
			return true, []string{"alive: no reader is open yet"}
		}
		slices.SortStableFunc(all, func(a, b Health) int { return int(flag(a.Alive)) - int(flag(b.Alive)) })
		return lines(all, "alive", func(h Health) bool { return h.Alive })
	})
}

// maxLines is how many readers a probe tells of.
const maxLines = 100

func lines(all []Health, word string, is func(Health) bool) (good bool, out []string) {
	good = true
	for i, h := range all {
		text := word
		if !is(h) {
			good, text = false, "not "+word
		}
		if i < maxLines {
			out = append(out, fmt.Sprintf("%s: %s: %s", text, h.Reader, h.Text))
		}
	}
	if more := len(all) - maxLines; more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return good, out
}

// probe answers GET and HEAD.
func probe(look func() (good bool, lines []string)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed: use GET", http.StatusMethodNotAllowed)
			return
		}
		good, lines := look()
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if !good {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		fmt.Fprintln(w, strings.Join(lines, "\n")) //nolint:errcheck // whoever asked has gone
	})
}

func (l look) health() Health {
	h := Health{Reader: l.name, Stream: l.stream, State: l.status.State, Ready: l.reads(), Alive: l.status.State != reader.StateClosed}
	h.Text = oneLine(l.words())
	return h
}

// words say a state, and why a reader does not read.
func (l look) words() string {
	switch state := l.status.State; state {
	case reader.StatePaused:
		return "paused by an operator: what waits comes after the resume"
	case reader.StateWaitingAcks:
		return "waiting_acks: the durable is at max_ack_pending"
	case reader.StateBufferFull:
		return "buffer_full: its caller reads slower than the stream"
	case reader.StateClosed:
		return "closed" + l.ended()
	case reader.StateRecovering, reader.StateDisconnected:
		text := string(state)
		if since := l.deafSince(); !since.IsZero() {
			text += fmt.Sprintf(", silent since %s (%s)", since.UTC().Format(time.RFC3339), l.deaf().Round(100*time.Millisecond))
		}
		return text + l.why()
	case reader.StateOpening:
		return "opening" + l.why()
	default:
		return string(state)
	}
}

// ended says why a reader is closed.
func (l look) ended() string {
	switch {
	case l.err == nil:
		return ": it came to its end"
	case errors.Is(l.err, reader.ErrClosed):
		return " by its own program"
	}
	return ": " + l.err.Error()
}

// why is the last word on the recovery under way. Without events the status has it, from the
// second attempt on: before that its last error is one of an earlier recovery.
func (l look) why() string {
	var text string
	if n := l.status.Retry.Attempt; n > 0 {
		text = fmt.Sprintf(", attempt %d", n)
	}
	e := l.history.why
	switch e.Kind {
	case "":
		if l.status.Retry.Attempt > 1 && l.status.LastError != "" {
			text += ": " + l.status.LastError
		}
		return text
	case session.KindSessionSilent:
		return text + ": no answer to a pull"
	case session.KindDisconnected:
		return text + ": the connection is down"
	case session.KindStreamMissing:
		text += ": the stream is missing"
	case session.KindPermissionDenied:
		text += ": permission denied"
	case session.KindConsumerLimit:
		text += ": no room for a consumer"
	default:
		if e.Cause != "" {
			text += ": " + string(e.Cause)
		}
	}
	for _, more := range []string{errorText(e.Err), e.Text} {
		if more != "" {
			return text + ": " + more
		}
	}
	return text
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// oneLine makes sure that no text of a server forges a line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
