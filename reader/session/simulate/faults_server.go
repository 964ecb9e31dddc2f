package simulate

import (
	"time"

	"github.com/an-open-reader/nats-reader/reader/session/simulate/model"
)

// serverFaults are what happens to the server's process and to consumers.
var serverFaults = []fault{
	{"delete the consumer", func(w *world, r *reader, _ time.Duration, _ int) {
		if c := r.consumer(); c != nil {
			w.stream().Drop(c.Name)
		}
	}},
	{"delete it again and again", func(w *world, r *reader, d time.Duration, _ int) {
		for at := w.now; at < w.now+d; at += 100 * time.Millisecond {
			w.At(at, call(func() {
				if c := r.consumer(); c != nil {
					w.stream().Drop(c.Name)
				}
			}))
		}
	}},
	{"freeze the server", func(w *world, _ *reader, d time.Duration, _ int) { w.trouble.frozen = max(w.trouble.frozen, w.now+d) }},
	{"stop the server", func(w *world, _ *reader, d time.Duration, _ int) {
		w.At(w.now, call(func() {
			w.endPulls(model.Status{Code: 409, Text: "Server Shutdown", HasPending: true})
			w.At(w.now+2*wire, call(func() { w.restart(d) }))
		}))
	}},
	{"kill the server", func(w *world, _ *reader, d time.Duration, n int) {
		w.At(w.now, call(func() {
			w.restart(d)
			if st := w.stream(); st != nil {
				for _, c := range st.Consumers() {
					c.SetBack(uint64(n % 6))
				}
			}
		}))
	}},
	{"leadership change", func(w *world, _ *reader, _ time.Duration, n int) {
		if n%4 == 0 {
			w.endPulls(model.Status{}) // a consumer that was scaled loses its pulls silently
			return
		}
		w.endPulls(model.Status{Code: 409, Text: "Leadership Change"})
	}},
	{"the consumer's node is down", func(w *world, r *reader, d time.Duration, _ int) {
		c := r.consumer()
		if c == nil || r.cfg.Name != "" || r.cfg.Durable != "" {
			return
		}
		c.Away = true
		c.EndPulls(model.Status{})
		w.At(w.now+d, call(func() { c.Away = false }))
	}},
	{"pause the consumer", func(w *world, r *reader, d time.Duration, _ int) {
		if c := r.consumer(); c != nil && w.server.Pauses {
			c.Pause(w.now + d)
		}
	}},
	{"no slot", func(w *world, r *reader, d time.Duration, n int) {
		w.trouble.full = slots - n%2
		w.later(w.now+d, call(func() { w.trouble.full = 0 }))
	}},
}

// endPulls ends every waiting pull with a status.
func (w *world) endPulls(st model.Status) {
	if s := w.stream(); s != nil {
		for _, c := range s.Consumers() {
			c.EndPulls(st)
		}
	}
}

// restart ends every connection; the server is back after d.
func (w *world) restart(d time.Duration) {
	w.trouble.down = max(w.trouble.down, w.now+d)
	w.fault(w.now + d)
	w.server.Restart()
	for _, r := range w.readers {
		for len(r.conns) > 0 {
			r.drop(r.conns[0])
		}
		r.lose(true, d)
	}
}

// streamFaults are what happens to the stream.
var streamFaults = []fault{
	{"purge", func(w *world, _ *reader, _ time.Duration, n int) {
		if st := w.stream(); st != nil {
			st.Purge(st.First() + uint64(n%20))
		}
	}},
	{"purge beyond the end", func(w *world, _ *reader, _ time.Duration, n int) {
		if st := w.stream(); st != nil {
			st.Purge(st.Last() + 1 + uint64(n%10))
		}
	}},
	{purgeSubject, func(w *world, _ *reader, _ time.Duration, n int) {
		st := w.stream()
		if st == nil {
			return
		}
		subject, below, keep := n%w.plan.SubjectsOf, uint64(0), 0
		switch n / 4 % 4 {
		case 0:
			below = st.First() + 1 + uint64(n/16%20)
		case 1:
			keep = 1 + n/16%3
		}
		passed, forgotten := st.PurgeSubject(subject, below, keep)
		if w.plan.disturbed() {
			// What a durable passes over shows by its count, if all that it sent has come.
			forgotten = append(forgotten, passed...)
		}
		for _, seq := range forgotten {
			w.harmed = append(w.harmed, told{w.journal.generation, seq, seq}) // nobody can have it sent again
		}
	}},
	{"remove the message at the cursor", func(w *world, r *reader, _ time.Duration, _ int) {
		if st := w.stream(); st != nil {
			st.Remove(r.m.View(w.now).Cursor.Sequence)
		}
	}},
	{"remove a message", func(w *world, _ *reader, _ time.Duration, n int) {
		if st := w.stream(); st != nil && st.Last() > 0 {
			st.Remove(st.Last() - uint64(n)%min(st.Last(), 5))
		}
	}},
	{"re-create the stream, lower", func(w *world, _ *reader, _ time.Duration, _ int) { w.recreate(0) }},
	{"re-create the stream, beyond", func(w *world, r *reader, _ time.Duration, n int) {
		w.recreate(int(r.m.View(w.now).Cursor.Sequence) + n%10)
	}},
	{"stream away", func(w *world, _ *reader, d time.Duration, _ int) {
		w.server.DeleteStream(streamName)
		w.journal.generation++
		w.At(w.now+d, call(func() {
			if w.stream() == nil {
				w.recreate(0)
			}
		}))
	}},
	{rollBack, func(w *world, _ *reader, d time.Duration, n int) {
		st := w.stream()
		if st == nil {
			return
		}
		// A store is restored while the server is down.
		w.restart(min(d, time.Second))
		st.RollBack(uint64(1 + n%8))
		w.journal.rollBack(st.Last())
		w.journal.generation++
		w.journal.carry(st)
		for _, r := range w.readers {
			r.ledger.carry(w.journal.generation)
		}
		for range n / 8 % 12 {
			w.publish(w.draw.IntN(w.plan.SubjectsOf))
		}
	}},
}

var removals = []string{"remove the message at the cursor", "remove a message", purgeSubject}

const (
	rollBack     = "roll the stream back"
	purgeSubject = "purge a subject"
)

// recreate makes the stream anew, with messages of its own.
func (w *world) recreate(messages int) {
	w.server.DeleteStream(streamName)
	w.journal.generation++
	if w.journal.another == 0 {
		w.journal.another = w.journal.generation
	}
	st := &model.Stream{Name: streamName, Created: createdAt + int64(w.journal.generation), Retention: w.plan.Retention, MaxMessages: w.plan.MaxMessages, MaxInactive: w.plan.MaxInactive}
	w.server.AddStream(st, 1)
	for range messages {
		w.publish(w.draw.IntN(w.plan.SubjectsOf))
	}
}
