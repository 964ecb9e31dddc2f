package oracle

// run is what one session delivered, as its sequences tell.
type run struct {
	session       int
	first, last   Delivery
	lost          uint64 // holes in the consumer's sequence
	duplicated    uint64
	disordered    uint64
	highestStream uint64
}

// extend adds a delivery to the run of its session.
func (o *Oracle) extend(d Delivery) {
	d.ID = ""
	if n := len(o.runs); n == 0 || o.runs[n-1].session != d.Session {
		o.runs = append(o.runs, run{session: d.Session, first: d, last: d, highestStream: d.Sequence})
		return
	}
	r := &o.runs[len(o.runs)-1]
	sample := func(kind Kind, format string, args ...any) {
		if o.rules.Measure == BySequences {
			o.samples.add(kind, Sample{Sequence: d.Sequence, Time: d.Time.UTC()}, format, args...)
		}
	}
	if d.ConsumerSequence > r.last.ConsumerSequence+1 {
		hole := d.ConsumerSequence - r.last.ConsumerSequence - 1
		r.lost += hole
		sample(KindLost, "%d before it in the consumer's sequence, which goes from %d to %d", hole, r.last.ConsumerSequence, d.ConsumerSequence)
	}
	switch {
	case d.Sequence == r.last.Sequence:
		r.duplicated++
		sample(KindDuplicated, "again in session %d", d.Session)
	case d.Sequence < r.highestStream:
		r.disordered++
		sample(KindOutOfOrder, "behind %d in session %d", r.highestStream, d.Session)
	}
	r.highestStream = max(r.highestStream, d.Sequence)
	r.last = d
}

// bySequences judges the runs: within a session the consumer's sequence has no
// hole, and the next session goes on behind the last, but for what was told.
func (o *Oracle) bySequences(v *Verdict, samples samples) {
	for i, r := range o.runs {
		v.LostMiddle += r.lost
		v.Duplicated += r.duplicated
		v.OutOfOrder += r.disordered
		if i == 0 {
			continue
		}
		before := o.runs[i-1]
		if o.events.resetBetween(before.session, r.session) {
			continue // another stream: its sequences say nothing about the old one
		}
		at := Sample{Sequence: r.first.Sequence, Time: r.first.Time.UTC()}
		switch {
		case r.first.Sequence <= before.highestStream:
			v.Duplicated++
			samples.add(KindDuplicated, at, "session %d begins there, and %d was read before", r.session, before.highestStream)
		case !o.rules.Filtered:
			lost, told := uncovered(o.events.told, before.last.Sequence+1, r.first.Sequence-1)
			v.LostMiddle += lost
			v.Told += told
			if lost > 0 {
				samples.add(KindLost, at, "%d before it: session %d begins there, and %d was the last of the one before", lost, r.session, before.last.Sequence)
			}
		}
	}
	v.Lost = v.LostMiddle
	if o.rules.AtLeastOnce {
		// Others may read the durable too, and a redelivery is legitimate.
		v.Lost, v.LostMiddle, v.Told, v.Duplicated, v.OutOfOrder = 0, 0, 0, 0, 0
	}
}

// uncovered counts the sequences from..to that no told span covers, and those one does.
func uncovered(told []span, from, to uint64) (missing, covered uint64) {
	if from > to {
		return 0, 0
	}
	missing = to - from + 1
	for _, s := range told {
		low, high := max(s.from, from), min(s.to, to)
		if low <= high {
			covered += high - low + 1
		}
	}
	covered = min(covered, missing)
	return missing - covered, covered
}
