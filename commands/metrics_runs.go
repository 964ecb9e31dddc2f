package commands

import (
	"fmt"
	"maps"
	"sync/atomic"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/result"
	"github.com/an-open-reader/nats-reader/chaos/run"
	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

// runWatch follows one run for the metrics; nil: there are none. The reader of a run, where it
// is ours, is there from the begin of the run to its end.
type runWatch struct {
	metrics *metrics
	figures *runFigures
	name    string             // of its reader; "": it is not ours
	follow  func(reader.Event) // of its events
	ended   atomic.Pointer[reader.Event]

	// Under the lock of the metrics.
	phase  run.Phase // "": not begun
	acting map[string]int
	told   run.Figures
}

// begins makes room for a run.
func (m *metrics) begins(j job) *runWatch {
	if m == nil {
		return nil
	}
	w := &runWatch{metrics: m, acting: map[string]int{}, figures: m.runs.figuresOf(j)}
	if !j.target.Traits().Ours {
		return w
	}
	w.name = m.runs.take(j.plan.Name)
	cfg, err := m.readers.Observe(w.name, reader.Config{})
	if err != nil { // the name is taken by nobody else
		panic(err)
	}
	w.follow = cfg.Observer
	return w
}

// figuresOf are those of a plan with a target, from the first run on.
func (m *runMetrics) figuresOf(j job) *runFigures {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := job2{j.plan.Name, j.target.Name()}
	if f := m.runs[key]; f != nil {
		return f
	}
	f := &runFigures{phases: map[run.Phase]int{}, verdicts: map[oracle.Finding]int{}, faults: map[faultStep]int{}}
	for _, s := range j.plan.Steps {
		if spec, err := s.Spec(); err == nil {
			for _, step := range []chaos.Phase{chaos.PhaseFired, chaos.PhaseEnded, chaos.PhaseFailed} {
				f.faults[faultStep{spec.Name, step}] = 0
			}
		}
	}
	m.runs[key] = f
	m.order = append(m.order, key)
	return f
}

// take gives a reader the name of its plan, or one that is free where several run.
func (m *runMetrics) take(plan string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	name := plan
	for n := 2; m.reading[name]; n++ {
		name = fmt.Sprintf("%s#%d", plan, n)
	}
	m.reading[name] = true
	return name
}

// opened shows the reader of a run.
func (w *runWatch) opened(status func() reader.Status) {
	if w == nil || w.name == "" {
		return
	}
	if err := w.metrics.readers.Add(w.name, ranReader{w, status}); err != nil { // it was given the name
		panic(err)
	}
}

// progress takes what a run tells.
func (w *runWatch) progress(p run.Progress) {
	if w == nil {
		return
	}
	if p.Event != nil && w.follow != nil {
		if k := p.Event.Kind; k == session.KindClosed || k == session.KindFailed {
			w.ended.Store(p.Event)
		}
		w.follow(withoutSecrets(*p.Event))
	}
	w.metrics.runs.mu.Lock()
	defer w.metrics.runs.mu.Unlock()
	switch {
	case p.Begins:
		w.enter(p.Phase)
	case p.Fault != nil:
		w.fault(*p.Fault)
	case p.Figures != nil:
		w.reached(p.Figures.Acknowledged, p.Figures.Read)
	}
}

// enter moves the run to a phase; "": it is over.
func (w *runWatch) enter(phase run.Phase) {
	if w.phase != "" {
		w.figures.phases[w.phase]--
	}
	if w.phase = phase; phase != "" {
		w.figures.phases[phase]++
	}
}

func (w *runWatch) fault(f chaos.Firing) {
	w.figures.faults[faultStep{f.Spec.Name, f.Phase}]++
	name := f.Spec.Fault()
	entry, _ := chaos.FindFault(f.Spec.Name)
	switch {
	case f.Phase == chaos.PhaseFired && !entry.Once:
		w.acting[name]++
		w.figures.inForce++
	case f.Phase != chaos.PhaseFired && w.acting[name] > 0:
		w.acting[name]--
		w.figures.inForce--
	}
}

// reached counts how far the run has come since it was told last.
func (w *runWatch) reached(stored, read uint64) {
	w.figures.stored += max(stored, w.told.Acknowledged) - w.told.Acknowledged
	w.figures.read += max(read, w.told.Read) - w.told.Read
	w.told = run.Figures{Acknowledged: max(stored, w.told.Acknowledged), Read: max(read, w.told.Read)}
}

// over takes what became of a run.
func (w *runWatch) over(r result.Run) {
	if w == nil {
		return
	}
	if w.name != "" {
		w.metrics.readers.Remove(w.name)
	}
	w.metrics.runs.mu.Lock()
	defer w.metrics.runs.mu.Unlock()
	delete(w.metrics.runs.reading, w.name)
	w.enter("")
	for name := range maps.Keys(w.acting) {
		w.figures.inForce -= w.acting[name]
		w.acting[name] = 0
	}
	v, sum := r.Verdict, &w.figures.total
	w.reached(v.Acknowledged, v.Delivered)
	w.figures.verdicts[v.Finding]++
	sum.Sessions += v.Sessions
	sum.Lost += v.Lost
	sum.Duplicated += v.Duplicated
	sum.OutOfOrder += v.OutOfOrder
	sum.LongestDeaf = max(sum.LongestDeaf, v.LongestDeaf)
	sum.LongestSilence = max(sum.LongestSilence, v.LongestSilence)
}

// ranReader is the reader of a run, of which its status and its events are known.
type ranReader struct {
	watch  *runWatch
	status func() reader.Status
}

func (r ranReader) Status() reader.Status {
	s := r.status()
	s.LastError = redact(s.LastError)
	return s
}

func (ranReader) Position() reader.Position { return reader.Position{} }

func (r ranReader) Err() error {
	switch e := r.watch.ended.Load(); {
	case e == nil:
		return nil
	case e.Kind == session.KindFailed:
		return withoutSecret(e.Err)
	default:
		return reader.ErrClosed
	}
}
