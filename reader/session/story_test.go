package session

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// story plays one transcript: it gives the machine its inputs, plays the driver
// where the driver has no choice (a request leaves at once), and writes down what
// the machine does.
type story struct {
	t   *testing.T
	m   *Machine
	now time.Duration
	out strings.Builder

	phase Phase
	slow  bool // requests wait for a slot: `sent` lets them go
	mute  bool // opening the reader is not what the story is about

	open    map[RequestID]Effect
	inboxes map[int]*inbox
	run     verdicts
}

// inbox is what the server side of an inbox needs to answer like a server.
type inbox struct {
	pulls []openPull // with the time of the next heartbeat in sent
	beats []time.Duration
	token uint64
	cseq  uint64
	seq   uint64
}

// newest is the inbox that was subscribed last.
func (s *story) newest() *inbox {
	last := 0
	for attempt := range s.inboxes {
		last = max(last, attempt)
	}
	return s.inboxes[last]
}

// verdicts merges a run of messages with one fate into one line.
type verdicts struct {
	at       time.Duration
	attempt  int
	verdict  Verdict
	from, to uint64
	on       bool
}

var phaseNames = map[Phase]string{
	Opening: "opening", Reading: "reading", Silent: "silent", Replacing: "replacing", Ending: "ending", Done: "done",
}

var verdictNames = map[Verdict]string{Drop: "drop", Accept: "accept", Hold: "hold"}

func newStory(t *testing.T) *story {
	return &story{t: t, open: map[RequestID]Effect{}, inboxes: map[int]*inbox{}}
}

func (s *story) printf(format string, v ...any) {
	if s.mute {
		return
	}
	fmt.Fprintf(&s.out, "%s ", clock(s.now))
	fmt.Fprintf(&s.out, format, v...)
	s.out.WriteByte('\n')
}

func clock(d time.Duration) string { return fmt.Sprintf("%.3fs", d.Seconds()) }

// play runs the inputs of a block and gives its effects.
func (s *story) play(b block) string {
	s.out.Reset()
	for _, line := range b.lines {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		a := parseArgs(s.t, line)
		do, ok := commands[a.word(0)]
		if !ok {
			a.fail("unknown input")
		}
		if s.m == nil && a.word(0) != "config" && a.word(0) != "open" {
			a.fail("before config")
		}
		if !strings.HasPrefix(a.word(0), "msg") {
			s.tellRun()
		}
		do(s, a)
		a.done()
		s.drain()
	}
	s.tellRun()
	return s.out.String()
}

// drain performs the effects and says what they are.
func (s *story) drain() {
	if s.m == nil {
		return
	}
	for {
		effects := append([]Effect(nil), s.m.Effects()...)
		if len(effects) == 0 {
			break
		}
		s.tellRun()
		for _, e := range effects {
			s.perform(e)
		}
	}
	if s.m.phase != s.phase {
		s.tellRun()
		s.phase = s.m.phase
		s.printf("phase %s", phaseNames[s.phase])
	}
	for _, check := range []func() error{s.m.check, s.m.checkBounds} {
		if err := check(); err != nil {
			s.t.Fatalf("at %s: %v", clock(s.now), err)
		}
	}
}

func (s *story) perform(e Effect) {
	if line := effectLine(e); line != "" {
		s.printf("%s", line)
	}
	switch e.Do {
	case DoSubscribe:
		s.inboxes[e.Attempt] = &inbox{}
	case DoUnsubscribe:
		delete(s.inboxes, e.Attempt)
	case DoDrain:
		if in := s.inboxes[e.Attempt]; in != nil {
			in.pulls, in.beats = nil, nil
		}
	case DoPull:
		if in := s.inboxes[e.Attempt]; in != nil {
			in.pulls = append(in.pulls, openPull{Pull: e.Pull, sent: s.now})
			in.beats = append(in.beats, s.now+e.Pull.Heartbeat)
			in.token = e.Pull.Token
		}
	case DoRequest:
		s.open[e.Request] = e
		if !s.slow {
			s.m.Sent(s.now, e.Request)
		}
	case DoCancel:
		delete(s.open, e.Request)
	}
}

// advance runs the clock up to a time, with a Tick whenever the machine asks.
func (s *story) advance(until time.Duration) {
	for idle := 0; ; {
		at, ok := s.m.Wake()
		if !ok || at > until {
			break
		}
		if at > s.now {
			s.now, idle = at, 0
		}
		if idle++; idle > 20 {
			s.t.Fatalf("at %s: the machine wants to be woken at once, for ever (%s)", clock(s.now), clock(at))
		}
		s.m.Tick(s.now)
		s.drain()
	}
	s.now = max(s.now, until)
}

// deliver gives the machine one message.
func (s *story) deliver(attempt int, d Delivery) {
	in := s.inboxes[attempt]
	if in != nil {
		in.seq = d.Sequence
		in.cseq = d.ConsumerSeq
		in.serve()
	}
	v := s.m.Deliver(s.now, attempt, d)
	if s.run.on && (s.run.attempt != attempt || s.run.verdict != v || s.run.to+1 != d.Sequence || s.run.at != s.now) {
		s.tellRun()
	}
	if !s.run.on {
		s.run = verdicts{on: true, attempt: attempt, verdict: v, from: d.Sequence, at: s.now}
	}
	s.run.to = d.Sequence
	s.drain()
}

// serve takes one message off the oldest pull.
func (in *inbox) serve() {
	if len(in.pulls) == 0 {
		return
	}
	if in.pulls[0].Batch--; in.pulls[0].Batch == 0 {
		in.pulls, in.beats = in.pulls[1:], in.beats[1:]
	}
}

func (s *story) tellRun() {
	r := s.run
	if !r.on {
		return
	}
	s.run.on = false
	span := fmt.Sprint(r.from)
	if r.to > r.from {
		span += fmt.Sprintf("..%d", r.to)
	}
	s.printf("%s %s on %d", verdictNames[r.verdict], span, r.attempt)
}

// status gives the machine a status, and ends the pull that it names.
func (s *story) status(attempt int, st Status) {
	in := s.inboxes[attempt]
	if in != nil && st.Code != 100 {
		in.end(st.Token)
	}
	s.m.Status(s.now, attempt, st)
}

func (in *inbox) end(token uint64) {
	for i, q := range in.pulls {
		if q.Token == token {
			in.pulls = append(in.pulls[:i], in.pulls[i+1:]...)
			in.beats = append(in.beats[:i], in.beats[i+1:]...)
			return
		}
	}
}

// serveUntil is a healthy server with nothing to deliver on one inbox: heartbeats
// and, at a pull's end, 408.
func (s *story) serveUntil(attempt int, until time.Duration) {
	for {
		in, at, which := s.inboxes[attempt], until+1, -1
		if in != nil {
			for i, q := range in.pulls {
				if t := min(in.beats[i], q.sent+q.Expires); t < at {
					at, which = t, i
				}
			}
		}
		if at > until {
			s.advance(until)
			return
		}
		s.advance(at)
		if s.inboxes[attempt] != in || which >= len(in.pulls) {
			continue
		}
		q := in.pulls[which]
		if at >= q.sent+q.Expires {
			s.status(attempt, Status{Token: q.Token, Code: 408, Text: "Request Timeout",
				PendingMessages: q.Batch, PendingBytes: q.MaxBytes, HasPending: true})
		} else {
			in.beats[which] += q.Heartbeat
			s.status(attempt, Status{Token: q.Token, Code: 100, Text: "Idle Heartbeat",
				LastConsumer: in.cseq, LastStream: in.seq, HasLast: true})
		}
		s.drain()
	}
}
