package fleet

import (
	"context"
	"slices"
)

// steady watches idle readers.
func (f *fleet) steady(ctx context.Context, r *Result) (err error) {
	r.Idle, err = f.quiet(ctx, func() error { return f.watchFor(ctx, r, func() uint64 { return 0 }) })
	if err != nil {
		return err
	}
	r.Trends = TrendsOf(r.Samples, 0)
	return nil
}

// Trend is what a series did between its first and its last third.
type Trend struct {
	What    string  `json:"what"`
	First   float64 `json:"first"` // median of the first third, after the warm-up
	Last    float64 `json:"last"`
	Allowed float64 `json:"allowed"` // what may be added
	Grows   bool    `json:"grows"`
}

// tolerance is how much a series may gain and count as flat: the larger of a share of what it was and a fixed amount.
type tolerance struct {
	share float64
	fixed float64
}

// The names of the series that are bytes.
const (
	seriesMemory   = "heap and stacks"
	seriesResident = "rss"
)

// warmUp is the share of the samples, from the first on, that are not judged: buffers, pools and the heap's own size find
// their place.
const warmUp = 0.2

// LeastSamples is how many samples can be judged: three in each third behind the warm-up.
const LeastSamples = 12

// series are what is judged, with its tolerance. Memory breathes with what is buffered at the moment and with the collector's
// pace; a goroutine may be on its way; consumers and subscriptions of readers that are not replaced are exact.
var series = []struct {
	what  string
	value func(Sample) (v float64, known bool)
	tolerance
}{
	{seriesMemory, func(s Sample) (float64, bool) { return float64(s.Memory), true }, tolerance{0.10, 2 << 20}},
	{seriesResident, func(s Sample) (float64, bool) { return float64(s.Resident), s.Resident > 0 }, tolerance{0.10, 16 << 20}},
	{"goroutines", func(s Sample) (float64, bool) { return float64(s.Goroutines), true }, tolerance{0.01, 4}},
	{"consumers", func(s Sample) (float64, bool) { return float64(s.Consumers), true }, tolerance{}},
	{"subscriptions", func(s Sample) (float64, bool) { return float64(s.Subscriptions), true }, tolerance{}},
	{"subscriptions on the server", func(s Sample) (float64, bool) { return float64(s.OnServer), s.OnServer >= 0 }, tolerance{}},
}

// TrendsOf judges samples in their order: of what is behind the warm-up, the median of the last third may exceed that of the
// first by the tolerance of its series at most. A series that is not known throughout is left out. Fewer than LeastSamples
// give none. buffered is how many bytes readers may hold more or less from one moment to the next: memory may differ by so
// much as well.
func TrendsOf(samples []Sample, buffered int) []Trend {
	if len(samples) < LeastSamples {
		return nil
	}
	judged := samples[int(float64(len(samples))*warmUp):]
	third := len(judged) / 3
	var all []Trend
	for _, s := range series {
		values := make([]float64, 0, len(judged))
		for _, sample := range judged {
			if v, known := s.value(sample); known {
				values = append(values, v)
			}
		}
		if len(values) < len(judged) {
			continue
		}
		t := Trend{What: s.what, First: median(values[:third]), Last: median(values[len(values)-third:])}
		t.Allowed = max(s.share*t.First, s.fixed)
		if s.what == seriesMemory {
			t.Allowed += float64(buffered)
		}
		t.Grows = t.Last > t.First+t.Allowed
		all = append(all, t)
	}
	return all
}

// median is the middle of values, or halfway between the two in the middle.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}
