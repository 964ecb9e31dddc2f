package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"math"
)

// errMore says that the bytes at hand do not yet hold a whole head.
var errMore = errors.New("more bytes needed")

// maxHeaders bounds the header block that is looked into. A longer one is passed on unread: the
// statuses a server sends take some hundred bytes.
const maxHeaders = 64 << 10

// maxPullRequest bounds the pull requests that are read: a larger one passes like any publication.
const maxPullRequest = 16 << 10

// frame is one frame of the protocol as its head tells it. The slices point into the buffer
// that was scanned and are valid until that buffer is filled again.
type frame struct {
	verb    Verb
	line    []byte // the control line without its line end
	subject []byte
	reply   []byte
	sid     []byte
	queue   []byte
	max     int    // UNSUB: the messages after which the subscription ends; 0: at once
	headers []byte // the header block, when the frame has one that is not longer than maxHeaders
	payload []byte // what a pull asks for; of no other frame
	size    int    // header block and payload, without the line end that follows
	hdrSize int    // header block alone
	head    int    // bytes of the control line, and of what else was read with it
	body    int    // bytes that follow the head, with the closing line end
	request string // Down: the API request that this message answers
}

func (f *frame) bytes() int { return f.head + f.body }

// message tells whether the frame carries a message to the client.
func (f *frame) message() bool { return f.verb == MSG || f.verb == HMSG }

// publication tells whether the frame carries a message to the server.
func (f *frame) publication() bool { return f.verb == PUB || f.verb == HPUB }

// decoder finds frames in one direction of a stream. It keeps only how far it has looked for
// a line end, so that a line that comes byte by byte is looked at once.
type decoder struct {
	dir     Direction
	scanned int
}

// scan reads the head of the frame at the start of b into f. It returns errMore while the head is
// incomplete; any other error says that b is no frame of this direction. f.body bytes follow the head.
func (d *decoder) scan(b []byte, f *frame) error {
	*f = frame{}
	if len(b) == 0 {
		return errMore
	}
	verb, size, ok := verbOf(b)
	if !ok {
		return fmt.Errorf("unknown verb in %q", excerpt(b))
	}
	if verb == NoVerb {
		return errMore
	}
	if !verb.travels(d.dir) {
		return fmt.Errorf("%s does not travel %s", verb, d.dir)
	}
	from := min(d.scanned, len(b))
	end := bytes.IndexByte(b[from:], '\n')
	if end < 0 || from+end >= verb.maxLine() {
		if len(b) >= verb.maxLine() {
			return fmt.Errorf("%s line is longer than %d bytes", verb, verb.maxLine())
		}
		d.scanned = len(b)
		return errMore
	}
	end += from
	f.verb, f.head = verb, end+1
	f.line = b[:end]
	if end > 0 && b[end-1] == '\r' {
		f.line = b[:end-1]
	}
	if err := f.parse(f.line[min(size, len(f.line)):]); err != nil {
		return fmt.Errorf("%w in %q", err, excerpt(f.line))
	}
	if f.hdrSize > 0 && f.hdrSize <= maxHeaders {
		if len(b) < f.head+f.hdrSize {
			d.scanned = end // the line end is found again at once
			return errMore
		}
		f.headers = b[f.head : f.head+f.hdrSize]
		f.head += f.hdrSize
		f.body -= f.hdrSize
	}
	if f.publication() && f.body <= maxPullRequest && bytes.Contains(f.subject, []byte(nextPull)) {
		if len(b) < f.head+f.body {
			d.scanned = end
			return errMore
		}
		rest := b[f.head : f.head+f.body]
		if !closes(rest, len(rest)) {
			return errUnclosed
		}
		f.payload = rest[:len(rest)-len("\r\n")]
		f.head, f.body = f.head+f.body, 0
	}
	d.scanned = 0
	return nil
}

var (
	errArguments = errors.New("wrong number of arguments")
	errNumber    = errors.New("not a number")
	errHeaders   = errors.New("header block is longer than the message")
	errUnclosed  = errors.New("the payload is not closed by a line end")
)

// parse reads the arguments that follow the verb.
func (f *frame) parse(rest []byte) error {
	switch f.verb {
	case PUB, HPUB, MSG, HMSG:
		return f.parseMessage(rest)
	case SUB:
		var args [5][]byte
		switch n := fields(rest, args[:]); n {
		case 2:
			f.subject, f.sid = args[0], args[1]
		case 3:
			f.subject, f.queue, f.sid = args[0], args[1], args[2]
		default:
			return errArguments
		}
	case UNSUB:
		var args [5][]byte
		n := fields(rest, args[:])
		if n != 1 && n != 2 {
			return errArguments
		}
		f.sid = args[0]
		if n == 2 {
			var ok bool
			if f.max, ok = number(args[1]); !ok {
				return errNumber
			}
		}
	default:
		// The rest of the line is JSON, text or nothing.
	}
	return nil
}

// parseMessage reads `subject [sid] [reply] [header size] size`, with the sid only in what the server
// sends and the header size only in HPUB and HMSG.
func (f *frame) parseMessage(rest []byte) error {
	var args [6][]byte
	n := fields(rest, args[:])
	least := 2 // subject and size
	if f.message() {
		least++
	}
	headers := f.verb == HPUB || f.verb == HMSG
	if headers {
		least++
	}
	if n != least && n != least+1 {
		return errArguments
	}
	f.subject = args[0]
	next := 1
	if f.message() {
		f.sid = args[next]
		next++
	}
	if n == least+1 {
		f.reply = args[next]
		next++
	}
	var ok bool
	if headers {
		if f.hdrSize, ok = number(args[next]); !ok {
			return errNumber
		}
		next++
	}
	if f.size, ok = number(args[next]); !ok {
		return errNumber
	}
	if f.hdrSize > f.size {
		return errHeaders
	}
	f.body = f.size + len("\r\n")
	return nil
}

// fields splits b at runs of spaces and tabs into dst and returns how many fields there are; more
// than len(dst) gives len(dst)+1.
func fields(b []byte, dst [][]byte) int {
	n, i := 0, 0
	for {
		for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
			i++
		}
		if i == len(b) {
			return n
		}
		if n == len(dst) {
			return n + 1
		}
		start := i
		for i < len(b) && b[i] != ' ' && b[i] != '\t' {
			i++
		}
		dst[n] = b[start:i]
		n++
	}
}

// number reads a decimal number that fits 31 bits, the server's own bound of a payload.
func number(b []byte) (int, bool) {
	if len(b) == 0 || len(b) > 10 {
		return 0, false
	}
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, n <= math.MaxInt32
}

// closes checks the line end that must close a body: chunk is the next part of a body of which left
// bytes, chunk included, were still to come.
func closes(chunk []byte, left int) bool {
	n := len(chunk)
	switch left - n {
	case 0:
		return chunk[n-1] == '\n' && (n < 2 || chunk[n-2] == '\r')
	case 1:
		return chunk[n-1] == '\r'
	default:
		return true
	}
}

func excerpt(b []byte) []byte { return b[:min(len(b), 60)] }
