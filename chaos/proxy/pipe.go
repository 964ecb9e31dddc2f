package proxy

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// pipeBuffer is what one direction of a pipe holds before a writer waits.
const pipeBuffer = 128 << 10

// newPipe returns the two ends of a buffered full-duplex connection in memory, with deadlines and with
// a writing side that can be closed alone.
func newPipe(a, b net.Addr) (*pipeEnd, *pipeEnd) {
	there, back := newStream(), newStream()
	return &pipeEnd{in: back, out: there, local: a, remote: b}, &pipeEnd{in: there, out: back, local: b, remote: a}
}

// pipeEnd is one end of a pipe: a net.Conn.
type pipeEnd struct {
	in, out       *stream
	local, remote net.Addr
}

// pipeAddr is the address of an end of a pipe.
type pipeAddr string

func (pipeAddr) Network() string  { return "memory" }
func (a pipeAddr) String() string { return string(a) }

func (e *pipeEnd) Read(b []byte) (int, error) {
	n, err := e.in.read(b)
	if err != nil && err != io.EOF {
		err = &net.OpError{Op: "read", Net: e.local.Network(), Source: e.local, Addr: e.remote, Err: err}
	}
	return n, err
}

func (e *pipeEnd) Write(b []byte) (int, error) {
	n, err := e.out.write(b)
	if err != nil {
		err = &net.OpError{Op: "write", Net: e.local.Network(), Source: e.local, Addr: e.remote, Err: err}
	}
	return n, err
}

// Close ends both directions: the peer reads what was written and then the end, and its writes fail.
func (e *pipeEnd) Close() error {
	e.out.closeWriter(net.ErrClosed)
	e.in.closeReader()
	return nil
}

// Abort resets both directions: what was written and not read is lost to the peer.
func (e *pipeEnd) Abort() {
	e.out.reset()
	e.in.reset()
}

// CloseWrite ends one direction: the peer reads what was written and then the end.
func (e *pipeEnd) CloseWrite() error {
	e.out.closeWriter(syscall.EPIPE)
	return nil
}

func (e *pipeEnd) LocalAddr() net.Addr  { return e.local }
func (e *pipeEnd) RemoteAddr() net.Addr { return e.remote }

func (e *pipeEnd) SetDeadline(t time.Time) error {
	e.in.reading.set(&e.in.mu, t)
	e.out.writing.set(&e.out.mu, t)
	return nil
}

func (e *pipeEnd) SetReadDeadline(t time.Time) error {
	e.in.reading.set(&e.in.mu, t)
	return nil
}

func (e *pipeEnd) SetWriteDeadline(t time.Time) error {
	e.out.writing.set(&e.out.mu, t)
	return nil
}

// stream is one direction of a pipe: a ring of bytes with one reader and one writer end.
type stream struct {
	mu      sync.Mutex
	ring    []byte // grows up to pipeBuffer
	start   int    // the first byte to read
	size    int    // bytes held
	written error  // why nothing more can be written; what is held can still be read
	shut    bool   // the reader is gone
	aborted bool   // both ends find it reset
	reading deadline
	writing deadline
}

// deadline is one end's time limit and the condition that end waits on.
type deadline struct {
	cond   *sync.Cond
	passed bool
	timer  *time.Timer
	round  int // tells a timer that was replaced
}

func newStream() *stream {
	s := &stream{ring: make([]byte, 4<<10)}
	s.reading.cond = sync.NewCond(&s.mu)
	s.writing.cond = sync.NewCond(&s.mu)
	return s
}

func (d *deadline) set(mu *sync.Mutex, t time.Time) {
	mu.Lock()
	defer mu.Unlock()
	d.stop()
	d.passed = false
	if t.IsZero() {
		return
	}
	left := time.Until(t)
	if left <= 0 {
		d.passed = true
		d.cond.Broadcast()
		return
	}
	round := d.round
	d.timer = time.AfterFunc(left, func() {
		mu.Lock()
		defer mu.Unlock()
		if d.round == round {
			d.passed = true
			d.cond.Broadcast()
		}
	})
}

func (d *deadline) stop() {
	d.round++
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}

func (s *stream) read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.shut:
			return 0, net.ErrClosed
		case s.aborted:
			return 0, syscall.ECONNRESET
		case s.reading.passed:
			return 0, os.ErrDeadlineExceeded
		case len(b) == 0:
			return 0, nil
		case s.size > 0:
			n := 0
			for n < len(b) && s.size > 0 {
				part := copy(b[n:], s.ring[s.start:min(len(s.ring), s.start+s.size)])
				n += part
				s.size -= part
				if s.start += part; s.start == len(s.ring) {
					s.start = 0
				}
			}
			s.writing.cond.Broadcast()
			return n, nil
		case s.written != nil:
			return 0, io.EOF
		}
		s.reading.cond.Wait()
	}
}

func (s *stream) write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for {
		switch {
		case s.aborted && s.written == nil:
			return n, syscall.ECONNRESET
		case s.written != nil:
			return n, s.written
		case s.shut:
			return n, syscall.EPIPE
		case s.writing.passed:
			return n, os.ErrDeadlineExceeded
		case n == len(b):
			return n, nil
		}
		s.grow(len(b) - n)
		if s.size == len(s.ring) {
			s.writing.cond.Wait()
			continue
		}
		for n < len(b) && s.size < len(s.ring) {
			end := (s.start + s.size) % len(s.ring)
			room := s.ring[end:min(len(s.ring), end+len(s.ring)-s.size)]
			part := copy(room, b[n:])
			n += part
			s.size += part
		}
		s.reading.cond.Broadcast()
	}
}

// grow makes room for more bytes as far as the bound of the pipe allows.
func (s *stream) grow(more int) {
	want := len(s.ring)
	for want < s.size+more && want < pipeBuffer {
		want *= 2
	}
	if want == len(s.ring) {
		return
	}
	ring := make([]byte, want)
	n := copy(ring, s.ring[s.start:min(len(s.ring), s.start+s.size)])
	copy(ring[n:], s.ring[:s.size-n])
	s.ring, s.start = ring, 0
}

func (s *stream) closeWriter(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.written == nil || why == net.ErrClosed {
		s.written = why
	}
	s.writing.stop()
	s.reading.cond.Broadcast()
	s.writing.cond.Broadcast()
}

func (s *stream) closeReader() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shut = true
	s.ring, s.start, s.size = nil, 0, 0
	s.reading.stop()
	s.reading.cond.Broadcast()
	s.writing.cond.Broadcast()
}

func (s *stream) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.aborted = true
	s.reading.cond.Broadcast()
	s.writing.cond.Broadcast()
}
