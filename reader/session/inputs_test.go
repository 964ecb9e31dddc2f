package session

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"
)

// commands are the inputs a transcript may give. Numbers that name an inbox are
// attempts; times are offsets from the story's beginning.
var commands = map[string]func(*story, *args){
	"config": (*story).config,
	"open":   (*story).openQuietly,
	"start":  func(s *story, _ *args) { s.m.Start(s.now) },
	"answer": (*story).answer,
	"sent": func(s *story, a *args) {
		if id := RequestID(a.wordNumber(1)); !s.m.Sent(s.now, id) {
			s.printf("request %d is not wanted any more", id)
		}
	},
	"shared":       func(s *story, a *args) { s.m.Shared(s.now, RequestID(a.wordNumber(1))) },
	"slots":        func(s *story, a *args) { s.slow = a.word(1) == "none" },
	"msg":          (*story).message,
	"msgs":         (*story).messages,
	"status":       (*story).statusInput,
	"wait":         (*story).wait,
	"idle":         (*story).idle,
	"took":         (*story).took,
	"acked":        (*story).acked,
	"mayack":       (*story).mayAck,
	"disconnected": func(s *story, _ *args) { s.m.Disconnected(s.now); s.inboxesLost() },
	"reconnected":  func(s *story, _ *args) { s.m.Reconnected(s.now) },
	"closed":       func(s *story, a *args) { s.m.ConnectionClosed(s.now, errors.New(a.word(1))) },
	"forced":       func(s *story, a *args) { s.m.Forced(s.now, a.word(1)) },
	"pong":         func(s *story, a *args) { s.m.Pong(s.now, s.now-a.duration("age", 0)) },
	"denied":       func(s *story, a *args) { s.m.Denied(s.now, a.word(1), "permissions violation for "+a.word(1)) },
	"replace":      func(s *story, a *args) { s.m.Replace(s.now, a.wordNumber(1)) },
	"unwish":       func(s *story, a *args) { s.m.Unwish(s.now, a.wordNumber(1)) },
	"drained":      func(s *story, a *args) { s.m.Drained(s.now, a.wordNumber(1)) },
	"timeout":      func(s *story, _ *args) { s.m.OpenTimedOut(s.now, errors.New("context deadline exceeded")) },
	"drain":        func(s *story, _ *args) { s.m.Drain(s.now) },
	"close":        func(s *story, a *args) { s.m.Close(s.now, s.now+a.duration("within", 2*time.Second)) },
	"view":         (*story).view,
	"remark":       func(*story, *args) {},
}

var (
	starts = map[string]StartKind{}
	errs   = map[string]OnError{"wait": OnErrorWait, "raise": OnErrorRaise, "finish": OnErrorFinish}
	misses = map[string]OnMissed{"replay": OnMissedReplay, "skip": OnMissedSkip}
	resets = map[string]OnReset{"restart": OnResetRestart, "follow-new": OnResetFollowNew, "fail": OnResetFail}
)

func init() {
	for k, name := range startNames {
		starts[name] = k
	}
}

// choose looks a word up and fails on one that is not there.
func choose[T any](a *args, key, otherwise string, from map[string]T) T {
	a.t.Helper()
	word := a.text(key, otherwise)
	v, ok := from[word]
	if !ok {
		a.fail("unknown %s %q", key, word)
	}
	return v
}

// config makes a machine with the reader's defaults and what the line changes.
func (s *story) config(a *args) {
	*s = *newStory(s.t)
	s.m = New(s.configOf(a))
}

