//go:build long

package reader_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

// witness is one reader under random faults, and all that is known of it.
type witness struct {
	name   string // of the reader; its consumers' names begin with it
	conn   string // the name of its connection
	cfg    reader.Config
	r      *reader.Reader
	oracle *oracle.Oracle
	opened time.Time
	start  uint64 // the first stream sequence that it must read
	ended  chan struct{}

	mu       sync.Mutex
	events   []reader.Event
	read     []handed
	wrong    []breach
	told     []reader.Event // of a durable that was deleted: what it may have missed
	requests []sample
	most     int // consumers at one time
}

// handed is one message as it was handed out.
type handed struct {
	identity
	id string
	at time.Time
}

// breach is one break of the contract, and when; zero: unknown.
type breach struct {
	at   time.Time
	text string
}

// sample is how many requests were sent, and sessions in use, up to a time.
type sample struct {
	at       time.Time
	requests uint64
	sessions int
}

// random are the readers of a run: every one another configuration.
func witnesses() []*witness {
	short := func(c reader.Config) reader.Config {
		c.Pull.Heartbeat = 250 * time.Millisecond
		c.Retry = reader.RetryPolicy{Initial: 50 * time.Millisecond, Max: 500 * time.Millisecond, AttemptTimeout: 500 * time.Millisecond}
		return c
	}
	all := []*witness{
		{name: "whole", conn: "c1"},
		{name: "filtered", conn: "c1", cfg: reader.Config{Subjects: []string{"load.a"}}},
		{name: "new", conn: "c2", cfg: reader.Config{Start: reader.FromNew()}},
		{name: "short", conn: "c2", cfg: short(reader.Config{})},
		{name: "durable", conn: "c3", cfg: short(reader.Config{Durable: "durable"})},
		{name: "named", conn: "c3", cfg: reader.Config{Name: "named"}},
		{name: "small", conn: "c4", cfg: short(reader.Config{Pull: reader.Pull{MaxMessages: 20, MaxBytes: 24 << 10, Expires: 5 * time.Second}})},
		{name: "headers", conn: "c4", cfg: reader.Config{HeadersOnly: true, Memory: true}},
		{name: "memory", conn: "c5", cfg: short(reader.Config{Memory: true, Subjects: []string{"load.b", "load.c"}})},
	}
	for _, w := range all {
		w.cfg.Stream = "LOAD"
		w.cfg.NamePrefix = w.name
		w.cfg.Observer = w.observe
		w.oracle = oracle.New(oracle.Rules{
			Measure: oracle.BySequences, Filtered: len(w.cfg.Subjects) > 0, AtLeastOnce: w.cfg.Durable != "", Deafness: w.patience(),
		})
		w.ended = make(chan struct{})
	}
	return all
}

// settings are the clocks that the reader goes by.
func (w *witness) settings() (heartbeat time.Duration, retry reader.RetryPolicy) {
	heartbeat, retry = w.cfg.Pull.Heartbeat, w.cfg.Retry
	if heartbeat == 0 {
		heartbeat = 2 * time.Second
	}
	if retry.AttemptTimeout == 0 {
		retry = reader.RetryPolicy{Initial: 200 * time.Millisecond, Max: 2 * time.Second, AttemptTimeout: 2 * time.Second}
	}
	return heartbeat, retry
}

// patience is how long it may be deaf beyond the length of the faults.
func (w *witness) patience() time.Duration {
	heartbeat, retry := w.settings()
	limit := oracle.DeafnessLimit(heartbeat, retry.AttemptTimeout, retry.Max)
	if w.cfg.Durable != "" {
		limit += durableAckWait
	}
	return limit
}

// durableAckWait is after how long what a durable has lost on the way comes again.
const durableAckWait = 2 * time.Second

// reads says whether it is to read what has this subject.
func (w *witness) reads(subject string) bool {
	return len(w.cfg.Subjects) == 0 || slices.Contains(w.cfg.Subjects, subject)
}

// owns says whether a consumer is one of its.
func (w *witness) owns(consumer string) bool {
	return consumer == w.name || strings.HasPrefix(consumer, w.name+"-")
}

func (w *witness) observe(e reader.Event) {
	w.oracle.Event(e)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
	switch {
	case e.Kind == session.KindMissed && w.cfg.Durable != "":
		// Deleted with its place: what is below the new one's start, and was not read, is told.
		w.told = append(w.told, e)
	case e.Kind == session.KindMissed || e.Kind == session.KindSkipped:
		w.wrong = append(w.wrong, breach{e.Time, fmt.Sprintf("%s %d to %d, and the server holds all", e.Kind, e.From, e.To)})
	}
}

func (w *witness) consume(ctx context.Context) {
	defer close(w.ended)
	buffer := make([]reader.Message, 100)
	for {
		n, err := w.r.NextBatch(ctx, buffer)
		for _, m := range buffer[:n] {
			w.take(m)
		}
		if err != nil {
			if ctx.Err() == nil && !errors.Is(err, reader.ErrClosed) {
				w.broken(time.Now(), "the reader ended: %v", err)
			}
			return
		}
	}
}

func (w *witness) broken(at time.Time, format string, a ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong = append(w.wrong, breach{at, fmt.Sprintf(format, a...)})
}

