package commands

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/report"
	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

// line is one line of plain output: a sentence, then key=value.
type line struct {
	sentence string
	fields   []string
}

// plainTime is the form of the time in plain lines.
const plainTime = "15:04:05.000"

func (l line) String() string {
	if len(l.fields) == 0 {
		return l.sentence
	}
	return l.sentence + "  " + strings.Join(l.fields, " ")
}

// add appends key=value; an empty value is left out.
func (l *line) add(key, value string) {
	if value == "" {
		return
	}
	if strings.ContainsAny(value, " \t\r\n\"=") {
		value = strconv.Quote(value)
	}
	l.fields = append(l.fields, key+"="+value)
}

func (l *line) number(key string, n uint64) {
	if n > 0 {
		l.add(key, strconv.FormatUint(n, 10))
	}
}

func (l *line) length(key string, d time.Duration) {
	if d != 0 {
		l.add(key, report.Short(d))
	}
}

// plainEvent writes an event as a sentence and its fields, without the time.
func plainEvent(e reader.Event) string {
	l := line{sentence: sentence(e)}
	l.add("cause", string(e.Cause))
	l.add("request", e.Request)
	l.number("attempt", uint64(max(e.Attempt, 0)))
	l.length("took", e.Took)
	l.length("deaf", e.Deaf)
	l.length("wait", e.Wait)
	l.number("count", e.Count)
	switch {
	case e.Kind == session.KindSessionReplaced && e.From == 0:
		l.number("from", e.Sequence)
	default:
		l.number("sequence", e.Sequence)
	}
	l.number("from", e.From)
	l.number("to", e.To)
	if e.Code != 0 {
		l.add("code", strconv.Itoa(e.Code))
	}
	l.add("consumer", e.Consumer)
	if !mayAppear(e) { // then it is the sentence
		l.add("text", redact(e.Text))
	}
	if e.Err != nil {
		l.add("error", redact(e.Err.Error()))
	}
	return l.String()
}

// mayAppear says that an event tells of a consumer whose create was not answered:
// the server does not know it, and may yet make it.
func mayAppear(e reader.Event) bool {
	return e.Kind == session.KindOrphanLeft && e.Code == codeConsumerNotFound
}

// codeConsumerNotFound is the server's err_code for a consumer that is not there.
const codeConsumerNotFound = 10014

// sentence says in words what an event tells.
func sentence(e reader.Event) string {
	switch e.Kind {
	case session.KindOrphanLeft:
		if mayAppear(e) {
			return "a consumer whose create was not answered may still come into being: its delete is asked for again"
		}
		return sentences[e.Kind]
	case session.KindSessionOpened:
		return fmt.Sprintf("session %d open", e.Session)
	case session.KindSessionSilent:
		return fmt.Sprintf("session %d is silent", e.Session)
	case session.KindSessionLost:
		return fmt.Sprintf("session %d lost", e.Session)
	case session.KindSessionReplaced:
		return fmt.Sprintf("session %d replaced session %d", e.Session, e.Session-1)
	case session.KindSessionRetired:
		return fmt.Sprintf("session %d retired", e.Session)
	case session.KindSessionHealed:
		return fmt.Sprintf("session %d healed and stays", e.Session)
	case session.KindReplaceFailed:
		if e.Session == 0 {
			return "an attempt to open failed"
		}
		return fmt.Sprintf("an attempt to replace session %d failed", e.Session)
	default:
		if text, known := sentences[e.Kind]; known {
			return text
		}
		return strings.ReplaceAll(string(e.Kind), "_", " ")
	}
}

// sentences are those that need no number.
var sentences = map[session.Kind]string{
	session.KindRetryWaiting:     "next attempt after a pause",
	session.KindAPIRequest:       "asked the JetStream API",
	session.KindPullRefused:      "the server refused a pull",
	session.KindGap:              "a delivery was lost on the way",
	session.KindDuplicate:        "a message came again and was dropped",
	session.KindMissed:           "messages were gone before their turn",
	session.KindSkipped:          "messages were passed over on purpose",
	session.KindStreamReset:      "the stream is another one",
	session.KindStreamMissing:    "the stream does not exist",
	session.KindCaughtUp:         "nothing waits in the stream",
	session.KindPaused:           "the consumer is paused by an operator",
	session.KindBufferFull:       "the buffer is full: no pull is out",
	session.KindDisconnected:     "disconnected",
	session.KindReconnected:      "reconnected",
	session.KindConnectionForced: "dead link: the connection is made anew",
	session.KindPermissionDenied: "the server denied a subject",
	session.KindMessageTooLarge:  "a message is larger than a pull: it is pulled alone",
	session.KindConsumerLimit:    "no slot for another consumer",
	session.KindOrphanLeft:       "a consumer of ours is left for now",
	session.KindOrphanRemoved:    "a left consumer of ours is gone",
	session.KindClosed:           "reader closed",
	session.KindFailed:           "reader failed",
}
