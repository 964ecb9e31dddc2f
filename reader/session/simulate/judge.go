package simulate

import (
	"time"

	"github.com/an-open-reader/nats-reader/reader/session"
)

// Run runs a plan and looks whether every promise was kept.
func Run(p *Plan) *Failure {
	w := newWorld(p)
	return w.live()
}

func (w *world) live() *Failure {
	for _, r := range w.readers {
		r.start()
	}
	w.later(watching, call(w.watch))
	for _, s := range w.plan.Steps {
		w.run(s.At)
		if w.failed != nil {
			return w.failed
		}
		w.happen(s)
		for _, r := range w.readers {
			r.perform()
		}
	}
	w.run(w.plan.Length)
	w.trouble.swallow, w.trouble.twice, w.trouble.swap = 0, 0, 0
	w.judge()
	return w.failed
}

// watching is how often somebody looks whether a reader is deaf.
const watching = 3 * time.Second

func (w *world) watch() {
	for _, r := range w.readers {
		r.deaf()
	}
	w.later(w.now+watching, call(w.watch))
}

// wanted says whether a reader owes a message.
func (l *ledger) wanted(r *reader, i int) bool {
	e := &r.w.journal.log[i]
	if i < l.from || i < l.owed || l.following || l.from < 0 || e.rolled || e.generation != r.w.journal.generation || l.before(r, e) {
		return false
	}
	if r.cfg.Filter != 0 && r.cfg.Filter&(1<<e.subject) == 0 || l.over && e.at >= l.overAt {
		return false
	}
	if (r.cfg.Filter != 0 || r.cfg.Durable != "" || l.began >= e.generation) && e.generation > 1 && r.w.unseen() {
		return false // without a look at the stream, or a message of the one before, nothing tells that it is another one
	}
	if e.reused && (r.cfg.Durable != "" || l.nothing || r.w.plan.has(removals...)) {
		// A sequence alone does not tell what was read from what is new: a durable's
		// floor, a start that nothing was read from, a message that was removed.
		return false
	}
	if r.cfg.StopAtEnd && (l.resets == 0 && i >= l.atCall || l.resets > 0 && e.sequence > l.end) {
		return false
	}
	st := r.w.stream()
	if st == nil || !st.Holds(e.sequence) {
		return false
	}
	return !covers(l.told, e) && !covers(r.w.harmed, e)
}

// covers says that a message lies in one of some ranges.
func covers(ranges []told, e *record) bool {
	for _, t := range ranges {
		if t.from <= e.sequence && e.sequence <= t.to && t.generation == e.generation {
			return true
		}
	}
	return false
}

// before says that a message lies before a start that the stream had not reached.
func (l *ledger) before(r *reader, e *record) bool {
	return r.cfg.Start == session.StartSequence && e.sequence < r.cfg.Sequence && !r.w.journal.anew(e)
}

// unseen says that a look at the stream, or at a message of it, was denied.
func (w *world) unseen() bool {
	return w.trouble.denied[string(session.APIStreamInfo)] > 0 || w.trouble.denied[string(session.APIMessageGet)] > 0
}

func (l *ledger) has(i int) bool { return i < len(l.got) && l.got[i] }

// oldest gives the first message that is owed and was not delivered to any of the
// readers of the same consumer.
func (r *reader) oldest() (i int, ok bool) {
	l := &r.ledger
	log := r.w.journal.log
	for i := l.pace; i < len(log); i++ {
		got := l.has(i)
		if r.cfg.Durable != "" {
			for _, o := range r.w.readers {
				got = got || o.ledger.has(i)
			}
		}
		if !got && l.wanted(r, i) {
			return i, true
		}
		if got && i == l.pace {
			l.pace++
		}
	}
	return 0, false
}

// unforeseen is how long a large message is waited for that nothing tells of.
const unforeseen = 4 * time.Second

// limit is how long after the last fault a reader may be deaf in this world.
func (w *world) limit(r *reader) time.Duration {
	if w.plan.LargeSize >= 256<<10 {
		return r.cfg.limit() + unforeseen
	}
	return r.cfg.limit()
}

