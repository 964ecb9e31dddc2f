package readerprom_test

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/an-open-reader/nats-reader/chaos/readertest"
	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/readerprom"
)

// quick are clocks under which silence is noticed within half a second.
var quick = reader.Pull{Heartbeat: 250 * time.Millisecond}

// A reader through its life: it reads, its consumer is deleted, its link moves nothing, its
// connection is down, it is closed. Series and probes follow.
func TestReaderThroughItsLife(t *testing.T) {
	t.Parallel()
	b, bed := newBench(t), readertest.New(t, readertest.Options{})
	bed.Stream("ORDERS", "orders.>")
	bed.Publish(3)
	r := b.read(bed, "all", reader.Config{Stream: "ORDERS", Pull: quick, Retry: reader.RetryPolicy{AttemptTimeout: 500 * time.Millisecond}})
	of := func(name string) string { return "nats_reader_" + name + "{reader=all,stream=ORDERS}" }
	next := func(n int) {
		t.Helper()
		for range n {
			if _, err := r.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	next(2)
	s := b.eventually("three messages came, two were read", func(s map[string]float64) bool { return s[of("cursor_sequence")] == 3 })
	for name, want := range map[string]float64{
		of("ready"): 1, of("delivered_messages_total"): 2, of("buffered_messages"): 1, of("position_sequence"): 2, of("sessions_total"): 1,
		of("deaf_seconds"): 0, of("deaf_duration_seconds_count"): 0, of("missed_messages_total"): 0, of("orphans"): 0, of("retry_attempt"): 0,
		"nats_reader_api_requests_total{reader=all,request=consumer_create,stream=ORDERS}":      1,
		"nats_reader_sessions_replaced_total{cause=consumer_deleted,reader=all,stream=ORDERS}":  0,
		"nats_reader_api_requests_total{reader=all,request=message_get,stream=ORDERS}":          0,
		"nats_reader_state{reader=all,state=closed,stream=ORDERS}":                              0,
		"nats_reader_sessions_replaced_total{cause=connection_closed,reader=all,stream=ORDERS}": 0,
		"nats_reader_api_requests_total{reader=all,request=consumer_reset,stream=ORDERS}":       0,
		"nats_reader_sessions_replaced_total{cause=permission_denied,reader=all,stream=ORDERS}": 0,
	} {
		if got, there := s[name]; !there || got != want {
			t.Errorf("%s is %v (%v), want %v", name, got, there, want)
		}
	}
	if lag := s[of("lag_seconds")]; lag <= 0 || lag > patience.Seconds() {
		t.Errorf("one of three messages is not read yet, and the lag is %gs", lag)
	}
	if got := s[of("delivered_bytes_total")]; got == 0 || got != float64(r.Status().Bytes) {
		t.Errorf("%g bytes were delivered, and Status says %d", got, r.Status().Bytes)
	}
	next(1)
	b.eventually("nothing is left", func(s map[string]float64) bool { return s[of("lag_seconds")] == 0 })

	// The consumer is deleted: replaced at once.
	js := bed.JetStream()
	if err := js.DeleteConsumer(t.Context(), "ORDERS", r.Status().Session.Consumer); err != nil {
		t.Fatal(err)
	}
	s = b.eventually("the deleted consumer was replaced", func(s map[string]float64) bool { return s[of("sessions_total")] == 2 && s[of("ready")] == 1 })
	if got := s["nats_reader_sessions_replaced_total{cause=consumer_deleted,reader=all,stream=ORDERS}"]; got != 1 {
		t.Errorf("replaced for consumer_deleted: %g, want 1", got)
	}
	count := s[of("deaf_duration_seconds_count")]

	// Nothing moves any more: deaf, and both probes say what is so.
	undo := bed.Inject("black-hole")
	b.eventually("the reader is deaf", func(s map[string]float64) bool { return s[of("ready")] == 0 && s[of("deaf_seconds")] > 0 })
	if code, body := probe(b.metrics.Readyz()); code != http.StatusServiceUnavailable || !regexp.MustCompile(`^not ready: all: (recovering|disconnected), silent since \d{4}-\S+Z \(\S+\).*: .+\n$`).MatchString(body) {
		t.Errorf("readyz of a deaf reader: %d %q", code, body)
	}
	if code, body := probe(b.metrics.Livez()); code != http.StatusOK || !strings.HasPrefix(body, "alive: all: ") {
		t.Errorf("livez of a deaf reader: %d %q", code, body)
	}
	undo()
	s = b.eventually("the reader reads again", func(s map[string]float64) bool {
		return s[of("ready")] == 1 && s[of("deaf_seconds")] == 0 && s[of("deaf_duration_seconds_count")] > count
	})
	if longest := s[of("deaf_longest_seconds")]; longest < 0.5 || longest > s[of("deaf_duration_seconds_sum")]+1e-9 {
		t.Errorf("the longest deafness is %gs of %gs, and two heartbeats are 0.5s", longest, s[of("deaf_duration_seconds_sum")])
	}
	if code, body := probe(b.metrics.Readyz()); code != http.StatusOK || !strings.HasPrefix(body, "ready: all: ") {
		t.Errorf("readyz after the heal: %d %q", code, body)
	}

	// The server is gone.
	bed.Kill()
	b.eventually("it is disconnected", func(s map[string]float64) bool {
		return s["nats_reader_state{reader=all,state=disconnected,stream=ORDERS}"] == 1
	})
	if code, body := probe(b.metrics.Readyz()); code != http.StatusServiceUnavailable || !strings.HasPrefix(body, "not ready: all: disconnected, silent since ") {
		t.Errorf("readyz without a server: %d %q", code, body)
	}
	bed.Restart()
	b.eventually("it reads after the restart", func(s map[string]float64) bool { return s[of("ready")] == 1 })

	// Closed is neither.
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
	for _, h := range []http.Handler{b.metrics.Readyz(), b.metrics.Livez()} {
		if code, body := probe(h); code != http.StatusServiceUnavailable || !strings.HasSuffix(body, ": all: closed by its own program\n") {
			t.Errorf("a closed reader: %d %q", code, body)
		}
	}
	if got := b.scrape()["nats_reader_state{reader=all,state=closed,stream=ORDERS}"]; got != 1 {
		t.Errorf("state closed is %g", got)
	}
	b.metrics.Remove("all")
	if s := b.scrape(); len(s) != 0 {
		t.Errorf("of a reader that was removed there is left %v", s)
	}
}

// What is gathered is what Metrics says, of each type and with its words, by Prometheus' conventions.
func TestConventions(t *testing.T) {
	t.Parallel()
	b, bed := newBench(t), readertest.New(t, readertest.Options{})
	bed.Stream("ORDERS", "orders.>")
	bed.Publish(1)
	for _, name := range []string{"one", "two"} { // a lag is known once a message was handed out, or none waits
		r := b.read(bed, name, reader.Config{Stream: "ORDERS", Pull: quick})
		if _, err := r.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	problems, err := testutil.GatherAndLint(b.registry)
	b.must(err)
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	all, err := b.registry.Gather()
	b.must(err)
	gathered := map[string]string{}
	series := 0
	for _, f := range all {
		gathered[f.GetName()] = strings.ToLower(f.GetType().String()) + " " + f.GetHelp()
		for _, m := range f.GetMetric() {
			series++
			if h := m.GetHistogram(); h != nil {
				series += len(h.GetBucket()) + 2 // +Inf, and _count beside _sum
			}
			for _, l := range m.GetLabel() {
				if !slices.Contains([]string{"reader", "stream", "state", "cause", "request"}, l.GetName()) {
					t.Errorf("%s has the label %s", f.GetName(), l.GetName())
				}
			}
		}
	}
	told := map[string]string{}
	for _, m := range readerprom.Metrics() {
		told[m.Name] = m.Type + " " + m.Help
	}
	if !maps.Equal(gathered, told) {
		t.Errorf("gathered is\n%s\nMetrics tells\n%s", text(gathered), text(told))
	}
	if per := series / 2; per < 65 || per > 75 {
		t.Errorf("a reader has %d series, and doc.go says about 70", per)
	}
}

func text(m map[string]string) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&b, "%s %s\n", k, m[k])
	}
	return b.String()
}

