package oracle

import (
	"fmt"
	"time"
)

// Judge gives the verdict on all that was observed.
func (o *Oracle) Judge(end Ending) Verdict {
	o.mu.Lock()
	defer o.mu.Unlock()
	v := Verdict{
		Finding: Held, MeasuredBy: o.rules.Measure, Blind: o.rules.Blind, Delivered: o.delivered, Acknowledged: o.acknowledged(),
		Sessions: o.events.sessions, APIRequests: end.APIRequests, WireBytes: end.WireBytes, Orphans: end.Orphans, Limits: o.rules.Limits,
	}
	if o.rules.Measure == BySequences && o.rules.AtLeastOnce {
		v.MeasuredBy = ByNothing
	}
	o.count(&v, end)
	o.judgeDeafness(&v, end)
	v.breach(KindLost, v.Lost, "%s lost", counted(v.Lost, "message"))
	v.breach(KindDuplicated, v.Duplicated, "%s delivered twice", counted(v.Duplicated, "message"))
	v.breach(KindOutOfOrder, v.OutOfOrder, "%s out of order", counted(v.OutOfOrder, "message"))
	v.breach(KindUnexpected, v.Unexpected, "%s read that were never published", counted(v.Unexpected, "message"))
	v.breach(KindOrphans, uint64(max(v.Orphans, 0)), "%s of ours left on the server", counted(uint64(max(v.Orphans, 0)), "consumer"))
	v.doubt(end.Err != nil, "the reader ended: %v", end.Err)
	for _, err := range end.Failed {
		v.doubt(true, "%v", err)
	}
	v.doubt(end.Undrained > 0 && v.Lost == 0, "%s not read within the time to drain", counted(end.Undrained, "message"))
	v.doubt(o.rules.Measure == ByIDs && o.acknowledged() == 0 && !end.Interrupted, "no message was published")
	return v
}

func (o *Oracle) count(v *Verdict, end Ending) {
	if o.rules.Measure == BySequences {
		c := bySequences(o.runs, &o.events, o.rules)
		v.Lost, v.Duplicated, v.OutOfOrder, v.Told = c.lost, c.duplicated, c.disordered, c.told
		return
	}
	destroyed := o.destructions(end)
	for _, w := range o.writers {
		lost, told := w.lost(o.events.told, destroyed)
		if end.Interrupted || end.Err != nil {
			// Cut short: what was not read yet is not lost, unless something behind it was read.
			lost = min(lost, w.lostBefore(o.events.told, destroyed))
		}
		v.Lost += lost
		v.Told += told
		v.Duplicated += w.duplicated
		v.OutOfOrder += w.disordered
		v.Unexpected += w.unexpectedReads()
		for i := range w.ids {
			if p := &w.ids[i]; !p.attempted.IsZero() && p.acknowledged.IsZero() && p.reads == 0 {
				v.Unknown++
			}
		}
	}
	if o.rules.AtLeastOnce {
		v.Duplicated, v.OutOfOrder = 0, 0
	}
}

// lostBefore is lost among what was published before the newest message read.
func (w *writer) lostBefore(told []span, destroyed []destruction) uint64 {
	before := writer{ids: w.ids[:max(w.highest, w.base)-w.base]}
	lost, _ := before.lost(told, destroyed)
	return lost
}

func (o *Oracle) acknowledged() (n uint64) {
	for _, w := range o.writers {
		n += w.base
		for i := range w.ids {
			if !w.ids[i].acknowledged.IsZero() {
				n++
			}
		}
	}
	return n
}

// destructions are the faults that destroyed messages, in the order they fired.
func (o *Oracle) destructions(end Ending) []destruction {
	var all []destruction
	var after time.Time
	for _, p := range end.Periods {
		if !p.Destructive {
			continue
		}
		until := p.To
		if until.IsZero() {
			until = end.Time
		}
		all = append(all, destruction{after: after, until: until, cursor: p.Cursor})
		if end.SkipsOnReset {
			all = append(all, destruction{after: p.From, until: o.events.readsAgain(until)})
		}
		after = until
	}
	return all
}

func (o *Oracle) judgeDeafness(v *Verdict, end Ending) {
	for _, d := range o.events.deafUntil(end.Time) {
		length := d.to.Sub(d.from)
		v.LongestDeaf = max(v.LongestDeaf, length)
		limit := faultTime(end.Periods, d, end.Time) + o.rules.Deafness
		v.breach(KindDeaf, times(length > limit), "deaf for %s after %s, allowed %s", rounded(length), d.cause, rounded(limit))
	}
	if o.rules.Measure != ByIDs {
		return
	}
	// The reader's word is checked: a message that was stored must not wait longer
	// than a deaf reader may.
	for _, w := range o.writers {
		waits := w.waits
		for i := range w.ids {
			waits = append(waits, w.ids[i].waited())
		}
		v.breachOf(waits, o.rules.Deafness, end)
	}
}

// breachOf tells the longest of the waits that are not allowed.
func (v *Verdict) breachOf(waits []deafPeriod, allowed time.Duration, end Ending) {
	var worst, limit time.Duration
	for _, wait := range waits {
		length := wait.to.Sub(wait.from)
		if length <= allowed || length <= worst {
			continue
		}
		if l := allowed + faultTime(end.Periods, wait, end.Time); length > l {
			worst, limit = length, l
		}
	}
	v.breach(KindSilence, times(worst > 0), "a stored message waited %s, allowed %s", rounded(worst), rounded(limit))
}

func rounded(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// times is how often: once or never.
func times(happened bool) uint64 {
	if happened {
		return 1
	}
	return 0
}

// counted is a number with its noun.
func counted(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func (v *Verdict) breach(kind Kind, count uint64, format string, args ...any) {
	if count > 0 {
		v.Finding = Broken
		v.Violations = append(v.Violations, Violation{Kind: kind, Count: count, Text: fmt.Sprintf(format, args...)})
	}
}

func (v *Verdict) doubt(doubtful bool, format string, args ...any) {
	if !doubtful {
		return
	}
	if v.Finding == Held {
		v.Finding = Unknown
	}
	v.Doubts = append(v.Doubts, fmt.Sprintf(format, args...))
}
