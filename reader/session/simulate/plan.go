package simulate

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/an-open-reader/nats-reader/reader/session"
	"github.com/an-open-reader/nats-reader/reader/session/simulate/model"
)

// Plan is all that decides a run.
type Plan struct {
	Seed        int64
	Era         model.Era
	Retention   model.Retention
	MaxMessages int // of the stream, 0 no bound
	Stored      int // messages in it before a reader opens
	SubjectsOf  int // subjects that are published to
	Large       int // every so many messages one is large; 0 none
	LargeSize   int
	MaxBatch    int // limits of the server
	MaxExpires  time.Duration
	MaxBytes    int
	MaxInactive time.Duration // of the stream's consumers, 0 no bound
	Readers     []Reader
	Steps       []Step
	Length      time.Duration // of the part with steps
}

// Step is one thing that happens.
type Step struct {
	At     time.Duration
	Do     string
	For    time.Duration // how long it lasts
	N      int           // how much of it, or a draw
	Reader int
}

// String says what the step does.
func (s Step) String() string {
	text := fmt.Sprintf("%s %s", s.At, s.Do)
	if s.Do != publishing {
		text += fmt.Sprintf(" for %s", s.For)
	}
	return fmt.Sprintf("%s n=%d reader=%d", text, s.N, s.Reader)
}

// String is the plan in words, a line for each step.
func (p *Plan) String() string {
	b := strings.Builder{}
	fmt.Fprintf(&b, "seed %d: server %s, %s stream of %d", p.Seed, p.Era.Version, p.Retention, p.Stored)
	if p.MaxMessages > 0 {
		fmt.Fprintf(&b, " at most %d", p.MaxMessages)
	}
	if p.Large > 0 {
		fmt.Fprintf(&b, " every %dth of %d bytes", p.Large, p.LargeSize)
	}
	if p.MaxBatch > 0 || p.MaxExpires > 0 || p.MaxBytes > 0 || p.MaxInactive > 0 {
		fmt.Fprintf(&b, " limits batch=%d expires=%s bytes=%d inactive=%s", p.MaxBatch, p.MaxExpires, p.MaxBytes, p.MaxInactive)
	}
	b.WriteString("\n")
	for i, r := range p.Readers {
		fmt.Fprintf(&b, "reader %d: %+v\n", i, r)
	}
	for _, s := range p.Steps {
		fmt.Fprintf(&b, "%s\n", s)
	}
	return b.String()
}

// Reader is a reader's configuration and its caller's ways.
type Reader struct {
	Start         session.StartKind
	Sequence      uint64 // of Start
	Message       int    // of Start: the n-th message stored is the time, or the position
	Filter        uint64
	StopAtEnd     bool
	Durable       string
	Name          string
	OnError       session.OnError
	OnMissed      session.OnMissed
	OnReset       session.OnReset
	WaitForStream bool
	Grace         time.Duration
	Memory        bool
	MaxMessages   int
	MaxBytes      int
	Expires       time.Duration
	Heartbeat     time.Duration
	Inactive      time.Duration
	AckWait       time.Duration
	MaxAckPending int
	MaxWaiting    int // of a durable, 0 the server's
	Retry         session.Policy
	Rand          float64
	Slow          time.Duration // of the caller, for a message

	slowUntil time.Duration // the way to the client carries slowRate until then
	slowRate  int
}

// stampOf is the time of the n-th message, from 0, of those that are stored before a
// reader opens.
func stampOf(n int) int64 { return epoch + int64(n) }

func (c *Reader) config() session.Config {
	rand := c.Rand
	out := session.Config{
		Stream: streamName, Subjects: subjectsOf(c.Filter), Durable: c.Durable, Name: c.Name, Prefix: "r",
		InboxPrefix: "_INBOX", APIPrefix: "$JS.API.", Start: c.Start, StartSequence: c.Sequence,
		StopAtEnd: c.StopAtEnd, OnError: c.OnError, OnMissed: c.OnMissed, OnReset: c.OnReset, WaitForStream: c.WaitForStream,
		StreamGrace: c.Grace, Retry: c.Retry, MaxMessages: c.MaxMessages, MaxBytes: c.MaxBytes, Expires: c.Expires,
		Heartbeat: c.Heartbeat, Inactive: c.Inactive, Rand: func() float64 { return rand },
	}
	switch c.Start {
	case session.StartTime:
		out.StartTime = stampOf(c.Message)
	case session.StartPosition:
		out.Created = createdAt
		if c.Message >= 0 {
			out.Cursor = session.Cursor{Sequence: uint64(c.Message + 1), Time: stampOf(c.Message)}
		}
	}
	return out
}

// limit is how long after the last fault a reader may be deaf: the silence is
// noticed, and an attempt that is under way fails before the one that does not. A dead
// link is noticed by a PING, too.
func (c *Reader) limit() time.Duration {
	d := 2*c.Heartbeat + 2*(c.Retry.AttemptTimeout+c.Retry.Max) + 3*time.Second
	if c.Durable != "" {
		d += c.AckWait // what was sent to nobody is sent again after that
	}
	return d
}

var (
	defaultRetry = session.Policy{Initial: 200 * time.Millisecond, Max: 2 * time.Second, Multiplier: 2, Jitter: 0.2, AttemptTimeout: 2 * time.Second}
	shortRetry   = session.Policy{Initial: 50 * time.Millisecond, Max: 400 * time.Millisecond, Multiplier: 2, Jitter: 0.2, AttemptTimeout: 500 * time.Millisecond}
)

