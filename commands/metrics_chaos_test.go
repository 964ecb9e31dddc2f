package commands

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/plan"
	"github.com/an-open-reader/nats-reader/chaos/result"
	"github.com/an-open-reader/nats-reader/chaos/run"
	"github.com/an-open-reader/nats-reader/chaos/target"
	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

// A run from its begin to its end, beside another of the same plan.
func TestRunMetrics(t *testing.T) {
	ours, err := target.Parse("reader")
	if err != nil {
		t.Fatal(err)
	}
	j := job{plan: plan.Plan{Name: "p", Steps: []plan.Step{{Fault: "black-hole"}, {Fault: "delete-consumer"}}}, target: ours}
	m := newMetrics("1.2.3")
	first, second := m.begins(j), m.begins(j)
	if first.name != "p" || second.name != "p#2" {
		t.Errorf("the readers are %q and %q", first.name, second.name)
	}
	fires := func(w *runWatch, text string, phase chaos.Phase) {
		t.Helper()
		spec, err := chaos.ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		w.progress(run.Progress{Fault: &chaos.Firing{Spec: spec, Phase: phase}})
	}
	for _, w := range []*runWatch{first, second} {
		w.progress(run.Progress{Phase: run.Steady, Begins: true})
		w.progress(run.Progress{Phase: run.Inject, Begins: true})
		w.progress(run.Progress{Figures: &run.Figures{Acknowledged: 10, Read: 8}})
		fires(w, "black-hole", chaos.PhaseFired)
		fires(w, "delete-consumer", chaos.PhaseFired) // acts once
	}
	fires(first, "black-hole", chaos.PhaseEnded)
	status := reader.Status{State: reader.StateReading, Stream: "CHAOS", LastError: "at nats://ann:secret@host"}
	second.opened(func() reader.Status { return status })
	second.progress(run.Progress{Event: &reader.Event{Kind: session.KindSessionReplaced, Session: 2, Deaf: time.Second}})
	problems, err := testutil.GatherAndLint(m.registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "nats_reader_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
	compare := func(want string, names ...string) {
		t.Helper()
		if err := testutil.GatherAndCompare(prometheus.Gatherers{m.registry}, strings.NewReader(want), names...); err != nil {
			t.Error(err)
		}
	}
	compare(`
# HELP nats_reader_chaos_faults_in_force Faults that act at the moment.
# TYPE nats_reader_chaos_faults_in_force gauge
nats_reader_chaos_faults_in_force{plan="p",target="reader"} 1
# HELP nats_reader_chaos_faults_total Faults of the plan that fired, ended or failed.
# TYPE nats_reader_chaos_faults_total counter
nats_reader_chaos_faults_total{fault="black-hole",plan="p",step="ended",target="reader"} 1
nats_reader_chaos_faults_total{fault="black-hole",plan="p",step="failed",target="reader"} 0
nats_reader_chaos_faults_total{fault="black-hole",plan="p",step="fired",target="reader"} 2
nats_reader_chaos_faults_total{fault="delete-consumer",plan="p",step="ended",target="reader"} 0
nats_reader_chaos_faults_total{fault="delete-consumer",plan="p",step="failed",target="reader"} 0
nats_reader_chaos_faults_total{fault="delete-consumer",plan="p",step="fired",target="reader"} 2
# HELP nats_reader_chaos_read_messages_total Messages that the target has handed out.
# TYPE nats_reader_chaos_read_messages_total counter
nats_reader_chaos_read_messages_total{plan="p",target="reader"} 16
# HELP nats_reader_deaf_longest_seconds The longest it has been deaf so far, this time included.
# TYPE nats_reader_deaf_longest_seconds gauge
nats_reader_deaf_longest_seconds{reader="p#2",stream="CHAOS"} 1
`, "nats_reader_chaos_faults_in_force", "nats_reader_chaos_faults_total", "nats_reader_chaos_read_messages_total", "nats_reader_deaf_longest_seconds")

	// One that ends by itself says why, without secrets.
	status.State = reader.StateClosed
	second.progress(run.Progress{Event: &reader.Event{Kind: session.KindFailed, Err: errors.New("gave up on nats://ann:secret@host")}})
	if h := m.readers.Health(); len(h) != 2 || h[1].Reader != "p#2" || h[1].Text != "closed: gave up on nats://xxxxx@host" {
		t.Errorf("health: %+v", h)
	}
	second.over(result.Run{Verdict: oracle.Verdict{Finding: oracle.Broken, Acknowledged: 20, Delivered: 18, Lost: 2, Sessions: 3, LongestDeaf: 5 * time.Second}})
	first.over(result.Run{Verdict: oracle.Verdict{Finding: oracle.Held, Acknowledged: 20, Delivered: 20, Sessions: 2, LongestDeaf: 4 * time.Second}})
	compare(`
# HELP nats_reader_chaos_faults_in_force Faults that act at the moment.
# TYPE nats_reader_chaos_faults_in_force gauge
nats_reader_chaos_faults_in_force{plan="p",target="reader"} 0
# HELP nats_reader_chaos_longest_deaf_seconds The longest that a target was deaf by its own events, of runs that were judged.
# TYPE nats_reader_chaos_longest_deaf_seconds gauge
nats_reader_chaos_longest_deaf_seconds{plan="p",target="reader"} 5
# HELP nats_reader_chaos_lost_messages_total Messages that were lost, of runs that were judged.
# TYPE nats_reader_chaos_lost_messages_total counter
nats_reader_chaos_lost_messages_total{plan="p",target="reader"} 2
# HELP nats_reader_chaos_read_messages_total Messages that the target has handed out.
# TYPE nats_reader_chaos_read_messages_total counter
nats_reader_chaos_read_messages_total{plan="p",target="reader"} 38
# HELP nats_reader_chaos_sessions_total Sessions of the target, of runs that were judged; of one that tells none, 0.
# TYPE nats_reader_chaos_sessions_total counter
nats_reader_chaos_sessions_total{plan="p",target="reader"} 5
# HELP nats_reader_chaos_verdicts_total Runs that were judged, by what was found.
# TYPE nats_reader_chaos_verdicts_total counter
nats_reader_chaos_verdicts_total{finding="broken",plan="p",target="reader"} 1
nats_reader_chaos_verdicts_total{finding="held",plan="p",target="reader"} 1
nats_reader_chaos_verdicts_total{finding="unknown",plan="p",target="reader"} 0
`, "nats_reader_chaos_faults_in_force", "nats_reader_chaos_longest_deaf_seconds", "nats_reader_chaos_lost_messages_total",
		"nats_reader_chaos_read_messages_total", "nats_reader_chaos_sessions_total", "nats_reader_chaos_verdicts_total")
	if h := m.readers.Health(); len(h) != 0 {
		t.Errorf("left: %+v", h)
	}
	if again := m.begins(j); again.name != "p" {
		t.Errorf("the next is called %q", again.name)
	}
}

// What an address is.
func TestMetricsAddress(t *testing.T) {
	for text, want := range map[string]string{
		":9464": "127.0.0.1:9464", "9464": "127.0.0.1:9464", "0": "127.0.0.1:0", "localhost:1": "localhost:1", "[::1]:80": "[::1]:80", "0.0.0.0:9464": "0.0.0.0:9464",
	} {
		if got, err := metricsAddress(text); got != want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", ":", "host", "::1:80", "[::1]", ":65536", ":-1", ":+1", ":http", "a/b:1", "u@h:1", "tcp://h:1", "h:1:2"} {
		if got, err := metricsAddress(text); err == nil {
			t.Errorf("%q is taken for %q", text, got)
		}
	}
}
