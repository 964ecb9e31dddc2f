package simulate

import (
	"errors"
	"math"
	"time"

	"github.com/an-open-reader/nats-reader/reader/session"
)

// ledger is what a reader delivered and told, for the verdict.
type ledger struct {
	got      []bool
	last     int // index of the last message accepted, -1 none
	newest   int // of a durable: the highest index
	heard    time.Duration
	told     []told
	from     int // the first message that must be read; -1 before Open
	owed     int // FollowNew: and from here on it is owed for sure
	atCall   int // messages stored when Open was called
	atOpened int // and when it returned
	openedAt time.Duration
	start    session.Cursor
	err      error // that Open returned
	opens    bool
	over     bool
	overAt   time.Duration
	why      error

	end       uint64 // StopAtEnd: the end as pinned anew by a reset
	resets    int
	began     int  // the generation of the first message
	read      bool // a message, since its stream was rolled back
	nothing   bool // it had read nothing, or nothing again, when its stream was rolled back
	following bool // what was stored before the next session is not wanted: FollowNew, or a snapshot made anew
	pace      int  // deaf: everything before it is settled
}

// told is a range of sequences that the reader said it will not deliver.
type told struct {
	generation int
	from, to   uint64
}

// snapshots says that a reader begins with the last message of each subject.
func (r *reader) snapshots() bool {
	return r.cfg.Start == session.StartLastPerSubject && r.cfg.Durable == ""
}

// carry is for a stream that lost its tail: what was told of the rest still holds.
func (l *ledger) carry(generation int) {
	l.nothing = l.nothing || !l.read
	l.read = false
	for i := range l.told {
		if t := &l.told[i]; t.generation == generation-1 {
			t.generation = generation
		}
	}
}

func (l *ledger) begin(r *reader) {
	l.last, l.newest, l.from, l.began = -1, -1, -1, math.MaxInt
}

// opening is the call of Open.
func (l *ledger) opening(r *reader) {
	l.atCall = len(r.w.journal.log)
}

// opened is the return of Open.
func (l *ledger) opened(r *reader, e *session.Effect) {
	w := r.w
	if l.opens {
		r.fail("open", "Open returned twice")
		return
	}
	l.opens, l.err, l.start = true, e.Err, e.Start
	l.openedAt, l.atOpened, l.heard = w.now, len(w.journal.log), w.now
	if e.Err != nil {
		return
	}
	l.from = l.atOpened
	for i := range w.journal.log {
		if e := &w.journal.log[i]; e.generation == w.journal.generation && e.sequence > l.start.Sequence {
			l.from = i
			break
		}
	}
	if r.snapshots() {
		l.from = l.atOpened
		return
	}
	if r.cfg.Durable != "" {
		l.from = 0
		if r.cfg.Start != session.StartAll {
			l.from = l.atOpened
		}
		return
	}
	for i := range l.from {
		if i < len(l.got) && l.got[i] {
			r.fail("start", "sequence %d lies before the start at %d", w.journal.log[i].sequence, l.start.Sequence)
		}
	}
	l.startIsRight(r)
}

// startIsRight compares where a reader begins with what it was asked.
func (l *ledger) startIsRight(r *reader) {
	w, st := r.w, r.w.stream()
	if st == nil || w.journal.generation != 1 {
		return
	}
	got := l.start.Sequence
	low, high := uint64(0), uint64(l.atOpened)
	switch r.cfg.Start {
	case session.StartAll:
		high = st.First() - 1
	case session.StartNew:
		low = uint64(l.atCall)
	case session.StartLast:
		low, high = 0, uint64(l.atOpened)
	case session.StartSequence:
		high = max(r.cfg.Sequence, st.First()) - 1
	case session.StartTime:
		high = max(uint64(r.cfg.Message), st.First()-1)
	case session.StartPosition:
		low, high = uint64(max(r.cfg.Message+1, 0)), uint64(max(r.cfg.Message+1, 0))
	}
	if got < low || got > high {
		r.fail("start", "it begins after %d, not between %d and %d", got, low, high)
	}
}

// accepted is a message that will be handed to the caller.
func (l *ledger) accepted(r *reader, d session.Delivery) {
	w := r.w
	i := w.journal.index(d.Time)
	if i < 0 || w.journal.log[i].sequence != d.Sequence {
		r.fail("model", "message %d of time %d was never stored", d.Sequence, d.Time)
		return
	}
	for len(l.got) <= i {
		l.got = append(l.got, false)
	}
	e := &w.journal.log[i]
	l.heard = w.now
	if l.following && !r.snapshots() {
		l.following, l.owed = false, i
	}
	switch {
	case l.over:
		r.fail("end", "message %d was accepted after the end", d.Sequence)
	case r.cfg.Filter != 0 && r.cfg.Filter&(1<<e.subject) == 0:
		r.fail("filter", "message %d has another subject", d.Sequence)
	case r.cfg.Durable != "":
	case r.blindlyReset():
	case l.got[i]:
		r.fail("twice", "message %d of time %d was delivered before", d.Sequence, d.Time)
	case i <= l.last:
		r.fail("order", "message %d of time %d came after time %d", d.Sequence, d.Time, w.journal.log[l.last].stamp)
	case l.from >= 0 && i < l.from && r.cfg.Start != session.StartLastPerSubject:
		r.fail("start", "message %d lies before the start", d.Sequence)
	case r.cfg.StopAtEnd && l.opens && l.resets == 0 && i >= l.atOpened:
		r.fail("end", "message %d was stored after Open returned", d.Sequence)
	case r.cfg.StopAtEnd && l.resets > 0 && d.Sequence > l.end:
		r.fail("end", "message %d lies beyond the end at %d", d.Sequence, l.end)
	}
	l.got[i], l.read = true, true
	l.began = min(l.began, e.generation)
	l.last, l.newest = i, max(l.newest, i)
}

