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
func extend(runs []run, d Delivery) []run {
	if len(runs) == 0 || runs[len(runs)-1].session != d.Session {
		return append(runs, run{session: d.Session, first: d, last: d, highestStream: d.Sequence})
	}
	r := &runs[len(runs)-1]
	if d.ConsumerSequence > r.last.ConsumerSequence+1 {
		r.lost += d.ConsumerSequence - r.last.ConsumerSequence - 1
	}
	switch {
	case d.Sequence == r.last.Sequence:
		r.duplicated++
	case d.Sequence < r.highestStream:
		r.disordered++
	}
	r.highestStream = max(r.highestStream, d.Sequence)
	r.last = d
	return runs
}

// counts are the three measured figures.
type counts struct {
	lost, duplicated, disordered, told uint64
}

// bySequences judges the runs: within a session the consumer's sequence has no
// hole, and the next session goes on behind the last, but for what was told.
func bySequences(runs []run, facts *eventFacts, rules Rules) counts {
	var c counts
	for i, r := range runs {
		c.lost += r.lost
		c.duplicated += r.duplicated
		c.disordered += r.disordered
		if i == 0 {
			continue
		}
		before := runs[i-1]
		if facts.resetBetween(before.session, r.session) {
			continue // another stream: its sequences say nothing about the old one
		}
		switch {
		case r.first.Sequence <= before.highestStream:
			c.duplicated++
		case !rules.Filtered:
			lost, told := uncovered(facts.told, before.last.Sequence+1, r.first.Sequence-1)
			c.lost += lost
			c.told += told
		}
	}
	if rules.AtLeastOnce {
		// Others may read the durable too, and a redelivery is legitimate.
		return counts{}
	}
	return c
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