func (w *witness) take(m reader.Message) {
	now := time.Now()
	id := m.Header.Get(nats.MsgIdHdr)
	w.oracle.Read(oracle.Delivery{Sequence: m.Sequence, ConsumerSequence: m.ConsumerSequence, Session: m.Session, Time: now})
	whole := len(m.Data) == 0
	if !w.cfg.HeadersOnly {
		size, _ := strconv.Atoi(m.Header.Get(sizeHeader)) // one that is none is no size
		whole = len(m.Data) == size && strings.HasPrefix(string(m.Data), id+".")
	}
	if id == "" || !whole || !w.reads(m.Subject) {
		w.broken(now, "sequence %d is not what was published: %s on %s, %d bytes", m.Sequence, id, m.Subject, len(m.Data))
	}
	if w.cfg.Durable != "" {
		_ = m.Ack() // one that is lost is delivered again
	}
	w.mu.Lock()
	w.read = append(w.read, handed{identity{m.Sequence, m.Timestamp.UnixNano()}, id, now})
	w.mu.Unlock()
}

// missing lists what the stream holds and it has not read: by the publisher's ids, as
// the replicas of a cluster that was killed may disagree on sequences and times.
// moved counts what it has read under another sequence or time than the stream has now.
func (w *witness) missing(held []stocked) (lost []stocked, moved int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	read := make(map[identity]bool, len(w.read))
	ids := make(map[string]bool, len(w.read))
	for _, m := range w.read {
		read[m.identity], ids[m.id] = true, true
	}
	for _, m := range held {
		told := slices.ContainsFunc(w.told, func(e reader.Event) bool { return e.From <= m.sequence && m.sequence <= e.To })
		switch {
		case m.sequence < w.start || !w.reads(m.subject) || read[m.identity]:
		case ids[m.id]:
			moved++
		case !told:
			lost = append(lost, m)
		}
	}
	return lost, moved
}

// order finds what was read twice or behind a later one. After the reader has told
// that the stream was set back it may go back once.
func (w *witness) order() (twice, disordered []breach) {
	w.mu.Lock()
	defer w.mu.Unlock()
	resets := 0
	for _, e := range w.events {
		if e.Kind == session.KindStreamReset {
			resets++
		}
	}
	seen := make(map[identity]bool, len(w.read))
	var last uint64
	for _, m := range w.read {
		switch {
		case seen[m.identity]:
			twice = append(twice, breach{m.at, fmt.Sprintf("sequence %d twice", m.sequence)})
		case m.sequence <= last && resets > 0:
			resets--
		case m.sequence <= last:
			disordered = append(disordered, breach{m.at, fmt.Sprintf("sequence %d behind %d", m.sequence, last)})
		}
		seen[m.identity] = true
		last = m.sequence
	}
	return twice, disordered
}

// silences finds the longest time in which it handed out nothing while a message waited
// in the stream, beyond the length of the faults that acted meanwhile.
func (w *witness) silences(periods []chaos.Period) (worst time.Duration, when breach) {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := w.opened
	for _, m := range w.read {
		from := latest(last, time.Unix(0, m.stored))
		last = m.at
		silent := m.at.Sub(from)
		if silent <= w.patience()/4 {
			continue
		}
		beyond := silent - acting(periods, from, m.at)
		if beyond > worst {
			worst = beyond
			when = breach{m.at, fmt.Sprintf("silent for %s beyond the faults (%s in all) until sequence %d, allowed %s", beyond.Round(time.Millisecond), silent.Round(time.Millisecond), m.sequence, w.patience())}
		}
	}
	return worst, when
}

// acting is how long faults acted that touch a time.
func acting(periods []chaos.Period, from, to time.Time) (total time.Duration) {
	slices.SortFunc(periods, func(a, b chaos.Period) int { return a.From.Compare(b.From) })
	var until time.Time
	for _, p := range periods {
		if p.To.Before(from) || p.From.After(to) {
			continue
		}
		begin := latest(p.From, until)
		if p.To.After(begin) {
			total += p.To.Sub(begin)
			until = p.To
		}
	}
	return total
}

// rateWindow is the time in which requests are counted.
const rateWindow = 10 * time.Second

// attempts is how many the policy allows within the window when every one fails at
// once and jitter is at its least.
func (w *witness) attempts() (n int) {
	_, retry := w.settings()
	pause := retry.Initial
	for at := time.Duration(0); at <= rateWindow; n++ {
		at += pause * 8 / 10
		pause = min(2*pause, retry.Max)
	}
	return n
}

// rate finds the window with most requests to the API beside what the policy allows:
// six an attempt, of which each session that was proven permits one more at once, and
// with each pause one more request for each of two leftovers.
func (w *witness) rate() (most uint64, over []breach) {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := 0
	for _, now := range w.requests {
		for now.at.Sub(w.requests[first].at) > rateWindow {
			first++
		}
		then := w.requests[first]
		sent := now.requests - then.requests
		most = max(most, sent)
		proven := now.sessions - then.sessions
		for _, e := range w.events {
			if e.Kind == session.KindSessionHealed && e.Time.After(then.at) && e.Time.Before(now.at) {
				proven++
			}
		}
		if limit := uint64(6*(w.attempts()+proven) + 2*w.attempts()); sent > limit {
			over = append(over, breach{now.at, fmt.Sprintf("%d requests within %s, allowed %d", sent, rateWindow, limit)})
		}
	}
	return most, over
}

// story prints its events within a time of a moment; all of them around no moment.
func (w *witness) story(around time.Time, within time.Duration) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := bed{}
	for _, e := range w.events {
		if around.IsZero() && e.Kind != session.KindAPIRequest || e.Time.Sub(around).Abs() <= within {
			b.events = append(b.events, e)
		}
	}
	return b.story()
}