// NewPlan draws the plan of a seed.
func NewPlan(seed int64) *Plan {
	d := drawer{rand.New(rand.NewPCG(uint64(seed), 0xb1a57))}
	p := &Plan{Seed: seed, Era: model.Eras[d.IntN(len(model.Eras))], SubjectsOf: 1 + d.IntN(3), Stored: d.IntN(20)}
	if d.oneIn(5) {
		p.MaxMessages = 3 + d.IntN(20)
		p.Stored = min(p.Stored, p.MaxMessages)
	}
	if d.oneIn(6) {
		p.Large, p.LargeSize = 2+d.IntN(8), 300+d.IntN(2000)
		if d.oneIn(3) {
			p.LargeSize = 256<<10 + d.IntN(768<<10) // one takes seconds over a slow link
		}
	}
	switch d.IntN(12) {
	case 0:
		p.MaxBatch = 1 + d.IntN(10)
	case 1:
		p.MaxExpires = time.Duration(1+d.IntN(10)) * time.Second
	case 2:
		p.MaxBytes = 150 + d.IntN(2000)
	}
	first := d.reader(p)
	p.Readers = []Reader{first}
	if first.Durable != "" {
		p.Retention = model.Retention(d.IntN(3))
		if d.oneIn(3) {
			p.Readers = append(p.Readers, first)
		}
	}
	p.steps(d)
	if first.Durable != "" && len(p.Readers) == 1 && d.oneIn(3) {
		p.Readers[0].MaxWaiting = 1 + d.IntN(3)
	}
	if d.oneIn(10) {
		p.MaxInactive = time.Duration(4+d.IntN(20)) * time.Second
	}
	return p
}

// disturbed says that something else happens than publishes, purges of subjects and
// what a caller does, or that several read one durable.
func (p *Plan) disturbed() bool {
	for _, s := range p.Steps {
		switch s.Do {
		case publishing, purgeSubject, "stall the caller", "replace":
		default:
			return true
		}
	}
	return len(p.Readers) > 1
}

type drawer struct{ *rand.Rand }

func (d drawer) oneIn(n int) bool { return d.IntN(n) == 0 }

// reader draws a configuration: mostly the defaults with one thing that differs.
func (d drawer) reader(p *Plan) Reader {
	r := Reader{
		MaxMessages: 4096, MaxBytes: 8 << 20, Expires: 30 * time.Second, Heartbeat: 2 * time.Second, Inactive: 30 * time.Second,
		Retry: defaultRetry, Grace: 15 * time.Second, Rand: d.Float64(), WaitForStream: d.oneIn(3), Slow: time.Duration(d.IntN(30)) * time.Millisecond,
	}
	if d.oneIn(2) {
		r.MaxMessages, r.MaxBytes = 1+d.IntN(40), 200+d.IntN(4000)
	}
	if d.oneIn(4) {
		r.Heartbeat, r.Expires, r.Inactive, r.Retry = 250*time.Millisecond, 5*time.Second, 4*time.Second, shortRetry
	}
	if d.oneIn(3) {
		r.Filter = 1 + d.Uint64N(1<<p.SubjectsOf-1)
	}
	r.Memory = d.oneIn(8)
	d.start(p, &r)
	if d.oneIn(6) {
		r.Name = "mine"
	} else if d.oneIn(5) {
		r.Durable, r.AckWait = "shared", []time.Duration{4 * time.Second, 30 * time.Second}[d.IntN(2)]
		r.MaxMessages = min(r.MaxMessages, 100)
		if d.oneIn(3) {
			r.MaxAckPending = 1 + d.IntN(20)
		}
		if r.Start == session.StartPosition {
			r.Start = session.StartAll
		}
	}
	r.StopAtEnd = d.oneIn(8)
	if d.oneIn(6) {
		r.OnError = session.OnError(d.IntN(3))
	}
	if d.oneIn(8) && r.Durable == "" && !r.StopAtEnd {
		r.OnMissed = session.OnMissedSkip
	}
	if d.oneIn(4) {
		r.OnReset = session.OnReset(d.IntN(3))
	}
	if d.oneIn(6) {
		r.Grace = time.Duration(d.IntN(4)) * time.Second
	}
	switch d.IntN(20) {
	case 0:
		r.Retry.MaxAttempts = 1 + d.IntN(6)
	case 1:
		r.Retry.TotalTimeout = time.Duration(3+d.IntN(20)) * time.Second
	}
	return r
}

func (d drawer) start(p *Plan, r *Reader) {
	if d.oneIn(2) {
		return
	}
	switch r.Start = session.StartKind(d.IntN(7)); r.Start {
	case session.StartSequence:
		r.Sequence = 1 + uint64(d.IntN(p.Stored+3))
	case session.StartTime:
		r.Message = d.IntN(p.Stored + 1)
	case session.StartPosition:
		r.Message = d.IntN(p.Stored+1) - 1
	}
}

const publishing = "publish"

// steps draws what happens: publishes all the time, and a few faults.
func (p *Plan) steps(d drawer) {
	p.Length = time.Duration(10+d.IntN(50)) * time.Second
	left := 1 + d.IntN(6)
	for at := 2 * time.Second; at < p.Length; at += time.Duration(d.IntN(5000)) * time.Millisecond {
		s := Step{At: at, N: d.IntN(1 << 20), Reader: d.IntN(len(p.Readers))}
		if left > 0 && d.oneIn(2) {
			left--
			s.Do = faults[d.IntN(drawn)].name
			s.For = time.Duration(1+d.IntN(7000)) * time.Millisecond
		} else {
			s.Do, s.N = publishing, []int{1, 1, 1 + d.IntN(12)}[d.IntN(3)]
		}
		p.Steps = append(p.Steps, s)
		if d.oneIn(4) {
			at = p.Steps[len(p.Steps)-1].At // two things at one instant, or nearly
		}
	}
}
