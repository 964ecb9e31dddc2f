//go:build long

package doctor_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader/doctor"
)

// 10,000 consumers over 20 streams of one server are looked at, and judged, within
// a minute, and every hundredth that nobody pulls from is told.
func TestTenThousandConsumers(t *testing.T) {
	const streams, each = 20, 500
	w := newWard(t)
	var all sync.WaitGroup
	for i := range streams {
		name := fmt.Sprintf("M%d", i)
		s, err := w.js.CreateStream(w.ctx, jetstream.StreamConfig{Name: name, Subjects: []string{fmt.Sprintf("m%d.>", i)}, Storage: jetstream.MemoryStorage})
		w.must(err)
		_, err = w.js.Publish(w.ctx, fmt.Sprintf("m%d.a", i), []byte("x"))
		w.must(err)
		all.Go(func() {
			for j := range each {
				cfg := jetstream.ConsumerConfig{Durable: fmt.Sprintf("C%d", j), AckPolicy: jetstream.AckExplicitPolicy, MemoryStorage: true, DeliverPolicy: jetstream.DeliverNewPolicy}
				if j%100 == 0 {
					cfg.DeliverPolicy = jetstream.DeliverAllPolicy
				}
				if _, err := s.CreateConsumer(w.ctx, cfg); err != nil {
					t.Errorf("%s: %v", cfg.Durable, err)
					return
				}
			}
		})
	}
	all.Wait()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := time.Now()
	f, r := w.examine(doctor.Options{}, doctor.JudgeOptions{})
	took := time.Since(began)
	runtime.GC()
	runtime.ReadMemStats(&after)
	t.Logf("%d consumers in %s, %d MiB of facts, %d findings", len(f.Consumers), took, (after.HeapAlloc-before.HeapAlloc)>>20, len(r.Findings))
	if len(f.Consumers) != streams*each || len(r.Findings) != streams*each/100 {
		t.Errorf("%d consumers, %d findings", len(f.Consumers), len(r.Findings))
	}
	if took > time.Minute {
		t.Errorf("it took %s", took)
	}
	runtime.KeepAlive(f)
}