func (s *story) configOf(a *args) Config {
	jitter := a.fraction("rand", 0.5)
	c := Config{
		Stream: a.text("stream", "ORDERS"), Durable: a.text("durable", ""), Name: a.text("name", ""),
		Prefix: "r", ID: "id", Inbox: "_INBOX.r", InboxPrefix: "_INBOX", APIPrefix: "$JS.API.",
		Start: choose(a, "start", "all", starts), StartSequence: a.number("seq", 0), StartTime: int64(a.number("time", 0)),
		Created:   int64(a.number("created", 0)),
		StopAtEnd: a.has("stop"), WaitForStream: a.has("wait-for-stream"),
		OnError: choose(a, "on-error", "wait", errs), OnMissed: choose(a, "on-missed", "replay", misses),
		OnReset: choose(a, "on-reset", "restart", resets), StreamGrace: a.duration("grace", 15*time.Second),
		Retry: Policy{
			Initial: a.duration("initial", 200*time.Millisecond), Max: a.duration("max", 2*time.Second), Multiplier: 2, Jitter: 0.2,
			AttemptTimeout: a.duration("attempt-timeout", 2*time.Second), TotalTimeout: a.duration("total-timeout", 0),
			MaxAttempts: int(a.number("max-attempts", 0)),
		},
		MaxMessages: int(a.number("messages", 4096)), MaxBytes: int(a.number("bytes", 8<<20)),
		Expires: a.duration("expires", 30*time.Second), Heartbeat: a.duration("heartbeat", 2*time.Second),
		Inactive: a.duration("inactive", 30*time.Second),
		Rand:     func() float64 { return jitter },
	}
	if f := a.text("filter", ""); f != "" {
		c.Subjects = strings.Split(f, ",")
	}
	if c.Stream == "-" {
		c.Stream = ""
	}
	if seq, at, ok := a.pair("cursor"); ok {
		c.Cursor = Cursor{Sequence: seq, Time: int64(at)}
	}
	return c
}

// openQuietly opens a reader whose opening is not the story: a stream that holds
// last messages, all of which were read up to read (each at time 10 x sequence).
func (s *story) openQuietly(a *args) {
	last, read := a.number("last", 10), a.number("read", a.number("last", 10))
	level := int(a.number("level", 5))
	version, at := a.text("version", ""), int64(a.number("at", 0))
	if s.m == nil {
		a.fail("before config")
	}
	s.mute = true
	private := s.m.cfg.private()
	stream := StreamFacts{Created: 100, First: 1, Last: last, LastTime: int64(last) * 10, Limits: true}
	s.m.Start(s.now)
	s.drain()
	s.give(1, Answer{Stream: &stream})
	s.give(2, Answer{Consumer: &ConsumerFacts{Pending: last, Level: level, Owner: "id", Version: version, At: at, Filters: s.m.cfg.Subjects}})
	if private {
		s.give(3, Answer{Stream: &stream})
	}
	if read > 0 {
		s.runOf(1, 1, read, last)
	} else {
		s.status(1, Status{Token: 1, Code: 100, HasLast: true})
	}
	s.drain()
	s.m.Took(s.now, int(read), int(read)*100)
	s.drain()
	s.tellRun()
	s.mute = false
	if s.m.phase != Reading {
		a.fail("the reader did not open: it is %s", phaseNames[s.m.phase])
	}
	s.printf("reading, cursor %d", s.m.cursor.Sequence)
}

func (s *story) give(id RequestID, ans Answer) {
	delete(s.open, id)
	s.m.Answer(s.now, id, ans)
	s.drain()
}

// answer answers a request: stream, consumer, names, done, error CODE/ERRCODE
// TEXT, noresponders, denied, or silent, which runs the clock to its time-out.
func (s *story) answer(a *args) {
	id := RequestID(a.wordNumber(1))
	e, ok := s.open[id]
	if !ok {
		a.fail("no such request is open")
	}
	var ans Answer
	switch a.word(2) {
	case "stream":
		ans.Stream = streamOf(a)
	case "consumer":
		ans.Consumer = consumerOf(a, e)
		if in := s.newest(); in != nil && e.API == APIConsumerCreate {
			in.seq = ans.Consumer.DeliveredStream
		}
	case "message":
		ans.Message = &MessageFacts{Time: int64(a.number("time", 0))}
	case "names":
		ans.Names = a.plain[3:]
	case "done":
		ans.Done = true
	case "error":
		ans.Err = apiError(a)
	case "noresponders":
		ans.Err = ErrNoResponders
	case "denied":
		s.m.Denied(s.now, e.Subject, "permissions violation for publish to "+e.Subject)
		delete(s.open, id)
		return
	case "silent":
		s.advance(s.m.reqs[id].deadline)
		return
	default:
		a.fail("unknown answer")
	}
	delete(s.open, id)
	s.m.Answer(s.now, id, ans)
}

// message is one message; its time is 10 x its sequence unless said otherwise.
func (s *story) message(a *args) {
	attempt, seq := a.wordNumber(1), a.number("seq", 0)
	cseq := uint64(1)
	if in := s.inboxes[attempt]; in != nil {
		cseq = in.cseq + 1
	}
	s.deliver(attempt, Delivery{Sequence: seq, ConsumerSeq: a.number("cseq", cseq), Time: int64(a.number("time", seq*10)),
		Pending: a.number("pending", 0), Size: int(a.number("size", 100))})
}

