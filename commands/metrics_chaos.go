package commands

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/run"
	"github.com/an-open-reader/nats-reader/reader/readerprom"
)

// runMetric is one metric of runs.
type runMetric struct {
	readerprom.Metric
	desc *prometheus.Desc
}

func newRunMetric(name, kind, help string, labels ...string) runMetric {
	labels = append([]string{"plan", "target"}, labels...)
	name = "nats_reader_chaos_" + name
	return runMetric{readerprom.Metric{Name: name, Type: kind, Labels: labels, Help: help}, prometheus.NewDesc(name, help, labels, nil)}
}

// The metrics of chaos run.
var (
	runsByPhase   = newRunMetric("runs", "gauge", "Runs of a plan that are in a phase.", "phase")
	runVerdicts   = newRunMetric("verdicts_total", "counter", "Runs that were judged, by what was found.", "finding")
	runFaults     = newRunMetric("faults_total", "counter", "Faults of the plan that fired, ended or failed.", "fault", "step")
	runInForce    = newRunMetric("faults_in_force", "gauge", "Faults that act at the moment.")
	runStored     = newRunMetric("acknowledged_messages_total", "counter", "Messages that the server has stored.")
	runRead       = newRunMetric("read_messages_total", "counter", "Messages that the target has handed out.")
	runSessions   = newRunMetric("sessions_total", "counter", "Sessions of the target, of runs that were judged; of one that tells none, 0.")
	runLost       = newRunMetric("lost_messages_total", "counter", "Messages that were lost, of runs that were judged.")
	runDuplicated = newRunMetric("duplicated_messages_total", "counter", "Messages that were handed out again, of runs that were judged.")
	runOutOfOrder = newRunMetric("out_of_order_messages_total", "counter", "Messages that were handed out late, of runs that were judged.")
	runDeaf       = newRunMetric("longest_deaf_seconds", "gauge", "The longest that a target was deaf by its own events, of runs that were judged.")
	runSilence    = newRunMetric("longest_silence_seconds", "gauge", "The longest that nothing was handed out while stored messages waited, of runs that were judged.")
)

func allRunMetrics() []runMetric {
	return []runMetric{
		runsByPhase, runVerdicts, runFaults, runInForce, runStored, runRead, runSessions, runLost, runDuplicated, runOutOfOrder, runDeaf, runSilence,
	}
}

// runMetrics shows the runs of a command. What is the same plan with the same target is one.
type runMetrics struct {
	mu      sync.Mutex
	order   []job2
	runs    map[job2]*runFigures
	reading map[string]bool // names of the readers of runs
}

// runFigures are those of a plan with a target.
type runFigures struct {
	phases       map[run.Phase]int
	verdicts     map[oracle.Finding]int
	faults       map[faultStep]int
	inForce      int
	stored, read uint64
	total        oracle.Verdict // sums, and the longest
}

type faultStep struct {
	fault string
	step  chaos.Phase
}

var findings = []oracle.Finding{oracle.Held, oracle.Broken, oracle.Unknown}

func newRunMetrics() *runMetrics {
	return &runMetrics{runs: map[job2]*runFigures{}, reading: map[string]bool{}}
}

// Describe sends every metric.
func (m *runMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range allRunMetrics() {
		to <- d.desc
	}
}

// Collect sends what is known by now.
func (m *runMetrics) Collect(to chan<- prometheus.Metric) {
	var found []prometheus.Metric
	m.mu.Lock()
	for _, key := range m.order {
		found = append(found, m.runs[key].series(key)...)
	}
	m.mu.Unlock()
	for _, f := range found {
		to <- f
	}
}

func (f *runFigures) series(key job2) (all []prometheus.Metric) {
	put := func(m runMetric, v float64, own ...string) {
		kind := prometheus.GaugeValue
		if m.Type == "counter" {
			kind = prometheus.CounterValue
		}
		all = append(all, prometheus.MustNewConstMetric(m.desc, kind, v, append([]string{key.plan, key.target}, own...)...))
	}
	for _, phase := range run.Phases() {
		put(runsByPhase, float64(f.phases[phase]), string(phase))
	}
	for _, finding := range findings {
		put(runVerdicts, float64(f.verdicts[finding]), string(finding))
	}
	for step, n := range f.faults {
		put(runFaults, float64(n), step.fault, string(step.step))
	}
	put(runInForce, float64(f.inForce))
	put(runStored, float64(f.stored))
	put(runRead, float64(f.read))
	put(runSessions, float64(f.total.Sessions))
	put(runLost, float64(f.total.Lost))
	put(runDuplicated, float64(f.total.Duplicated))
	put(runOutOfOrder, float64(f.total.OutOfOrder))
	put(runDeaf, f.total.LongestDeaf.Seconds())
	put(runSilence, f.total.LongestSilence.Seconds())
	return all
}
