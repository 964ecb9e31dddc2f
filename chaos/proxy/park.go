package proxy

import "time"

// maxWaiting bounds what may wait behind a held frame; beyond it all is released.
const maxWaiting = 8 << 20

// parked is a frame that a fault holds back, or one of the same subscription that waits behind it: what
// follows on a subscription never overtakes, except what is held loosely.
type parked struct {
	data    []byte
	missing int       // bytes of the frame still to come
	order   string    // the subscription
	loose   bool      // others overtake it
	by      *applied  // nil for one that only waits
	due     time.Time // when by decides; zero: as soon as it can be written
	facts   Frame

	overtakers uint64   // how many were to overtake it and have not
	copyBy     *applied // the fault that has it sent twice
}

// expirer is an effect that decides on a held frame when its time has come.
type expirer interface {
	// expire returns whether the held frame is dropped.
	expire(a *applied, p *parked) (dropped bool)
}

// park begins to hold the frame in hand.
func (f *flow) park(fr *frame, v verdict, by *applied) {
	p := &parked{
		order: string(fr.sid), by: by, due: v.due, loose: v.loose, overtakers: v.overtakers, missing: fr.body, facts: f.facts(fr, Held),
		data: make([]byte, 0, fr.head),
	}
	f.parked = append(f.parked, p)
	f.holding = p
}

// waitsBehind tells whether a frame follows one that is held on its subscription. When too much waits
// already all is released and nothing waits.
func (f *flow) waitsBehind(fr *frame) bool {
	if !fr.message() {
		return false
	}
	waiting, found := 0, false
	for _, p := range f.parked {
		if p.by == nil {
			waiting += len(p.data)
		}
		found = found || (!p.loose && p.order == string(fr.sid))
	}
	if found && waiting+fr.bytes() > maxWaiting {
		f.flush()
		f.releaseAll()
		return false
	}
	return found
}

// between tells that dst has got a part of a frame: nothing but its rest may be written.
func (f *flow) between() bool { return f.body > 0 && f.fate == Passed }

// due returns when the flow has something to do of itself; zero when nothing waits for its time.
func (f *flow) due() time.Time {
	var first time.Time
	if len(f.line.chunks) > 0 {
		first = f.line.chunks[0].due
	}
	if f.between() {
		return first // the end of the frame under way comes before what is held
	}
	for _, p := range f.parked {
		if p.by != nil && p.missing == 0 && (first.IsZero() || p.due.Before(first)) {
			first = p.due
		}
	}
	return first
}

// release decides on the held frames that are due or whose fault is over, and passes on what waits for
// nothing any more.
func (f *flow) release(clock func() time.Time) {
	if len(f.parked) == 0 || f.between() {
		return
	}
	now := clock()
	blocked := make(map[string]bool)
	kept := f.parked[:0]
	for _, p := range f.parked {
		over := p.by == nil || p.by.over.Load()
		if blocked[p.order] || p.missing > 0 || (!over && now.Before(p.due)) {
			blocked[p.order] = blocked[p.order] || !p.loose
			kept = append(kept, p)
			continue
		}
		if !over && p.by.effect.(expirer).expire(p.by, p) {
			f.tell(p, Dropped)
			continue
		}
		f.pass(p)
	}
	clear(f.parked[len(kept):])
	f.parked = kept
}

// first returns the first frame that a fault holds and chosen accepts, or nil.
func (f *flow) first(by *applied, chosen func(*parked) bool) *parked {
	for _, p := range f.parked {
		if p.by == by && chosen(p) {
			return p
		}
	}
	return nil
}

func (f *flow) holds(by *applied, chosen func(*parked) bool) bool { return f.first(by, chosen) != nil }

// drop takes out what a fault holds of one subscription. The SUB among it is the firing.
func (f *flow) drop(by *applied, order string) {
	kept := f.parked[:0]
	for _, p := range f.parked {
		switch {
		case p.by != by || p.order != order:
			kept = append(kept, p)
		case p.facts.Verb == SUB:
			f.c.missing(SUB)
			f.tell(p, Dropped)
		default:
			f.c.missing(p.facts.Verb)
			f.c.p.meters[f.dir].dropped.add(1, uint64(p.facts.Bytes))
		}
	}
	clear(f.parked[len(kept):])
	f.parked = kept
}

// free passes on what is held and waits on one subscription: a fault found that it need not be held.
func (f *flow) free(order string) {
	f.flush()
	kept := f.parked[:0]
	for _, p := range f.parked {
		if p.order != order || p.loose {
			kept = append(kept, p)
			continue
		}
		f.pass(p)
	}
	clear(f.parked[len(kept):])
	f.parked = kept
}

// releaseAll passes on everything that is held, in order, unfinished frames too.
func (f *flow) releaseAll() {
	for _, p := range f.parked {
		f.pass(p)
	}
	f.parked = nil
}

// pass writes what was held.
func (f *flow) pass(p *parked) {
	f.write(p.data)
	f.tell(p, Released)
	if p.copyBy != nil && p.missing == 0 {
		f.insert(f.copyOf(p.data, p.facts, p.copyBy))
	}
}

func (f *flow) tell(p *parked, fate Fate) {
	p.facts.Fate, p.facts.Time = fate, time.Now()
	if fate == Dropped {
		f.c.p.meters[f.dir].dropped.add(1, uint64(p.facts.Bytes))
		f.c.p.fired(p.by, p.facts)
	}
	if tap := f.c.p.options.Tap; tap != nil {
		tap(p.facts)
	}
}
