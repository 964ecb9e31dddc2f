package proxy

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	firstBuffer = 8 << 10
	fullBuffer  = 64 << 10 // a buffer that reads keep filling grows up to here
)

// flow carries one direction of a connection. One goroutine owns it: that alone reads src and writes
// dst, so a frame that is put in goes between frames and bytes never overtake each other. Others reach
// it by poke only.
//
// buf[run:r] is decided to be passed on and not yet written, buf[r:w] is not yet looked at.
type flow struct {
	c        *conn
	dir      Direction
	src, dst link

	buf        []byte
	run, r, w  int
	dec        decoder
	fr         frame   // the frame in hand
	body       int     // bytes of its body that are still to come
	fate       Fate    // what becomes of them
	holding    *parked // where they go when it is held
	copying    *copied // where they go too when it is to be sent twice
	parked     []*parked
	pending    []injection
	begun      bool // a frame has come
	opaque     bool
	greeted    bool // the next INFO has been sent to the client
	discard    bool // dst takes nothing more; src is read to its end
	last       counter
	afterwards []func() // see after
	tally      tally

	line line

	gated  atomic.Bool // len(gates) > 0
	shaped atomic.Bool // len(shapes) > 0
	bell   chan struct{}

	mu       sync.Mutex
	poked    bool
	ended    bool
	injected []injection
	gates    map[*applied]struct{}
	shapes   map[*applied]shape
	deadline time.Time
}

func newFlow(c *conn, dir Direction, src, dst link) *flow {
	return &flow{
		c: c, dir: dir, src: src, dst: dst, dec: decoder{dir: dir},
		buf: make([]byte, firstBuffer), bell: make(chan struct{}, 1), gates: make(map[*applied]struct{}),
		shapes: make(map[*applied]shape),
	}
}

// poke makes the flow look at what others left for it, also while it waits for bytes.
func (f *flow) poke() {
	f.mu.Lock()
	if !f.ended {
		f.poked = true
		f.src.SetReadDeadline(longAgo) //nolint:errcheck // a closed connection wakes the reader as well
	}
	f.mu.Unlock()
	select {
	case f.bell <- struct{}{}:
	default:
	}
}

var longAgo = time.Unix(1, 0)

// run carries bytes until src ends or the connection does.
func (f *flow) carry() {
	for f.attend() {
		n, err := f.src.Read(f.buf[f.w:])
		f.w += n
		if n > 0 {
			full := f.w == len(f.buf)
			f.collect()
			f.consume()
			f.compact(full)
		}
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			f.broken(err)
			break
		}
	}
	f.end()
}

// attend does what others asked for and what has become due, and sets until when the next read may wait.
// It returns false when the connection no longer carries this direction.
func (f *flow) attend() bool {
	for {
		f.awaitGate()
		f.mu.Lock()
		poked := f.poked
		f.poked = false
		f.mu.Unlock()
		f.collect()

		switch f.c.state() {
		case cut, closed:
			return false
		case halfOpened:
			if f.dir == Up {
				return false
			}
			f.discard = true
		case open:
		}
		f.release(time.Now)
		f.inject()
		f.arrive()
		due := f.due()

		f.mu.Lock()
		again := f.poked
		if !again && (poked || !due.Equal(f.deadline)) {
			f.deadline = due
			f.src.SetReadDeadline(due) //nolint:errcheck // the read tells
		}
		f.mu.Unlock()
		if !again {
			return true
		}
	}
}

// awaitGate waits while a black hole is over this direction.
func (f *flow) awaitGate() {
	for f.gated.Load() && f.c.state() == open {
		<-f.bell
	}
}

// gate closes this direction for a fault, or opens it again; a fault that is over closes nothing.
func (f *flow) gate(a *applied, shut bool) {
	f.mu.Lock()
	if shut && !a.over.Load() {
		f.gates[a] = struct{}{}
	} else {
		delete(f.gates, a)
	}
	f.gated.Store(len(f.gates) > 0)
	f.mu.Unlock()
	f.poke()
}

