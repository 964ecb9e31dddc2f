package simulate

import (
	"time"

	"github.com/an-open-reader/nats-reader/reader/session/simulate/model"
)

// fault is something that may happen. It lasts for d, n is a draw of its own.
type fault struct {
	name string
	do   func(w *world, r *reader, d time.Duration, n int)
}

var (
	faults []fault
	drawn  int // of them, that a seed may draw: all but a test's own
)

func init() {
	for _, fs := range [][]fault{wireFaults, requestFaults, serverFaults, streamFaults, callerFaults} {
		faults = append(faults, fs...)
	}
	drawn = len(faults)
}

// happen does one step.
func (w *world) happen(s Step) {
	w.writeRemark(s)
	if s.Do == publishing {
		n := s.N
		w.At(w.now, call(func() {
			for range n {
				w.publish(w.draw.IntN(w.plan.SubjectsOf))
			}
		}))
		return
	}
	for _, f := range faults {
		if f.name == s.Do {
			w.fault(w.now + s.For)
			f.do(w, w.readers[s.Reader], s.For, s.N)
			return
		}
	}
	panic("simulate: unknown step " + s.Do)
}

// consumer gives the consumer of the session in use, nil if the server has none.
func (r *reader) consumer() *model.Consumer {
	if st := r.w.stream(); st != nil {
		return st.Consumer(r.m.View(r.w.now).Consumer)
	}
	return nil
}

// callerFaults are what the program around a reader does.
var callerFaults = []fault{
	{"stall the caller", func(w *world, r *reader, d time.Duration, n int) {
		if n%3 == 0 {
			d *= 10
		}
		r.caller.stalled = w.now + d
		w.fault(w.now + d)
	}},
	{"replace", func(w *world, r *reader, _ time.Duration, n int) {
		r.tickets++
		ticket := r.tickets
		r.input("replace "+itoa(ticket), func() { r.m.Replace(w.now, ticket) })
		if n%3 == 0 {
			w.later(w.now+time.Duration(n%40)*100*time.Microsecond, call(func() {
				r.input("unwish "+itoa(ticket), func() { r.m.Unwish(w.now, ticket) })
			}))
		}
	}},
}
