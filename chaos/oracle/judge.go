package oracle

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Judge gives the verdict on all that was observed so far.
func (o *Oracle) Judge(end Ending) Verdict {
	o.mu.Lock()
	defer o.mu.Unlock()
	v := Verdict{
		Finding: Held, MeasuredBy: o.rules.Measure, Blind: o.rules.Blind, Allowance: o.rules.Deafness,
		Attempted: o.attempted, Acknowledged: o.acknowledged, Delivered: o.delivered,
		MostConsumers: o.consumers, WireBytes: end.WireBytes, Orphans: end.Orphans,
	}
	if o.rules.Measure == BySequences && o.rules.AtLeastOnce {
		v.MeasuredBy = ByNothing
	}
	v.Limits = o.limits()
	found := o.samples.clone()
	o.countRequests(&v, end)
	var unread []interval
	if o.rules.Measure == ByIDs {
		unread = o.countIDs(&v, found, end)
	} else {
		o.bySequences(&v, found)
	}
	v.breach(found, KindLost, v.Lost, v.Limits.Lost, "message", "lost")
	v.breach(found, KindDuplicated, v.Duplicated, v.Limits.Duplicated, "message", "delivered twice")
	v.breach(found, KindOutOfOrder, v.OutOfOrder, v.Limits.OutOfOrder, "message", "out of order")
	v.breach(found, KindUnexpected, v.Unexpected, v.Limits.Unexpected, "message", "read but never published")
	o.judgeTimes(&v, unread, end)
	o.judgeCounts(&v, end)
	o.doubts(&v, end)
	return v
}

// limits are those of the rules with what their defaults are.
func (o *Oracle) limits() Limits {
	l := o.rules.Limits
	none := []**uint64{&l.Lost, &l.Unexpected}
	if !o.rules.Blind { // what a target that is not ours leaves lapses by itself
		none = append(none, &l.Orphans)
	}
	for _, limit := range none {
		if *limit == nil {
			*limit = new(uint64)
		}
	}
	if !o.rules.AtLeastOnce {
		for _, limit := range []**uint64{&l.Duplicated, &l.OutOfOrder} {
			if *limit == nil {
				*limit = new(uint64)
			}
		}
	}
	return l
}

func (o *Oracle) countRequests(v *Verdict, end Ending) {
	told := &o.ownRequests
	if o.requests.total > 0 {
		told = &o.requests
	}
	v.APIRequests, v.MostRequestsInMinute = cmp.Or(end.APIRequests, told.total), told.most
}

// cutShort says whether what was not read yet is not lost, unless something behind it was read.
func (o *Oracle) cutShort(end Ending) bool {
	_, paused := o.events.pauses(end)
	return paused || end.Interrupted || end.Err != nil && !o.rules.NeverEnds
}

// countIDs judges by the publishers' ids, and gives the times in which messages waited that were never read.
func (o *Oracle) countIDs(v *Verdict, found samples, end Ending) (unread []interval) {
	a := o.accounts(end)
	over, cut := nanos(end.Time), o.cutShort(end)
	strange, again := uint64(0), uint64(0)
	for _, name := range slices.Sorted(maps.Keys(o.writers)) {
		w := o.writers[name]
		count, some := w.copies.beyond()
		again += count
		for _, here := range some {
			found.add(KindDuplicated, here, "read again, more often than it can be stored")
		}
		for n, r := range w.store.all() {
			if !r.waits() {
				continue
			}
			at, odd := a.explains(r)
			switch {
			case at != 0:
				v.Told++
				if odd {
					strange++
				}
			case !cut || n < w.highest:
				v.lose(found, w, n, r)
			}
			passed := r.passed()
			if at == 0 && passed != 0 && !o.rules.AtLeastOnce {
				at = passed // it is lost, and nobody is silent about it
			}
			if at != 0 || !cut {
				unread = append(unread, o.waiting(r.acknowledged, passed, cmp.Or(at, over))...)
			}
		}
	}
	v.UnknownRead = o.unknownRead
	v.Unknown = o.attempted - o.acknowledged - o.unknownRead
	v.Duplicated, v.OutOfOrder, v.Unexpected = o.duplicated+again, o.disordered, o.unexpected
	descents, more := o.order.broken(o.anew(end.Periods))
	v.OutOfOrder += uint64(len(descents)) + more
	for _, d := range descents {
		found.add(KindOutOfOrder, d.sample, "behind stream sequence %d", d.behind)
	}
	o.allowRedelivery(v)
	v.doubt(strange > 0, "the server took back %s, and no fault had it do so", counted(strange, "acknowledged message"))
	return unread
}