// Every kind of request that the rules know is a series from the start.
func TestEveryRequestIsKnown(t *testing.T) {
	source, err := os.ReadFile("../session/api.go")
	if err != nil {
		t.Fatal(err)
	}
	kinds := regexp.MustCompile(`\bAPI\w+\s+API = "(\w+)"`).FindAllStringSubmatch(string(source), -1)
	if len(kinds) < 8 {
		t.Fatalf("%d kinds of requests are found in session/api.go", len(kinds))
	}
	b := newBench(t)
	b.must(b.metrics.Add("r", &still{status: reader.Status{State: reader.StateReading, Stream: "S"}}))
	s := b.scrape()
	for _, k := range kinds {
		if _, there := s["nats_reader_api_requests_total{reader=r,request="+k[1]+",stream=S}"]; !there {
			t.Errorf("request %s has no series", k[1])
		}
	}
}

// A registry refuses labels that are taken, and a collector that is there already.
func TestConstLabels(t *testing.T) {
	registry := prometheus.NewRegistry()
	if err := registry.Register(readerprom.New(readerprom.Options{ConstLabels: prometheus.Labels{"reader": "mine"}})); err == nil {
		t.Error("the label reader was taken twice")
	}
	metrics := readerprom.New(readerprom.Options{ConstLabels: prometheus.Labels{"team": "billing"}})
	if err := registry.Register(metrics); err != nil {
		t.Fatal(err)
	}
	if err := metrics.Add("r", &still{status: reader.Status{State: reader.StateIdle, Stream: "S"}}); err != nil {
		t.Fatal(err)
	}
	if err := testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP nats_reader_ready 1 while the reader reads; 0 while it is opening, recovering, disconnected or closed.
# TYPE nats_reader_ready gauge
nats_reader_ready{reader="r",stream="S",team="billing"} 1
`), "nats_reader_ready"); err != nil {
		t.Error(err)
	}
	if err := registry.Register(metrics); err == nil {
		t.Error("it was registered twice")
	}
}