// deaf says that messages wait longer than a reader may need.
func (r *reader) deaf() {
	l, w := &r.ledger, r.w
	if !l.opens || l.over || l.err != nil || len(r.caller.buffer) > 0 {
		return
	}
	i, ok := r.oldest()
	if !ok {
		return
	}
	since := max(w.journal.log[i].at, w.over, l.heard)
	if w.now-since > w.limit(r) {
		e := w.journal.log[i]
		r.fail("deaf", "sequence %d (time %d), stored at %s, is not read; the last fault ended at %s, the last message came at %s; the reader is %s",
			e.sequence, e.stamp, e.at, w.over, l.heard, phases[r.m.View(w.now).Phase])
	}
}

// judge looks at a world whose faults are over.
func (w *world) judge() {
	quiet := w.calm()
	limit := time.Duration(0)
	for _, r := range w.readers {
		limit = max(limit, w.limit(r))
	}
	w.run(quiet + limit)
	if w.failed == nil {
		w.allRead("after the last fault")
	}
	w.run(w.now + 30*time.Second + w.readers[0].cfg.Inactive + 15*time.Second)
	if w.failed != nil {
		return
	}
	w.allRead("later")
	w.oneConsumer()
	w.idle()
	w.close()
}

// calm runs until the faults are over. What one sets off at its end counts, too: a
// slow link is over when all has arrived, a server that was stopped while it was frozen
// stops when it thaws.
func (w *world) calm() (since time.Duration) {
	for w.failed == nil {
		since = max(w.now, w.over)
		w.run(since + 3*wire)
		if w.over <= since {
			break
		}
	}
	return since
}

// allRead looks whether everything that the stream holds was read, and what it does
// not hold was told.
func (w *world) allRead(when string) {
	for _, r := range w.readers {
		v := r.m.View(w.now)
		l := &r.ledger
		switch {
		case l.over:
			if v.Phase != session.Done {
				r.fail("stuck", "%s: an ended reader is %s", when, phases[v.Phase])
			}
			if l.why != nil || l.err != nil {
				continue
			}
		case v.Phase != session.Reading:
			r.fail("stuck", "%s: the reader is %s, session %d, %v", when, phases[v.Phase], v.Number, v.Figures.LastError)
			return
		case r.cfg.StopAtEnd && len(r.caller.buffer) == 0 && !w.plan.busyEnd():
			r.fail("end", "%s: the end at %d was not told; cursor %d", when, l.end, v.Cursor.Sequence)
			return
		}
		if len(r.caller.buffer) > 0 && !l.over {
			continue
		}
		if i, ok := r.oldest(); ok {
			e := w.journal.log[i]
			r.fail("lost", "%s: sequence %d (time %d), stored at %s, was not read; cursor %d, %s", when, e.sequence, e.stamp, e.at, v.Cursor.Sequence, phases[v.Phase])
			return
		}
		l.untold(r)
		r.snapshotRead(when)
	}
}

// snapshotRead looks whether the newest message of each subject was read, however old
// it is.
func (r *reader) snapshotRead(when string) {
	w, l, st := r.w, &r.ledger, r.w.stream()
	follows := l.resets > 0 && r.cfg.OnReset == session.OnResetFollowNew
	if !r.snapshots() || !l.opens || l.err != nil || l.over || follows || r.cfg.OnMissed == session.OnMissedSkip || w.plan.has(rollBack) || st == nil {
		return
	}
	newest := map[int]int{}
	for i := range w.journal.log {
		if e := &w.journal.log[i]; e.generation == w.journal.generation && (r.cfg.Filter == 0 || r.cfg.Filter&(1<<e.subject) != 0) {
			newest[e.subject] = i
		}
	}
	for subject := range w.plan.SubjectsOf {
		if i, ok := newest[subject]; ok && st.Holds(w.journal.log[i].sequence) && !l.has(i) {
			r.fail("lost", "%s: sequence %d (time %d) is the newest of its subject and was not read", when, w.journal.log[i].sequence, w.journal.log[i].stamp)
		}
	}
}

// busyEnd says that a durable's end may never come: others read it, too.
func (p *Plan) busyEnd() bool { return len(p.Readers) > 1 }

