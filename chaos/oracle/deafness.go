package oracle

import (
	"slices"
	"time"

	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

// eventFacts are what a reader's events tell the oracle.
type eventFacts struct {
	deaf     []deafPeriod
	open     *deafPeriod // a session that is silent, lost or cut off, not yet healed
	told     []span
	resets   []reset
	sessions int
	current  int // the session in use: older ones end without making the reader deaf
}

// deafPeriod is a time without a session that answers.
type deafPeriod struct {
	from, to time.Time
	cause    reader.Cause
}

type reset struct {
	session int
	time    time.Time
}

func (f *eventFacts) add(e reader.Event) {
	f.sessions = max(f.sessions, e.Session)
	switch e.Kind {
	case session.KindSessionSilent, session.KindSessionLost:
		if f.open == nil && (e.Session == 0 || e.Session >= f.current) {
			f.open = &deafPeriod{from: e.Time.Add(-e.Deaf), cause: e.Cause}
		}
	case session.KindDisconnected:
		if f.open == nil && e.Deaf > 0 { // else the caller has not asked for anything
			f.open = &deafPeriod{from: e.Time.Add(-e.Deaf), cause: session.CauseReconnected}
		}
	case session.KindSessionOpened:
		f.current = e.Session
	case session.KindSessionReplaced, session.KindSessionHealed:
		f.current = max(f.current, e.Session)
		f.deaf = append(f.deaf, deafPeriod{from: e.Time.Add(-e.Deaf), to: e.Time, cause: e.Cause})
		f.open = nil
	case session.KindMissed, session.KindSkipped:
		f.told = append(f.told, span{e.From, e.To})
	case session.KindStreamReset:
		f.resets = append(f.resets, reset{e.Session, e.Time})
	default:
		// Other events say nothing about what was read when.
	}
}

// resetBetween says whether the stream was told to be another since a session.
func (f *eventFacts) resetBetween(before, now int) bool {
	return slices.ContainsFunc(f.resets, func(r reset) bool { return r.session >= before && r.session <= now })
}

// readsAgain is when a session was in use again after the first reset told after
// a time; that time itself where none was told.
func (f *eventFacts) readsAgain(after time.Time) time.Time {
	for _, r := range f.resets {
		if r.time.Before(after) {
			continue
		}
		for _, d := range f.deaf {
			if !d.to.Before(r.time) {
				return d.to
			}
		}
		return r.time
	}
	return after
}

// deafUntil lists the deaf periods; one that never ended lasts until end.
func (f *eventFacts) deafUntil(end time.Time) []deafPeriod {
	all := slices.Clone(f.deaf)
	if f.open != nil {
		all = append(all, deafPeriod{from: f.open.from, to: end, cause: f.open.cause})
	}
	return all
}

// faultTime is how long at least one fault acted within a period, or had begun
// less than the allowance before it.
func faultTime(periods []Period, d deafPeriod, end time.Time) time.Duration {
	type interval struct{ from, to time.Time }
	var intervals []interval
	for _, p := range periods {
		to := p.To
		if to.IsZero() {
			to = end
		}
		if to.Before(d.from) || p.From.After(d.to) {
			continue
		}
		intervals = append(intervals, interval{p.From, to})
	}
	slices.SortFunc(intervals, func(a, b interval) int { return a.from.Compare(b.from) })
	var total time.Duration
	var until time.Time
	for _, i := range intervals {
		if i.from.Before(until) {
			i.from = until
		}
		if i.to.After(i.from) {
			total += i.to.Sub(i.from)
			until = i.to
		}
	}
	return total
}
