package oracle

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// judgeTimes judges how long the reader was deaf, silent, and on its way back after a fault.
func (o *Oracle) judgeTimes(v *Verdict, unread []interval, end Ending) {
	var deaf []Span
	if !o.rules.Blind {
		deaf = o.deafSpans(end.Time)
	}
	silences := o.quiet.silences(unread, nanos(end.Time))
	v.LongestDeaf = o.judgeSpans(v, KindDeaf, deaf, v.Limits.Deaf, end)
	v.LongestSilence = o.judgeSpans(v, KindSilence, silences, v.Limits.Silence, end)
	v.Recoveries = recoveries(end.Periods, slices.Concat(deaf, silences), end.Time)
	if v.Limits.Recovery == nil {
		return
	}
	var late []tooLong
	for _, r := range v.Recoveries {
		text := "read again %s after the end of fault " + escaped(r.Fault)
		switch {
		case !r.Recovered:
			text = "did not read again in the %s after the end of fault " + escaped(r.Fault)
		case r.Cut:
			text = "had not read again %s after the end of fault " + escaped(r.Fault) + ", when the next began"
		}
		limit := *v.Limits.Recovery + othersActed(r, end)
		if !r.Recovered || r.Took > limit {
			late = append(late, tooLong{at: r.To, lasted: r.Took, limit: limit, text: text})
		}
	}
	v.breachOfTimes(KindRecovery, late)
}

// judgeSpans finds the spans that lasted too long, and gives the longest.
func (o *Oracle) judgeSpans(v *Verdict, kind Kind, spans []Span, given *time.Duration, end Ending) (longest time.Duration) {
	var over []tooLong
	paused, _ := o.events.pauses(end)
	excused := slices.Concat(end.Periods, paused, o.events.noStream)
	for _, s := range spans {
		t := tooLong{at: s.From, lasted: s.Length(), text: "stored messages waited %s and none was handed out"}
		if kind == KindDeaf {
			t.text = "deaf for %s after " + escaped(cmp.Or(s.Cause, "silence"))
		}
		longest = max(longest, t.lasted)
		if t.limit = o.rules.Deafness; given != nil {
			t.limit = *given
		} else if t.lasted > t.limit {
			t.limit += faultTime(excused, s.From, s.To, end.Time)
			if s.Open {
				t.limit += end.Grace
			}
		}
		if t.lasted > t.limit {
			over = append(over, t)
		}
	}
	v.breachOfTimes(kind, over)
	return longest
}

// escaped is a text within a format.
func escaped(text string) string { return strings.ReplaceAll(text, "%", "%%") }

func (o *Oracle) deafSpans(end time.Time) []Span {
	var all []Span
	for _, d := range o.events.deafUntil(end) {
		all = append(all, Span{From: d.from.UTC(), To: d.to.UTC(), Cause: string(d.cause)})
	}
	if o.events.open != nil {
		all[len(all)-1].Open = true
	}
	return all
}
