package proxy

import (
	"math/rand/v2"
	"sync"
	"time"
)

// shape says how a direction of a connection is slowed down. Several add up.
type shape struct {
	delay, jitter time.Duration
	rate          float64 // bytes a second; 0: no bound
}

// The bytes that may be on their way: with a rate they wait with the sender rather than here.
const (
	maxOnTheWay     = 8 << 20
	maxOnTheWayRate = 32 << 10
)

// line holds the bytes of one direction that are on their way. The flow's own goroutine alone uses it.
type line struct {
	chunks []chunk
	size   int
	free   time.Time // when the last byte will have been sent at the rate
	draw   *rand.Rand
}

type chunk struct {
	data []byte
	due  time.Time
	then func() // called once it has arrived; may be nil
}

// shaping is the sum of the shapes of a flow; on is false without any.
func (f *flow) shaping() (sum shape, on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.shapes {
		sum.delay += s.delay
		sum.jitter += s.jitter
		if s.rate > 0 && (sum.rate == 0 || s.rate < sum.rate) {
			sum.rate = s.rate
		}
	}
	return sum, len(f.shapes) > 0
}

// setShape slows the direction down for a fault, or, with nil, no longer; a fault that is over slows nothing.
func (f *flow) setShape(a *applied, s *shape) {
	f.mu.Lock()
	if s != nil && !a.over.Load() {
		f.shapes[a] = *s
	} else {
		delete(f.shapes, a)
	}
	f.shaped.Store(len(f.shapes) > 0)
	f.mu.Unlock()
	f.poke()
}

// travel puts bytes on their way, and waits while too many are.
func (f *flow) travel(b []byte) {
	for len(b) > 0 {
		s, on := f.shaping()
		if !on && len(f.line.chunks) == 0 {
			f.send(b)
			return
		}
		bound, part := maxOnTheWay, len(b)
		if s.rate > 0 {
			bound = maxOnTheWayRate
			part = min(part, max(1, min(bound/4, int(s.rate/20)))) // a twentieth of a second at most
		}
		if !f.awaitRoom(bound) {
			return
		}
		now := time.Now()
		due := now
		if s.rate > 0 {
			if f.line.free.Before(now) {
				f.line.free = now
			}
			f.line.free = f.line.free.Add(time.Duration(float64(part) / s.rate * float64(time.Second)))
			due = f.line.free
		}
		due = due.Add(s.delay + f.drawn(s.jitter))
		if n := len(f.line.chunks); n > 0 && due.Before(f.line.chunks[n-1].due) {
			due = f.line.chunks[n-1].due // bytes never overtake
		}
		f.line.chunks = append(f.line.chunks, chunk{data: append([]byte(nil), b[:part]...), due: due})
		f.line.size += part
		b = b[part:]
	}
}

// arrived has something done once all that was written so far has arrived.
func (f *flow) arrived(then func()) {
	if n := len(f.line.chunks); n > 0 {
		f.line.chunks[n-1].then = then
		return
	}
	then()
}

// drawn returns a time between -jitter and jitter. The draws of a connection depend on nothing but
// Options.RandSeed, its number and the direction.
func (f *flow) drawn(jitter time.Duration) time.Duration {
	if jitter == 0 {
		return 0
	}
	if f.line.draw == nil {
		f.line.draw = rand.New(rand.NewPCG(f.c.p.options.RandSeed, f.c.id<<1|uint64(f.dir)))
	}
	return time.Duration(f.line.draw.Int64N(2*int64(jitter)+1)) - jitter
}

// arrive writes what has been on its way for long enough, or all when nothing slows the direction down.
func (f *flow) arrive() {
	if len(f.line.chunks) == 0 {
		return
	}
	_, on := f.shaping()
	now := time.Now()
	n := 0
	for n < len(f.line.chunks) && (!on || !now.Before(f.line.chunks[n].due)) {
		c := f.line.chunks[n]
		n++
		f.line.size -= len(c.data)
		f.send(c.data)
		if c.then != nil {
			c.then()
		}
	}
	clear(f.line.chunks[:n])
	f.line.chunks = f.line.chunks[n:]
	if len(f.line.chunks) == 0 {
		f.line.chunks = nil
	}
}

// awaitRoom waits until fewer bytes than bound are on their way. It returns false when the connection ends.
func (f *flow) awaitRoom(bound int) bool {
	for f.arrive(); f.line.size >= bound; f.arrive() {
		if !f.awaitArrival() {
			return false
		}
	}
	return f.c.state() == open
}

// awaitArrival waits until the next bytes are due or something changes.
func (f *flow) awaitArrival() bool {
	if f.c.state() != open || f.discard {
		f.line.chunks, f.line.size = nil, 0
		return false
	}
	timer := time.NewTimer(time.Until(f.line.chunks[0].due))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-f.bell:
	}
	return true
}

// settle waits until all that is on its way has arrived.
func (f *flow) settle() {
	for f.arrive(); len(f.line.chunks) > 0; f.arrive() {
		if !f.awaitArrival() {
			return
		}
	}
}

var directionParameter = Parameter{
	Name: "direction", Type: Word, Default: "both", Allowed: []string{"up", "down", "both"},
	Words: "up is what clients send, down what the server sends",
}

// shaper slows connections down.
type shaper struct {
	conn     glob
	up, down bool
	shape    shape
	seen     seenConns
}

func newShaper(a *arguments, s shape) *shaper {
	direction := argument[string](a, "direction")
	return &shaper{
		conn: argument[glob](a, "conn"), up: direction != Down.String(), down: direction != Up.String(), shape: s,
	}
}

func (s *shaper) join(a *applied, c *conn) {
	if a.over.Load() || !c.named(s.conn) {
		return
	}
	if s.up {
		c.up.setShape(a, &s.shape)
	}
	if s.down {
		c.down.setShape(a, &s.shape)
	}
	s.seen.first(a, c)
}

func (s *shaper) leave(a *applied, c *conn) {
	c.up.setShape(a, nil)
	c.down.setShape(a, nil)
}

// seenConns records a firing for each connection that a fault has changed, once.
type seenConns struct {
	mu   sync.Mutex
	seen map[uint64]struct{}
}

func (s *seenConns) first(a *applied, c *conn) {
	s.mu.Lock()
	if s.seen == nil {
		s.seen = make(map[uint64]struct{})
	}
	_, again := s.seen[c.id]
	s.seen[c.id] = struct{}{}
	s.mu.Unlock()
	if !again {
		name, _ := c.know.name()
		c.p.fired(a, Frame{Time: time.Now(), Conn: c.id, Client: name, Fate: Held})
	}
}
