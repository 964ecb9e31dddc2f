package oracle

import (
	"cmp"
	"slices"
	"time"

	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

// Of what a reader that dies again and again tells so much is kept.
const (
	maxDeafPeriods = 1 << 13
	maxSessions    = 1 << 12
)

// eventFacts are what a reader's events tell the oracle.
type eventFacts struct {
	deaf     []deafPeriod
	open     *deafPeriod // a session that is silent, lost or cut off, not yet healed
	paused   []pause
	told     []span
	resets   []reset
	sessions int
	current  int // the session in use: older ones end without making the reader deaf
	list     []Session
	noStream []Period // when it was known that there is no stream, in which nothing waits
	missing  bool     // since the last of them began
}

// maxPauses is how many pauses of an operator's are kept.
const maxPauses = 1 << 12

// pause is a time in which the reader told that an operator had paused its consumer. Times are nanoseconds of the
// Unix epoch; it lasts until a message comes, or the session ends.
type pause struct{ from, told, to int64 }

// pausedSince notes a pause that was told. It began when the last message came, at the earliest.
func (f *eventFacts) pausedSince(last, at int64) {
	if n := len(f.paused); n < maxPauses && (n == 0 || f.paused[n-1].to != 0) {
		f.paused = append(f.paused, pause{from: cmp.Or(last, at), told: at})
	}
}

// resumed notes that the pause is over, if there was one.
func (f *eventFacts) resumed(at int64) {
	if n := len(f.paused); n > 0 && f.paused[n-1].to == 0 {
		f.paused[n-1].to = at
	}
}

// pauses are they as times in which nothing can be read; one that has not ended lasts until end, but one that a fault
// made, until that ends. still: the last one lasts.
func (f *eventFacts) pauses(end Ending) (all []Period, still bool) {
	for _, x := range f.paused {
		to, open := cmp.Or(x.to, nanos(end.Time)), x.to == 0
		for _, p := range end.Periods {
			if over := nanos(p.To); p.Pauses && over != 0 && nanos(p.From) <= x.told && x.told <= over && over < to {
				to, open = over, false
			}
		}
		all, still = append(all, Period{From: moment(x.from), To: moment(to)}), open
	}
	return all, still
}

// deafPeriod is a time without a session that answers.
type deafPeriod struct {
	from, to time.Time
	cause    reader.Cause
}

func (d deafPeriod) length() time.Duration { return d.to.Sub(d.from) }

type reset struct {
	session int
	time    time.Time
}

// span is a range of stream sequences, both ends included, that was told at a time.
type span struct {
	from, to uint64
	at       time.Time
}

func (f *eventFacts) add(e reader.Event) {
	f.sessions = max(f.sessions, e.Session)
	f.look(e)
	switch e.Kind {
	case session.KindSessionSilent, session.KindSessionLost:
		f.resumed(nanos(e.Time))
		if f.open == nil && (e.Session == 0 || e.Session >= f.current) {
			f.open = &deafPeriod{from: e.Time.Add(-e.Deaf), cause: e.Cause}
		}
	case session.KindDisconnected:
		if f.open == nil && e.Deaf > 0 { // else the caller has not asked for anything
			f.open = &deafPeriod{from: e.Time.Add(-e.Deaf), cause: session.CauseReconnected}
		}
	case session.KindSessionOpened:
		f.current = e.Session
		f.begin(e)
	case session.KindSessionReplaced, session.KindSessionHealed:
		f.current = max(f.current, e.Session)
		f.wasDeaf(deafPeriod{from: e.Time.Add(-e.Deaf), to: e.Time, cause: e.Cause})
		f.open = nil
		if e.Kind == session.KindSessionReplaced {
			f.begin(e)
		}
	case session.KindMissed, session.KindSkipped:
		f.told = append(f.told, span{e.From, e.To, e.Time})
		if n := len(f.list); n > 0 {
			f.list[n-1].Missed += e.Count
		}
	case session.KindStreamReset:
		f.resets = append(f.resets, reset{e.Session, e.Time})
	default:
		// Other events say nothing about what was read when.
	}
}

// codeStreamNotFound is the server's err_code for a stream that does not exist.
const codeStreamNotFound = 10059

// look notes from the first to the last word of the server that there is no stream.
func (f *eventFacts) look(e reader.Event) {
	switch {
	case e.Kind == session.KindSessionOpened || e.Kind == session.KindSessionReplaced || e.Kind == session.KindSessionHealed:
		f.missing = false
	case e.Code != codeStreamNotFound:
	case f.missing:
		f.noStream[len(f.noStream)-1].To = e.Time
	case len(f.noStream) < maxSessions:
		f.missing = true
		f.noStream = append(f.noStream, Period{From: e.Time, To: e.Time})
	}
}

// begin notes that a session is in use, and that the one before is not any more.
func (f *eventFacts) begin(e reader.Event) {
	if n := len(f.list); n > 0 && f.list[n-1].To.IsZero() {
		f.list[n-1].To, f.list[n-1].Cause = e.Time.UTC(), string(e.Cause)
	}
	if len(f.list) < maxSessions {
		f.list = append(f.list, Session{
			Number: e.Session, Consumer: e.Consumer, From: e.Time.UTC(), Deaf: e.Deaf, Took: e.Took, Resumed: max(e.From, 1) - 1,
		})
	}
}

// wasDeaf keeps a deaf period; of too many the shorter half goes.
func (f *eventFacts) wasDeaf(d deafPeriod) {
	f.deaf = append(f.deaf, d)
	if len(f.deaf) < maxDeafPeriods {
		return
	}
	longest := slices.SortedStableFunc(slices.Values(f.deaf), func(a, b deafPeriod) int { return int(b.length() - a.length()) })
	least := longest[maxDeafPeriods/2].length()
	f.deaf = slices.DeleteFunc(f.deaf, func(d deafPeriod) bool { return d.length() <= least })
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

// faultTime is how long at least one fault acted of those that touch a time.
func faultTime(periods []Period, from, to, end time.Time) time.Duration {
	var touching []interval
	for _, p := range periods {
		until := p.until(end)
		if until.Before(from) || p.From.After(to) {
			continue
		}
		touching = append(touching, interval{nanos(p.From), nanos(until)})
	}
	var total time.Duration
	for _, x := range joined(touching) {
		total += time.Duration(x.to - x.from)
	}
	return total
}

// until is when a fault ended; one that acts still, at the end.
func (p Period) until(end time.Time) time.Time {
	if p.To.IsZero() {
		return end
	}
	return p.To
}
