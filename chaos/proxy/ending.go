package proxy

import (
	"errors"
	"io"
	"net"
	"time"
)

// turnOpaque gives up reading frames: from here on all bytes pass unchanged.
func (f *flow) turnOpaque(why error) {
	f.body = 0
	f.opaque = true
	f.copying = nil
	f.flush()
	f.releaseAll()
	f.pending = nil
	becomes := "passes unread from here on"
	if f.c.p.options.CloseMalformed {
		becomes = "is ended"
		f.settle()
		f.r, f.run = f.w, f.w
		f.c.cut()
	}
	f.c.p.notice(f.c, "the "+f.dir.String()+" stream is not the NATS client protocol and "+becomes+": "+why.Error())
}

// end passes on how the direction ended.
func (f *flow) end() {
	f.mu.Lock()
	f.ended = true
	f.pending = append(f.pending, f.injected...)
	f.injected = nil
	f.mu.Unlock()
	switch f.c.state() {
	case open:
		if !f.between() { // a whole frame would be taken for the rest of the one cut short
			f.releaseAll()
			f.inject()
		}
		f.write(f.buf[f.run:f.w])
		f.settle()
		f.dst.CloseWrite() //nolint:errcheck // the peer may be gone
		if f.dir == Down {
			f.c.serverEnded()
		}
	case cut:
		f.drain()
	case halfOpened:
		if f.dir == Up {
			f.drain()
			f.src.Close() //nolint:errcheck // nothing is left to be told
		}
	case closed:
	}
}

// drain reads src to its end so that closing it is an orderly end for the peer.
func (f *flow) drain() {
	f.src.SetReadDeadline(time.Now().Add(linger)) //nolint:errcheck // the read tells
	if _, err := io.Copy(io.Discard, f.src); errors.Is(err, net.ErrClosed) {
		return
	}
}
