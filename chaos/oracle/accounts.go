package oracle

import (
	"cmp"
	"slices"
	"time"
)

// accounts are what explains that a stored message was not read: what the reader told as missed or skipped, what
// a fault destroyed, and what the server took back after a kill.
type accounts struct {
	told      []span   // by their beginning
	reach     []uint64 // the highest end of told up to each
	destroyed []destruction
	setbacks  []setback
}

// destruction is a fault that destroyed messages: those published between the
// destruction before and its own end, behind what the reader had accepted. What was
// passed over before it began was lost before.
type destruction struct {
	began, after, until int64
	cursor              uint64
}

// setback is that the server gave a sequence again: what it had stored from there on is gone. The proof is an
// id published after a higher sequence had been acknowledged.
type setback struct {
	made     bool  // a fault may have done it
	began    int64 // of that fault, at the earliest; what was passed over before was lost before
	at       int64 // of the publishing that proves it
	before   int64 // what was acknowledged by then may be gone
	sequence uint64
}

// heights are the acknowledged sequences as far as they tell setbacks.
type heights struct {
	sequence uint64
	at       int64
	setbacks []setback
}

func (h *heights) acknowledged(r record) {
	switch last := len(h.setbacks) - 1; {
	case r.sequence > h.sequence:
		h.sequence, h.at = r.sequence, r.acknowledged
	case r.attempted > h.at && r.sequence < h.sequence:
		h.setbacks = append(h.setbacks, setback{at: r.attempted, before: h.at, sequence: r.sequence})
		h.sequence, h.at = r.sequence, r.acknowledged
	case last >= 0 && r.attempted > h.setbacks[last].before:
		h.setbacks[last].sequence = min(h.setbacks[last].sequence, r.sequence)
	}
}

// accounts are what is known at the end.
func (o *Oracle) accounts(end Ending) accounts {
	a := accounts{destroyed: o.destructions(end)}
	a.told = slices.SortedFunc(slices.Values(o.events.told), func(a, b span) int { return cmp.Compare(a.from, b.from) })
	reach := uint64(0)
	for _, s := range a.told {
		reach = max(reach, s.to)
		a.reach = append(a.reach, reach)
	}
	for _, s := range o.heights.setbacks {
		s.began = s.before
		for _, p := range end.Periods {
			if began := nanos(p.From); (p.SetsBack || p.Destructive) && began <= s.at {
				s.made, s.began = true, max(s.began, began)
			}
		}
		a.setbacks = append(a.setbacks, s)
	}
	return a
}

// destructions are the faults that destroyed messages, in the order they fired.
func (o *Oracle) destructions(end Ending) []destruction {
	var all []destruction
	var after int64
	for _, p := range end.Periods {
		if !p.Destructive {
			continue
		}
		until, began := p.until(end.Time), nanos(p.From)
		all = append(all, destruction{began: began, after: after, until: nanos(until), cursor: p.Cursor})
		if end.SkipsOnReset {
			all = append(all, destruction{began: began, after: began, until: nanos(o.events.readsAgain(until))})
		}
		after = nanos(until)
	}
	return all
}

// explains says since when a message that was not read could not be read any more; 0: nothing explains it.
// strange: the server took it back, and no fault had it do so.
func (a *accounts) explains(r record) (at int64, strange bool) {
	if at := a.toldOf(r); at != 0 {
		return at, false
	}
	passed := r.passed()
	for _, d := range a.destroyed {
		if r.attempted > d.after && r.attempted < d.until && r.sequence > d.cursor && (passed == 0 || passed >= d.began) {
			return max(d.began, r.acknowledged), false
		}
	}
	for _, s := range a.setbacks {
		if r.acknowledged <= s.before && r.sequence >= s.sequence && (passed == 0 || passed >= s.began) {
			return s.at, !s.made
		}
	}
	return 0, false
}

// toldOf is when a message was told as missed or skipped. What was published later is another one, under the
// same sequence of a new stream.
func (a *accounts) toldOf(r record) int64 {
	i, _ := slices.BinarySearchFunc(a.told, r.sequence, func(s span, n uint64) int {
		if s.from <= n {
			return -1
		}
		return 1
	})
	for i--; i >= 0 && a.reach[i] >= r.sequence; i-- {
		if s := a.told[i]; r.sequence <= s.to && (s.at.IsZero() || r.attempted <= nanos(s.at)) {
			return max(nanos(s.at), r.acknowledged)
		}
	}
	return 0
}

// anew are the times at which the sequences of the stream may have begun anew, or gone back: at each fault that
// does so, or where the reader told it, whichever is more.
func (o *Oracle) anew(periods []Period) []time.Time {
	var faults, told []time.Time
	for _, p := range periods {
		if p.Destructive || p.SetsBack {
			faults = append(faults, p.From)
		}
	}
	for _, r := range o.events.resets {
		told = append(told, r.time)
	}
	if len(told) > len(faults) {
		return told
	}
	return faults
}