// blindlyReset says that a reader without STREAM.INFO cannot tell a roll back from a
// stream made anew: it reads again.
func (r *reader) blindlyReset() bool {
	return r.ledger.resets > 0 && r.w.plan.has(rollBack) && r.tally.events[session.KindPermissionDenied] > 0
}

// event takes what the reader tells.
func (r *reader) event(e *session.Event) {
	w, l := r.w, &r.ledger
	r.tally.event(e)
	switch e.Kind {
	case session.KindMissed:
		l.told = append(l.told, told{w.journal.generation, e.From, e.To})
		if r.cfg.Filter == 0 && r.cfg.Durable == "" {
			r.reallyGone(e)
		}
	case session.KindSkipped:
		if r.cfg.OnMissed != session.OnMissedSkip {
			r.fail("skipped", "%d to %d were skipped", e.From, e.To)
		}
		l.told = append(l.told, told{w.journal.generation, 1, e.To}) // what a roll back brought anew is skipped, too
	case session.KindStreamReset:
		l.resets++
		l.end = e.To
		if e.Text != "rolled back" && (r.cfg.OnReset == session.OnResetFollowNew || r.snapshots()) {
			l.following, l.owed = true, len(w.journal.log)
			l.shareOwed(r)
		}
		if w.journal.generation == 1 && (r.cfg.Start != session.StartPosition && r.cfg.Start != session.StartSequence) {
			r.fail("reset", "a stream_reset of a stream that was not reset: %s", e.Text)
		}
	case session.KindSessionReplaced, session.KindSessionOpened:
		if l.following {
			l.following, l.owed = false, len(w.journal.log)
			l.shareOwed(r)
		}
	}
}

// shareOwed is for the readers of one durable: where one of them begins in a stream
// that was re-created, the others do.
func (l *ledger) shareOwed(r *reader) {
	for _, o := range r.w.readers {
		if r.cfg.Durable != "" {
			o.ledger.owed = max(o.ledger.owed, l.owed)
		}
	}
}

// reallyGone looks whether the stream holds what is told as missed.
func (r *reader) reallyGone(e *session.Event) {
	st := r.w.stream()
	if st == nil {
		return
	}
	for seq := e.From; seq <= e.To; seq++ {
		if st.Holds(seq) && r.w.journal.generation == 1 {
			r.fail("missed", "%d to %d are told as missed, but the stream holds %d", e.From, e.To, seq)
			return
		}
	}
}

func (l *ledger) ended(r *reader, err error) {
	if l.over {
		r.fail("end", "it ended twice")
		return
	}
	l.over, l.overAt, l.why = true, r.w.now, err
	if !r.mayEnd(err) {
		r.fail("ended", "the reader ended without a reason: %v", err)
	}
}

// mayEnd says whether a reader of this plan may end like that.
func (r *reader) mayEnd(err error) bool {
	c := &r.cfg
	has := func(names ...string) bool { return r.w.plan.has(names...) }
	recovery := (*session.RecoveryError)(nil)
	switch {
	case err == nil:
		return c.StopAtEnd || r.caller.over
	case errors.Is(err, session.ErrClosed):
		return r.w.lastEnd > 0
	case errors.Is(err, session.ErrStreamNotFound):
		return !c.WaitForStream && has("stream away") || c.Retry.MaxAttempts > 0 || c.Retry.TotalTimeout > 0 || c.OnError == session.OnErrorFinish
	case errors.Is(err, session.ErrStreamReset):
		return c.OnReset == session.OnResetFail && r.w.journal.generation > 1
	case errors.Is(err, session.ErrGaveUp):
		return c.Retry.MaxAttempts > 0 || c.Retry.TotalTimeout > 0
	case errors.Is(err, session.ErrConnectionClosed):
		return r.closedForGood
	case errors.Is(err, session.ErrConfig):
		return r.w.plan.Retention != 0 && c.Durable == ""
	case errors.As(err, &recovery):
		return c.OnError == session.OnErrorFinish && len(r.w.plan.Steps) > 0
	}
	return false
}

func (p *Plan) has(names ...string) bool {
	for _, s := range p.Steps {
		for _, n := range names {
			if s.Do == n {
				return true
			}
		}
	}
	return false
}
