package session

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// Status is what the server sent to a session's inbox instead of a message. It
// arrives on the pull's own token and so names its pull.
type Status struct {
	Token           uint64 // the pull's; 0: not one of ours
	Code            int
	Text            string
	LastConsumer    uint64 // Nats-Last-Consumer of a heartbeat
	LastStream      uint64 // Nats-Last-Stream of a heartbeat
	HasLast         bool
	PendingMessages int // Nats-Pending-Messages: what the pull had left
	PendingBytes    int
	HasPending      bool
}

// reaction is what a status does to the session in use.
type reaction int

const (
	stays   reaction = iota // the pull goes on (100 alone)
	again                   // the pull is over; ask again when there is room
	soon                    // the pull is over; ask again after a short pause
	room                    // the pull is over; a message did not fit into its bytes
	gone                    // the consumer is gone: condemned, ordinary
	asks                    // nobody answers for the consumer: ask once
	limited                 // the pull was beyond a limit; obey and ask again
	refused                 // condemned, a failure
)

// statusRule is one line of the table of statuses.
type statusRule struct {
	code    int
	text    string // prefix of the description; "" matches any
	inUse   reaction
	proves  bool // on a session that is not proven yet; else the attempt fails
	meaning string
}

// statusTable is rule 4: every status the server sends to a pull (SERVER-ANSWERS
// measured on 2.10.7 to 2.15.3; the texts are the server's). The first line that
// matches counts; what no line matches is refused.
var statusTable = []statusRule{
	{100, "", stays, true, "idle heartbeat: the pull waits"},
	{404, "", again, true, "nothing to send to a pull that does not wait"},
	{408, "Interest Expired", soon, true, "the server saw nobody behind the pull"},
	{408, "", again, true, "the pull's time is over"},
	{409, "Batch Completed", again, true, "the pull was served"},
	{409, "Message Size Exceeds MaxBytes", room, true, "the next message does not fit into the pull's bytes"},
	{409, "Consumer Deleted", gone, false, "the consumer, or its stream, was deleted"},
	{409, "Leadership Change", soon, false, "another node leads the consumer"},
	{409, "Server Shutdown", soon, false, "the consumer's server stops"},
	{409, "Exceeded MaxRequestBatch", limited, false, "the pull asked for more messages than allowed"},
	{409, "Exceeded MaxRequestExpires", limited, false, "the pull would have waited longer than allowed"},
	{409, "Exceeded MaxRequestMaxBytes", limited, false, "the pull asked for more bytes than allowed"},
	{409, "Exceeded MaxWaiting", refused, false, "too many pulls wait on the consumer"},
	{409, "Consumer is push based", refused, false, "the consumer takes no pulls"},
	{400, "", refused, false, "the pull is not understood"},
	{412, "", refused, false, "the server lacks the API level the pull asks for"},
	{423, "", refused, false, "the pull is not of the pinned client"},
	{503, "", asks, false, "nobody answers for the consumer"},
}

// ruleFor gives the line of the table for a status.
func ruleFor(code int, text string) statusRule {
	for _, r := range statusTable {
		if r.code == code && strings.HasPrefix(strings.ToLower(text), strings.ToLower(r.text)) {
			return r
		}
	}
	return statusRule{code: code, text: text, inUse: refused, meaning: "a status this reader does not know"}
}

// Limits are what a server allows a pull to ask; 0 is no limit.
type Limits struct {
	Batch   int
	Expires time.Duration
	Bytes   int
	Waiting int // pulls at a time
}

// obey takes over the tighter of both limits.
func (l *Limits) obey(o Limits) {
	l.Batch = tighter(l.Batch, o.Batch)
	l.Bytes = tighter(l.Bytes, o.Bytes)
	l.Waiting = tighter(l.Waiting, o.Waiting)
	l.Expires = tighter(l.Expires, o.Expires)
}

func tighter[T int | time.Duration](a, b T) T {
	if a == 0 || (b > 0 && b < a) {
		return b
	}
	return a
}

// obeyThreshold takes over the stream's limit on how long a consumer may idle, which
// the refusal of a create names: the threshold is ours, nobody asked for it to be
// longer than the stream allows.
func (m *Machine) obeyThreshold(err error) bool {
	var e *APIError
	if !errors.As(err, &e) || e.ErrCode != codeInactiveLimit {
		return false
	}
	_, value, _ := strings.Cut(e.Text, " limit of ")
	d, bad := time.ParseDuration(value)
	if bad != nil || d <= 0 || d >= m.cfg.Inactive {
		return false
	}
	m.cfg.Inactive = d
	return true
}

// named reads the limit out of a 409's text, such as "Exceeded MaxRequestBatch of
// 10"; ok is false when it names none.
func named(text string) (l Limits, ok bool) {
	i := strings.LastIndex(text, " of ")
	if i < 0 {
		return l, false
	}
	value := strings.TrimSpace(text[i+len(" of "):])
	switch {
	case strings.HasPrefix(text, "Exceeded MaxRequestBatch"):
		n, err := strconv.Atoi(value)
		l.Batch = n
		return l, err == nil && n > 0
	case strings.HasPrefix(text, "Exceeded MaxRequestMaxBytes"):
		n, err := strconv.Atoi(value)
		l.Bytes = n
		return l, err == nil && n > 0
	case strings.HasPrefix(text, "Exceeded MaxRequestExpires"):
		d, err := time.ParseDuration(value)
		l.Expires = d
		return l, err == nil && d > 0
	}
	return l, false
}
