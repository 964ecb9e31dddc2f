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
		if !f.write(i.data) {
			return
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
			i.then()
		}
	}
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
