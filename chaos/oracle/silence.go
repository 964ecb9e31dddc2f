package oracle

import (
	"cmp"
	"slices"
	"time"
)

// shortestSilence is the shortest time without a message that is looked at.
const shortestSilence = 100 * time.Millisecond

// maxStretches is how many of them are kept.
const maxStretches = 1 << 12

// stretch is a time in which nothing was handed out. Times are nanoseconds of the Unix epoch.
type stretch struct {
	from, to int64 // the delivery before, 0 for none; the delivery that ended it
	waited   int64 // since when a message waited that was read later; 0: none did
}

func (s stretch) silent() int64 {
	if s.waited == 0 {
		return 0
	}
	return s.to - s.waited
}

// quiet are the stretches of a run in their order: what the silences are found in. A message that was read
// later waits to the end of each stretch that it meets, so that the first of them tells all.
type quiet struct {
	ready     int64 // reading began; 0: not told
	last      int64 // delivery
	stretches []stretch
}

// delivered ends the stretch since the delivery before.
func (q *quiet) delivered(at int64) {
	if at-q.last >= int64(shortestSilence) {
		q.stretches = append(q.stretches, stretch{from: q.last, to: at})
		q.thin()
	}
	q.last = max(q.last, at)
}

// wait notes that a message waited from its acknowledgement until it was read.
func (q *quiet) wait(acknowledged, read int64) {
	acknowledged = max(acknowledged, q.ready)
	for i := len(q.stretches) - 1; i >= 0 && q.stretches[i].to > acknowledged; i-- {
		s := &q.stretches[i]
		if s.to > read {
			continue
		}
		if since := max(acknowledged, s.from); s.waited == 0 || since < s.waited {
			s.waited = since
		}
	}
}

// thin drops the shortest when there are too many: of the older half those in which the least was waited,
// and of these the shortest stretches.
func (q *quiet) thin() {
	if len(q.stretches) < maxStretches {
		return
	}
	older := slices.Clone(q.stretches[:maxStretches/2])
	slices.SortStableFunc(older, func(a, b stretch) int {
		return cmp.Or(cmp.Compare(b.silent(), a.silent()), cmp.Compare(b.to-b.from, a.to-a.from))
	})
	kept := older[:maxStretches/4]
	slices.SortFunc(kept, func(a, b stretch) int { return cmp.Compare(a.to, b.to) })
	q.stretches = append(kept, q.stretches[maxStretches/2:]...)
}

// silences are the times without a message while one waited: of those that were read later, and of those that
// never were. end is when reading ended.
func (q *quiet) silences(unread []interval, end int64) []Span {
	stretches := q.stretches
	if end-q.last >= int64(shortestSilence) {
		stretches = append(slices.Clone(stretches), stretch{from: q.last, to: end})
	}
	unread = joined(unread)
	var all []Span
	for _, s := range stretches {
		waits := within(unread, max(s.from, q.ready), s.to)
		if s.waited != 0 {
			waits = append(waits, interval{s.waited, s.to})
		}
		for _, x := range joined(waits) {
			if x.to-x.from >= int64(shortestSilence) {
				all = append(all, Span{From: moment(x.from), To: moment(x.to), Open: x.to == end && s.to == end})
			}
		}
	}
	return all
}

// interval is a time, in nanoseconds of the Unix epoch.
type interval struct{ from, to int64 }

// joined puts together what touches, in order.
func joined(all []interval) []interval {
	all = slices.SortedFunc(slices.Values(all), func(a, b interval) int { return cmp.Compare(a.from, b.from) })
	var out []interval
	for _, x := range all {
		if n := len(out); n > 0 && x.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, x.to)
			continue
		}
		out = append(out, x)
	}
	return out
}

// within cuts joined intervals to a time.
func within(all []interval, from, to int64) []interval {
	first, _ := slices.BinarySearchFunc(all, from, func(x interval, at int64) int { return cmp.Compare(x.to, at) })
	var cut []interval
	for _, x := range all[first:] {
		if x.from >= to {
			break
		}
		if x.from, x.to = max(x.from, from), min(x.to, to); x.from < x.to {
			cut = append(cut, x)
		}
	}
	return cut
}
