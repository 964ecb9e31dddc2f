package proxy

import "time"

// injection is a frame made by the proxy. It is written between two frames of the direction it is put
// into, and counts as a firing of by (when that is set) once it has been written.
type injection struct {
	data  []byte
	facts Frame
	by    *applied
	then  func() // called after it was written; may be nil
}

// put hands a frame to the flow. Safe for concurrent use.
func (f *flow) put(i injection) {
	f.mu.Lock()
	f.injected = append(f.injected, i)
	f.mu.Unlock()
	f.poke()
}

// collect takes over what was put in. It is done behind every read: a frame that was
// put in before another was passed on to the server, such as the -ERR to a forged
// refusal before the PING behind it, must not come after what the server answers.
func (f *flow) collect() {
	f.mu.Lock()
	f.pending = append(f.pending, f.injected...)
	f.injected = f.injected[:0]
	f.mu.Unlock()
}

// inject writes what was put in, if no frame is under way.
func (f *flow) inject() {
	if len(f.pending) == 0 || f.between() {
		return
	}
	if f.opaque {
		f.pending = nil
		f.c.p.notice(f.c, "nothing can be put into a stream that passes unread")
		return
	}
	pending := f.pending
	f.pending = nil
	for _, i := range pending {
		if !f.insert(i) {
			return
		}
	}
}

// insert writes one frame of the proxy's and tells of it.
func (f *flow) insert(i injection) (written bool) {
	if !f.write(i.data) {
		return false
	}
	i.facts.Time, i.facts.Conn, i.facts.Direction = time.Now(), f.c.id, f.dir
	i.facts.Client, _ = f.c.know.name()
	i.facts.Bytes, i.facts.Fate = len(i.data), Injected
	f.c.p.meters[f.dir].added.add(1, uint64(len(i.data)))
	if i.by != nil {
		f.c.p.fired(i.by, i.facts)
	}
	if tap := f.c.p.options.Tap; tap != nil {
		tap(i.facts)
	}
	if i.then != nil {
		f.arrived(i.then)
	}
	return true
}

// repeat has the frame in hand followed by a copy of itself, wherever that goes.
func (f *flow) repeat(fr *frame, fate Fate, by *applied) {
	switch fate {
	case Held:
		f.holding.copyBy = by
	case Passed:
		f.copying = &copied{by: by, facts: f.facts(fr, Passed), data: make([]byte, 0, fr.bytes())}
	default:
		// There is nothing that a copy could follow.
	}
}

// copied is a frame on its way to be sent once more.
type copied struct {
	by    *applied
	facts Frame
	data  []byte
}

// keep adds a part of the frame in hand to its copy, and has the copy follow the last part.
func (f *flow) keep(part []byte) {
	f.copying.data = append(f.copying.data, part...)
	if len(f.copying.data) < f.copying.facts.Bytes {
		return
	}
	c := f.copying
	f.copying = nil
	f.pending = append(f.pending, f.copyOf(c.data, c.facts, c.by))
}

// copyOf is a message sent to the client once more.
func (f *flow) copyOf(data []byte, facts Frame, by *applied) injection {
	return injection{data: data, facts: facts, by: by, then: func() { f.c.delivered(facts.SID) }}
}

// With CONNECT's verbose the server says +OK to each of these. A client counts them, so a request that is
// taken out gets its +OK from the proxy, and that of a frame put in is taken out.
func confirmed(v Verb) bool {
	return v == CONNECT || v == SUB || v == UNSUB || v == PUB || v == HPUB
}

// putUp puts a frame into the direction of the server.
func (c *conn) putUp(i injection) {
	if confirmed(i.facts.Verb) && c.know.verbose() {
		c.surplus.Add(1)
	}
	c.up.put(i)
}

// missing makes up for a frame of the client that never reaches the server.
func (c *conn) missing(v Verb) {
	if confirmed(v) && c.know.verbose() {
		c.down.put(injection{data: []byte("+OK\r\n"), facts: Frame{Verb: OK}})
	}
}