// allowRedelivery takes out what at least once allows.
func (o *Oracle) allowRedelivery(v *Verdict) {
	if !o.rules.AtLeastOnce {
		return
	}
	if v.Limits.Duplicated == nil {
		v.Redelivered, v.Duplicated = v.Redelivered+v.Duplicated, 0
	}
	if v.Limits.OutOfOrder == nil {
		v.Redelivered, v.OutOfOrder = v.Redelivered+v.OutOfOrder, 0
	}
}

// lose counts one lost message by where it lies among what was read of its writer.
func (v *Verdict) lose(found samples, w *writer, n uint64, r record) {
	v.Lost++
	here := Sample{ID: ID(w.name, n), Sequence: r.sequence, Time: moment(r.acknowledged)}
	switch {
	case n > w.highest:
		v.LostPostfix++
		if w.highest == 0 {
			found.add(KindLost, here, "postfix: nothing of %s was read", w.name)
			return
		}
		found.add(KindLost, here, "postfix: %s was the last that was read", ID(w.name, w.highest))
	case n < w.lowest:
		v.LostPrefix++
		found.add(KindLost, here, "prefix: %s was the first that was read", ID(w.name, w.lowest))
	default:
		v.LostMiddle++
		found.add(KindLost, here, "middle: a message behind it was read at %s", moment(r.passed()).Format("15:04:05.000"))
	}
}

// judgeCounts judges the figures that are single numbers.
func (o *Oracle) judgeCounts(v *Verdict, end Ending) {
	l := v.Limits
	if !o.rules.Blind {
		v.Sessions = o.events.sessions
		v.breach(nil, KindSessions, uint64(v.Sessions), l.Sessions, "session", "")
	}
	v.breach(nil, KindAPIRequests, v.APIRequests, l.APIRequests, "API request", "")
	v.breach(nil, KindAPIRequestsPerMinute, v.MostRequestsInMinute, l.APIRequestsPerMinute, "API request", "in one minute")
	v.breach(nil, KindOrphans, uint64(max(v.Orphans, 0)), l.Orphans, "consumer", "of its own left on the server")
	v.breach(nil, KindConsumers, uint64(v.MostConsumers), l.Consumers, "consumer", "at one time")
	v.breach(nil, KindWireBytes, v.WireBytes, l.WireBytes, "byte", "on the wire")
	if end.Err != nil && o.rules.NeverEnds {
		v.violate(Violation{Kind: KindEnded, Count: 1, Limit: "0", Text: "the target ended by itself: " + end.Err.Error(), Samples: []Sample{{Time: end.Time.UTC()}}})
	}
}

// doubts are what keeps a contract that was not seen to break from being held.
func (o *Oracle) doubts(v *Verdict, end Ending) {
	v.doubt(end.Err != nil && !o.rules.NeverEnds, "the reader ended: %v", end.Err)
	for _, err := range end.Failed {
		v.doubt(true, "%v", err)
	}
	if _, paused := o.events.pauses(end); paused && o.unsettled > 0 {
		v.doubt(true, "an operator has paused the consumer, and messages wait: %d", o.unsettled)
	}
	v.doubt(end.Undrained > 0 && v.Lost == 0, "%s not read within the time to drain", counted(end.Undrained, "message"))
	v.doubt(o.rules.Measure == ByIDs && o.acknowledged == 0 && !end.Interrupted, "no message was published")
}

func rounded(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