// consume looks at all whole heads in the buffer and writes what is to be passed on.
func (f *flow) consume() {
	f.look()
	f.tally.settle(&f.c.p.meters[f.dir])
	f.flush()
}

// look goes on until the rest of the buffer is no whole head.
func (f *flow) look() {
	for f.r < f.w {
		if f.opaque {
			f.c.p.meters[f.dir].opaque.Add(uint64(f.w - f.r))
			f.r = f.w
			return
		}
		if f.body > 0 {
			f.takeBody()
			continue
		}
		if len(f.pending)+len(f.parked) > 0 {
			f.flush()
			f.release(time.Now)
			f.inject()
		}
		err := f.dec.scan(f.buf[f.r:f.w], &f.fr)
		if err != nil && !f.begun && f.dir == Up {
			err = foreign(f.buf[f.r:f.w], err)
		}
		switch {
		case errors.Is(err, errMore):
			return
		case errors.Is(err, errWebSocket):
			f.refuseForeign(err)
		case err != nil:
			f.turnOpaque(err)
		default:
			f.begun = true
			f.takeHead()
		}
	}
}

// takeHead decides on the frame in hand and puts its head where it belongs.
func (f *flow) takeHead() {
	replacement := f.rewritten(&f.fr)
	f.fate = f.decide(&f.fr)
	head := f.buf[f.r : f.r+f.fr.head]
	f.body = f.fr.body
	switch f.fate {
	case Passed:
		if f.copying != nil {
			f.keep(head)
		}
		known := f.greeted && f.fr.verb == INFO
		if replacement == nil && !known {
			f.r += f.fr.head
			return
		}
		f.flush()
		if !known {
			f.write(replacement)
		}
		f.greeted = f.greeted && !known
	case Held:
		f.flush()
		f.holding.data = append(f.holding.data, head...)
	default:
		f.flush()
	}
	f.r += f.fr.head
	f.run = f.r
}

// takeBody moves on over the part of the body that is in the buffer.
func (f *flow) takeBody() {
	part := f.buf[f.r:min(f.w, f.r+f.body)]
	if !closes(part, f.body) {
		f.turnOpaque(errUnclosed)
		return
	}
	f.body -= len(part)
	f.r += len(part)
	if f.fate == Passed {
		if f.copying != nil {
			f.keep(part)
		}
		return
	}
	f.run = f.r
	if f.fate == Held {
		f.holding.data = append(f.holding.data, part...)
		f.holding.missing = f.body
	}
}

// flush writes what is decided to be passed on.
func (f *flow) flush() {
	if f.run < f.r {
		f.write(f.buf[f.run:f.r])
	}
	f.run = f.r
}

// write sends bytes to dst, or drops them where dst takes nothing more. The peer's end shows in its own
// direction, so an error here only means that the rest of src is of no use.
func (f *flow) write(b []byte) (written bool) {
	f.awaitGate()
	if f.discard || f.c.state() != open {
		return false
	}
	if f.shaped.Load() || len(f.line.chunks) > 0 {
		f.travel(b)
		return !f.discard
	}
	return f.send(b)
}

// send writes bytes to dst itself.
func (f *flow) send(b []byte) (sent bool) {
	f.awaitGate()
	if f.discard || f.c.state() != open {
		return false
	}
	if _, err := f.dst.Write(b); err != nil {
		f.discard = true
		if f.dir == Up {
			f.c.unheard()
		}
	}
	return !f.discard
}

// compact moves what is left to the front and sizes the buffer for the next read: larger when a head
// does not fit or when reads keep filling it, small again after an outsized line.
func (f *flow) compact(full bool) {
	left := f.w - f.r
	size := len(f.buf)
	switch {
	case left*2 > size:
		size = left * 4
	case full && size < fullBuffer:
		size *= 2
	case size > fullBuffer && left < firstBuffer:
		size = fullBuffer
	}
	buf := f.buf
	if size != len(buf) {
		buf = make([]byte, size)
	}
	copy(buf, f.buf[f.r:f.w])
	f.buf, f.run, f.r, f.w = buf, 0, 0, left
}
