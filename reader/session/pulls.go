package session

import "time"

// Pull is one request for messages. Every pull has an expiry and a heartbeat.
type Pull struct {
	Token     uint64
	Batch     int
	MaxBytes  int // 0: no bound
	Expires   time.Duration
	Heartbeat time.Duration
}

// The probe is a session's first pull: its answer is the proof. One message of
// reserve beside Config's bounds, so it goes out even with a full buffer.
const (
	probeExpires   = time.Second
	probeHeartbeat = 100 * time.Millisecond
)

type openPull struct {
	Pull
	sent   time.Duration
	heard  time.Duration // its last answer; a message counts for every open pull
	served bool          // a message arrived while it was open
}

// pulls are the outstanding pulls of one session. Messages do not name their pull
// and alternate between waiting ones, so of them only totals are counted; a status
// names its pull and says what that had left.
type pulls struct {
	next  uint64 // token of the next pull
	open  []openPull
	msgs  int           // messages still owed to the open pulls
	bytes int           // bytes still owed
	since time.Duration // when the first of the open pulls went out
}

func (p *pulls) send(now time.Duration, q Pull) Pull {
	p.next++
	q.Token = p.next
	if !p.outstanding() {
		p.open, p.since = p.open[:0], now
	}
	p.open = append(p.open, openPull{Pull: q, sent: now, heard: now})
	p.msgs += q.Batch
	p.bytes += q.MaxBytes
	return q
}

// outstanding says whether the server owes an answer.
func (p *pulls) outstanding() bool { return len(p.open) > 0 && p.msgs > 0 }

// received counts one message of size bytes.
func (p *pulls) received(now time.Duration, size int) {
	p.msgs = max(p.msgs-1, 0)
	p.bytes = max(p.bytes-size, 0)
	for i := range p.open {
		p.open[i].served, p.open[i].heard = true, now
	}
	if p.msgs == 0 {
		// All that was asked for is here; a closing status may still come and
		// names a pull that is no longer known.
		p.open, p.bytes = p.open[:0], 0
	}
}

// beat notes that a pull waits.
func (p *pulls) beat(now time.Duration, token uint64) {
	for i := range p.open {
		if p.open[i].Token == token {
			p.open[i].heard = now
		}
	}
}

// trust gives every open pull time to answer from now on: what silenced one of them
// silenced all.
func (p *pulls) trust(now time.Duration) {
	for i := range p.open {
		p.open[i].heard = now
	}
}

// only forgets every pull but the one named.
func (p *pulls) only(token uint64) {
	kept := p.open[:0]
	for _, q := range p.open {
		if q.Token == token {
			kept = append(kept, q)
		}
	}
	p.open = kept
	p.bound()
}

// end closes the pull that st names and gives it back.
func (p *pulls) end(st Status) (openPull, bool) {
	for i, q := range p.open {
		if q.Token != st.Token {
			continue
		}
		p.open = append(p.open[:i], p.open[i+1:]...)
		switch {
		case st.HasPending:
			p.msgs -= st.PendingMessages
			p.bytes -= st.PendingBytes
		case !q.served:
			p.msgs -= q.Batch
			p.bytes -= q.MaxBytes
		}
		p.bound()
		return q, true
	}
	return openPull{}, false
}

// bound keeps the totals within what the open pulls asked for.
func (p *pulls) bound() {
	msgs, bytes := 0, 0
	for _, q := range p.open {
		msgs += q.Batch
		bytes += q.MaxBytes
	}
	p.msgs = min(max(p.msgs, 0), msgs)
	p.bytes = min(max(p.bytes, 0), bytes)
}

// overdue is when a pull counts as lost: it owes its heartbeats, and after its
// time a closing status. A session whose pulls are all overdue is silent; one of
// several is only not counted any more, so that it does not stand for messages
// that nobody will send.
func (q *openPull) overdue(grace time.Duration) time.Duration {
	return min(q.heard, q.sent+q.Expires) + grace
}

// lapses is when the first of the open pulls is overdue by grace.
func (p *pulls) lapses(grace time.Duration) (t time.Duration, ok bool) {
	for i := range p.open {
		if end := p.open[i].overdue(grace); !ok || end < t {
			t, ok = end, true
		}
	}
	return t, ok
}

// lapse forgets pulls that are overdue by grace.
func (p *pulls) lapse(now, grace time.Duration) bool {
	kept := p.open[:0]
	for _, q := range p.open {
		if now < q.overdue(grace) {
			kept = append(kept, q)
		}
	}
	if len(kept) == len(p.open) {
		return false
	}
	p.open = kept
	p.bound()
	return true
}

func (p *pulls) clear() { p.open, p.msgs, p.bytes = p.open[:0], 0, 0 }

// buffer is what was accepted and not yet handed to the caller.
type buffer struct {
	msgs, bytes int
	size        int // of a message, a moving average; 0 none came yet
}

// weigh notes the size of one message.
func (b *buffer) weigh(size int) {
	if b.size == 0 {
		b.size = size
		return
	}
	b.size += (size - b.size) / 8
}

// ask says how many messages and bytes the next pull may ask for; ok is false
// while there is not enough room for a pull that is worth a request. size is what
// a message weighed lately, 0 unknown: a pull reserves the bytes it is likely to
// need, so that the next one can go out before it ends. window bounds what is out at a
// time; one message always may be.
func (c *Config) ask(b buffer, p *pulls, l Limits, size, window int) (q Pull, ok bool) {
	if l.Waiting > 0 && p.outstanding() && len(p.open) >= l.Waiting {
		return q, false
	}
	maxBatch, maxBytes := c.MaxMessages, c.MaxBytes
	if l.Batch > 0 {
		maxBatch = min(maxBatch, l.Batch)
	}
	if l.Bytes > 0 {
		maxBytes = min(maxBytes, l.Bytes)
	}
	depth := maxBatch
	if size > 0 {
		depth = min(depth, max(maxBytes/size, 1))
		depth = min(depth, max(window/size, 1))
	}
	free := c.MaxMessages - b.msgs - p.msgs
	if p.msgs > depth/2 || free < max(depth/2, 1) {
		return q, false
	}
	q.Batch, q.MaxBytes = min(free, max(depth-p.msgs, 1)), maxBytes
	if size > 0 {
		q.MaxBytes = min(maxBytes, max(q.Batch*size/4*5, maxBytes/16))
	}
	freeBytes := c.MaxBytes - b.bytes - p.bytes
	if freeBytes < max(min(q.MaxBytes, maxBytes/2), 1) {
		return q, false
	}
	q.MaxBytes = min(q.MaxBytes, freeBytes)
	q.Expires, q.Heartbeat = within(c.Expires, c.Heartbeat, l)
	return q, true
}

// within obeys a limit on expires; a heartbeat may be at most half of it.
func within(expires, heartbeat time.Duration, l Limits) (time.Duration, time.Duration) {
	if l.Expires > 0 && l.Expires < expires {
		expires = l.Expires
	}
	return expires, min(heartbeat, expires/2)
}
