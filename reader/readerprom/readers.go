package readerprom

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/an-open-reader/nats-reader/reader"
)

// ErrName says that a name is none, or that an open reader has it.
var ErrName = errors.New("bad name of a reader")

// entry is one reader by its name.
type entry struct {
	name     string
	observed bool // its events come here
	story    story

	mu     sync.Mutex
	stream string // as configured; "": not known before it is open
	source Source // nil: not open yet
}

func byName(a, b *entry) int { return strings.Compare(a.name, b.name) }

// Observe makes room for a reader that is about to be opened under a name, and gives its
// configuration with an Observer that follows it; that of cfg is called as before. Until
// Add the reader counts as opening: when Open fails, call Remove, or Observe again for the
// next try. The error says that an open reader has that name.
func (c *Collector) Observe(name string, cfg reader.Config) (reader.Config, error) {
	e := &entry{name: name, stream: cfg.Stream, observed: true}
	if err := c.put(e); err != nil {
		return cfg, err
	}
	next := cfg.Observer
	cfg.Observer = func(ev reader.Event) {
		e.story.follows(ev)
		if next != nil {
			next(ev)
		}
	}
	return cfg, nil
}

// Add shows an open reader under a name: the one that Observe made room for, or else
// without a history of its deafness. A reader of that name that is closed gives way, and
// its counters begin anew. The error says that an open reader has that name.
func (c *Collector) Add(name string, s Source) error {
	stream := s.Status().Stream
	c.mu.Lock()
	e := c.readers[name]
	c.mu.Unlock()
	if e != nil && e.adopt(s, stream) {
		return nil
	}
	return c.put(&entry{name: name, stream: stream, source: s})
}

// Remove ends the series of a reader. A reader that is closed on purpose is to be removed: one
// that stays is told as closed, and neither alive nor ready. An unknown name does nothing.
func (c *Collector) Remove(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.readers, name)
}

// put takes a name for an entry, if no open reader has it.
func (c *Collector) put(e *entry) error {
	switch {
	case e.name == "":
		return fmt.Errorf("%w: it is empty", ErrName)
	case !utf8.ValidString(e.name) || !utf8.ValidString(e.stream):
		return fmt.Errorf("%w: %q is no UTF-8", ErrName, e.name)
	}
	c.mu.Lock()
	before := c.readers[e.name]
	c.mu.Unlock()
	if before != nil && before.open() {
		return fmt.Errorf("%w: an open reader is called %s", ErrName, e.name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.readers[e.name] != before {
		return fmt.Errorf("%w: another reader has just been called %s", ErrName, e.name)
	}
	c.readers[e.name] = e
	return nil
}

// adopt gives an entry that waits for its reader to it.
func (e *entry) adopt(s Source, stream string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.source != nil {
		return false
	}
	e.source, e.stream = s, stream
	return true
}

// open says whether there is a reader that is not closed.
func (e *entry) open() bool {
	_, s := e.known()
	return s != nil && s.Status().State != reader.StateClosed
}

func (e *entry) known() (stream string, s Source) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stream, e.source
}

// look is what one scrape sees of a reader.
type look struct {
	name, stream string
	now          time.Time
	opening      bool // it is not open yet: only its state is known
	observed     bool
	status       reader.Status
	position     reader.Position
	err          error
	history      history
}

func (e *entry) look(now time.Time) look {
	stream, s := e.known()
	l := look{name: e.name, stream: stream, now: now, observed: e.observed}
	if s == nil {
		l.opening = true
		l.status = reader.Status{State: reader.StateOpening, Stream: stream}
		l.history = e.story.now()
		return l
	}
	l.status, l.position, l.err = s.Status(), s.Position(), s.Err()
	l.history = e.story.now()
	return l
}

// reads says whether a reader does its work: whatever its caller, its durable or an operator
// holds up is not its own failure.
func (l look) reads() bool {
	switch l.status.State {
	case reader.StateReading, reader.StateIdle, reader.StatePaused, reader.StateWaitingAcks, reader.StateBufferFull:
		return true
	case reader.StateOpening, reader.StateRecovering, reader.StateDisconnected, reader.StateClosed:
	}
	return false
}

// deafSince is since when a reader is deaf, and zero for one that is not. Without its events
// it is when its present state began, which comes later.
func (l look) deafSince() time.Time {
	switch {
	case l.reads(), l.opening, l.status.State == reader.StateClosed, l.status.State == reader.StateOpening:
		return time.Time{}
	case l.history.since.IsZero():
		return l.status.Since
	}
	return l.history.since
}

// deaf is how long a reader has been deaf by now.
func (l look) deaf() time.Duration {
	if since := l.deafSince(); !since.IsZero() {
		return max(l.now.Sub(since), 0)
	}
	return 0
}

// lag is how far the caller is behind the stream at most: the age of what was handed out last,
// where more is known to wait, and else as long as the reader has not heard of more.
func (l look) lag() (lag time.Duration, known bool) {
	switch waits := l.status.Pending > 0 || l.status.Buffered > 0; {
	case !waits:
		return l.deaf(), true
	case l.position.Time.IsZero():
		return 0, false
	}
	return max(l.now.Sub(l.position.Time), 0), true
}
