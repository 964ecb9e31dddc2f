package oracle

import "time"

// Read tells one message that the reader handed out.
func (o *Oracle) Read(d Delivery) {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.signal()
	at := nanos(d.Time)
	o.delivered++
	o.series.at(at).read++
	o.quiet.delivered(at)
	o.events.resumed(at)
	if d.Sequence != 0 {
		o.position = d.Sequence
	}
	o.extend(d)
	if o.rules.Measure == ByIDs {
		o.readID(d, at)
	}
}

func (o *Oracle) readID(d Delivery, at int64) {
	here := Sample{ID: d.ID, Sequence: d.Sequence, Time: d.Time.UTC()}
	name, n, ok := splitID(d.ID)
	if !ok {
		if o.rules.OthersPublish {
			return
		}
		here.ID = ""
		o.unexpected++
		o.samples.add(KindUnexpected, here, "payload %s is no id of a publisher", shown(d.ID))
		return
	}
	w := o.writers[name]
	if w == nil || n > w.latest {
		o.neverPublished(here)
		return
	}
	r, forgotten := w.store.at(n)
	switch {
	case !forgotten && r.attempted == 0:
		o.neverPublished(here)
		return
	case (forgotten || r.read) && d.Sequence == 0 && w.copies.reads(n, here):
		return
	case w.repeats(n, r, forgotten, d):
		o.duplicated++
		o.repeated(here, r, forgotten)
		return
	case forgotten || r.read: // stored twice
		w.sequence = max(w.sequence, d.Sequence)
		o.order.read(d, false)
		return
	}
	behind := n < w.highest
	if behind {
		o.disordered++
		o.samples.add(KindOutOfOrder, here, "read behind %s", ID(name, w.highest))
	}
	w.read(n, at, d.Sequence)
	o.order.read(d, behind)
	passed := r.passed()
	r.read, r.readAt, r.readSequence = true, at, d.Sequence
	if r.acknowledged != 0 {
		o.unsettled--
		o.settle(r, passed)
	} else {
		o.unknownRead++
	}
	w.store.put(n, r)
}

func (o *Oracle) neverPublished(here Sample) {
	o.unexpected++
	o.samples.add(KindUnexpected, here, "nobody published it")
}

func (o *Oracle) repeated(here Sample, r record, forgotten bool) {
	if forgotten {
		o.samples.add(KindDuplicated, here, "read again, long after the first time")
		return
	}
	o.samples.add(KindDuplicated, here, "read again, %s after the first time", rounded(time.Duration(nanos(here.Time)-r.readAt)))
}