// messages is a run of messages, such as `msgs 1 11..20 last=30`.
func (s *story) messages(a *args) {
	l, r, ok := strings.Cut(a.word(2), "..")
	if !ok {
		a.fail("want from..to")
	}
	s.runOf(a.wordNumber(1), a.parse(l), a.parse(r), a.number("last", a.parse(r)))
}

func (s *story) runOf(attempt int, from, to, last uint64) {
	for seq := from; seq <= to; seq++ {
		cseq := uint64(1)
		if in := s.inboxes[attempt]; in != nil {
			cseq = in.cseq + 1
		}
		s.deliver(attempt, Delivery{Sequence: seq, ConsumerSeq: cseq, Time: int64(seq) * 10, Pending: last - seq, Size: 100})
	}
}

// statusInput is a status; without token it names the newest pull of its inbox.
func (s *story) statusInput(a *args) {
	attempt := a.wordNumber(1)
	st := Status{Code: a.wordNumber(2)}
	if len(a.plain) > 3 {
		st.Text = strings.Join(a.plain[3:], " ")
	}
	token := uint64(0)
	if in := s.inboxes[attempt]; in != nil {
		token = in.token
	}
	st.Token = a.number("token", token)
	st.LastConsumer, st.LastStream, st.HasLast = a.pair("last")
	if m, b, ok := a.pair("left"); ok {
		st.PendingMessages, st.PendingBytes, st.HasPending = int(m), int(b), true
	}
	s.status(attempt, st)
}

func (s *story) wait(a *args) { s.advance(s.now + s.span(a, 1)) }

// idle is a healthy server with nothing to deliver, on one inbox.
func (s *story) idle(a *args) { s.serveUntil(a.wordNumber(1), s.now+s.span(a, 2)) }

func (s *story) span(a *args, word int) time.Duration {
	d, err := time.ParseDuration(a.word(word))
	if err != nil {
		a.fail("%v", err)
	}
	return d
}

func (s *story) took(a *args) {
	n := a.wordNumber(1)
	s.m.Took(s.now, n, int(a.number("bytes", uint64(n)*a.number("size", 100))))
}

// acked is a caller's ack of a run of messages, such as `acked 1..10`, whose consumer
// sequences are said to lie behind by some.
func (s *story) acked(a *args) {
	l, r, _ := strings.Cut(a.word(1), "..")
	for seq := a.parse(l); seq <= a.parse(cmp.Or(r, l)); seq++ {
		s.m.Acked(seq, a.number("cseq", seq), int64(a.number("time", seq*10)))
	}
}

// mayAck shows whether the messages of a session can still be acknowledged.
func (s *story) mayAck(a *args) {
	s.printf("messages of session %d can be acknowledged: %t", a.wordNumber(1), s.m.MayAck(a.wordNumber(1)))
}

// inboxesLost forgets the pulls: they ended with the connection.
func (s *story) inboxesLost() {
	for _, in := range s.inboxes {
		in.pulls, in.beats = nil, nil
	}
}

// view shows the figures a story ends with.
func (s *story) view(*args) {
	v := s.m.View(s.now)
	line := fmt.Sprintf("view session=%d cursor=%d pending=%d orphans=%d missed=%d duplicates=%d gaps=%d pulls=%d",
		v.Number, v.Cursor.Sequence, v.Pending, v.Orphans, v.Figures.Missed, v.Figures.Duplicates, v.Figures.Gaps, v.Figures.Pulls)
	for _, api := range []API{APIStreamNames, APIStreamInfo, APIConsumerCreate, APIConsumerUpdate, APIConsumerInfo, APIConsumerDelete, APIConsumerReset, APIMessageGet} {
		if n := v.Figures.API[api]; n > 0 {
			line += fmt.Sprintf(" %s=%d", api, n)
		}
	}
	for word, on := range map[string]bool{"paused": v.Paused} {
		if on {
			line += " " + word
		}
	}
	if v.WaitingAck {
		line += " waiting_acks"
	}
	if v.Full {
		line += " buffer_full"
	}
	s.printf("%s", line)
}