// untold looks whether a reader of the whole stream told what it did not deliver.
func (l *ledger) untold(r *reader) {
	if r.cfg.Filter != 0 || r.cfg.Durable != "" || r.w.plan.has(rollBack) || l.from < 0 || l.last < 0 || r.cfg.Start == session.StartLastPerSubject {
		return
	}
	log := r.w.journal.log
	begun := log[l.last].generation == 1 // a stream that is read anew begins where it begins
	for i := l.from; i < l.last; i++ {
		e := &log[i]
		begun = begun || l.has(i) && e.generation == log[l.last].generation
		if l.has(i) || !begun || l.before(r, e) || e.rolled || e.generation != log[l.last].generation {
			continue
		}
		if !l.wasTold(e) {
			r.fail("untold", "sequence %d (time %d) was neither read nor told as missed", e.sequence, e.stamp)
			return
		}
	}
}

func (l *ledger) wasTold(e *record) bool {
	for _, t := range l.told {
		if t.from <= e.sequence && e.sequence <= t.to {
			return true
		}
	}
	return false
}

// oneConsumer looks for orphans.
func (w *world) oneConsumer() {
	if w.stream() == nil {
		return
	}
	for _, r := range w.readers {
		want := 1
		if r.cfg.Durable != "" || r.ledger.over {
			want = 0
		}
		if n := r.owned(); n != want {
			r.fail("orphans", "%d consumers of the reader are on the server, not %d", n, want)
			return
		}
	}
}

// idle looks whether a reader that has all it wants leaves the API alone. One that
// reads a part of the stream is given messages before: the first ones behind a full
// buffer have it look at what it passed over, within Expires.
func (w *world) idle() {
	if w.readers[0].cfg.Filter != 0 {
		for subject := range w.plan.SubjectsOf {
			w.publish(subject)
			w.publish(subject)
		}
		w.publish(0) // what comes next lies right behind it
		w.run(w.now + w.readers[0].cfg.Expires + time.Second)
	}
	before := make([]int, len(w.readers))
	for i, r := range w.readers {
		before[i] = r.tally.requests
	}
	w.publish(0)
	w.run(w.now + 50*time.Second)
	if w.failed != nil {
		return
	}
	for i, r := range w.readers {
		if n := r.tally.requests - before[i]; n > 0 && !r.ledger.over {
			r.fail("idle", "%d API requests while all is well", n)
			return
		}
	}
	w.allRead("at the end")
}

// close closes every reader and looks at what is left.
func (w *world) close() {
	if w.failed != nil {
		return
	}
	w.lastEnd = w.now
	for _, r := range w.readers {
		if !r.ledger.over {
			by := w.now + r.cfg.Retry.AttemptTimeout
			r.input("close within="+r.cfg.Retry.AttemptTimeout.String(), func() { r.m.Close(w.now, by) })
		}
	}
	w.run(w.now + 10*time.Second)
	if w.failed != nil {
		return
	}
	for _, r := range w.readers {
		if p := r.m.View(w.now).Phase; p != session.Done || r.tally.done != 1 {
			r.fail("close", "a closed reader is %s, done %d times", phases[p], r.tally.done)
			return
		}
		if n := r.owned(); n > 0 {
			r.fail("left behind", "a closed reader leaves %d consumers", n)
			return
		}
		for _, c := range r.conns {
			if len(c.subs) > 0 && c == r.conn && c.up.dark < never {
				r.fail("left behind", "a closed reader leaves %d subscriptions", len(c.subs))
				return
			}
		}
		if len(r.subs) > 0 {
			r.fail("left behind", "a closed reader is subscribed to %v", r.subs)
			return
		}
	}
	w.swallowsNothing()
}

// swallowsNothing looks whether a pull of a closed reader takes a durable's message.
func (w *world) swallowsNothing() {
	st := w.stream()
	if st == nil || w.readers[0].cfg.Durable == "" {
		return
	}
	c := st.Consumer(w.readers[0].cfg.Durable)
	if c == nil {
		return
	}
	if n := c.Waiting(); n > 0 {
		w.fail("left behind", "closed readers leave %d pulls on the durable", n)
	}
}
