package proxy

import "sync/atomic"

// Amount counts frames and their bytes on the wire.
type Amount struct {
	Frames uint64 `json:"frames"`
	Bytes  uint64 `json:"bytes"`
}

// OneWay is what came in at the proxy from one side, before any fault acted on it.
type OneWay struct {
	Amount
	Verbs   map[Verb]Amount `json:"verbs"`   // only those that occurred
	Dropped Amount          `json:"dropped"` // taken out by faults
	Added   Amount          `json:"added"`   // put in by faults
	Opaque  uint64          `json:"opaque"`  // bytes passed on unread after a malformed frame
}

// Traffic is what went through a proxy since it was made.
type Traffic struct {
	Connections int    `json:"connections"` // open now
	Accepted    uint64 `json:"accepted"`    // connections ever served
	Refused     uint64 `json:"refused"`     // connections closed since the upstream could not be reached
	Up          OneWay `json:"up"`          // from clients
	Down        OneWay `json:"down"`        // from the server
}

// amount is an Amount that several flows add to.
type amount struct{ frames, bytes atomic.Uint64 }

func (a *amount) add(frames, bytes uint64) { a.frames.Add(frames); a.bytes.Add(bytes) }

func (a *amount) load() Amount { return Amount{Frames: a.frames.Load(), Bytes: a.bytes.Load()} }

// meter counts one direction of all connections.
type meter struct {
	verbs          [verbs]amount
	dropped, added amount
	opaque         atomic.Uint64
}

func (m *meter) load() OneWay {
	out := OneWay{Verbs: make(map[Verb]Amount), Dropped: m.dropped.load(), Added: m.added.load(), Opaque: m.opaque.Load()}
	for v := range m.verbs {
		if a := m.verbs[v].load(); a.Frames > 0 {
			out.Verbs[Verb(v)] = a
			out.Frames += a.Frames
			out.Bytes += a.Bytes
		}
	}
	return out
}

// tally collects the frames of one read, so that the shared counters are touched once for all.
type tally [verbs]Amount

func (t *tally) add(f *frame) {
	t[f.verb].Frames++
	t[f.verb].Bytes += uint64(f.bytes())
}

func (t *tally) settle(m *meter) {
	for v := range t {
		if t[v].Frames > 0 {
			m.verbs[v].add(t[v].Frames, t[v].Bytes)
			t[v] = Amount{}
		}
	}
}
