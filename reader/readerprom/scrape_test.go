package readerprom_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/an-open-reader/nats-reader/chaos/readertest"
	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/readerprom"
)

// patience bounds every wait of a test; what is waited for comes far earlier.
const patience = 60 * time.Second

// bench is a collector in a registry.
type bench struct {
	*testing.T
	metrics  *readerprom.Collector
	registry *prometheus.Registry
}

func newBench(t *testing.T) *bench {
	b := &bench{T: t, metrics: readerprom.New(readerprom.Options{}), registry: prometheus.NewPedanticRegistry()}
	b.must(b.registry.Register(b.metrics))
	return b
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// read opens a reader that is observed, and reads with it until the test ends.
func (b *bench) read(bed *readertest.Bed, name string, cfg reader.Config) *reader.Reader {
	b.Helper()
	js, err := jetstream.New(bed.Connect())
	b.must(err)
	cfg, err = b.metrics.Observe(name, cfg)
	b.must(err)
	r, err := reader.Open(b.Context(), js, cfg)
	b.must(err)
	b.must(b.metrics.Add(name, r))
	b.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if err := r.Close(ctx); err != nil {
			b.Logf("close: %v", err)
		}
	})
	return r
}

// scrape gathers all series, as name{label=value,...}, and by them what they say.
func (b *bench) scrape() map[string]float64 {
	b.Helper()
	all, err := b.registry.Gather()
	b.must(err)
	out := map[string]float64{}
	for _, f := range all {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			series := func(end string) string { return f.GetName() + end + "{" + strings.Join(labels, ",") + "}" }
			switch f.GetType() {
			case dto.MetricType_COUNTER:
				out[series("")] = m.GetCounter().GetValue()
			case dto.MetricType_GAUGE:
				out[series("")] = m.GetGauge().GetValue()
			case dto.MetricType_HISTOGRAM:
				out[series("_count")] = float64(m.GetHistogram().GetSampleCount())
				out[series("_sum")] = m.GetHistogram().GetSampleSum()
			default:
				b.Fatalf("%s is a %s", f.GetName(), f.GetType())
			}
		}
	}
	return out
}

// eventually waits until a scrape is as wanted.
func (b *bench) eventually(what string, ok func(series map[string]float64) bool) map[string]float64 {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), patience)
	defer cancel()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		series := b.scrape()
		if ok(series) {
			return series
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			b.Fatalf("never: %s; the last scrape: %v", what, series)
		}
	}
}

// probe asks a handler.
func probe(h http.Handler) (code int, body string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	return w.Code, w.Body.String()
}
