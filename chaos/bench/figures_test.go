package bench

import (
	"math"
	"slices"
	"testing"
	"time"
)

// rounds are readings of 1000 messages that took so many milliseconds, one a round; the CPU is half of it. 0: a reading
// that did not come to its end.
func rounds(milliseconds ...int) (all []Reading) {
	for i, ms := range milliseconds {
		took := time.Duration(ms) * time.Millisecond
		server := took / 4
		r := Reading{
			Round: i + 1, Messages: 1000, Took: took, CPU: took / 2, ServerCPU: &server,
			Allocations: 4000 + uint64(ms), Allocated: 300_000, Wire: 250_000,
		}
		if ms == 0 {
			r.Messages, r.Error = 3, "it did not come to the last message"
		}
		all = append(all, r)
	}
	return all
}

func near(t *testing.T, what string, got, want Spread) {
	t.Helper()
	for _, pair := range [][2]float64{{got.Median, want.Median}, {got.Min, want.Min}, {got.Max, want.Max}} {
		if math.Abs(pair[0]-pair[1]) > 1e-9*max(1, math.Abs(pair[1])) {
			t.Errorf("%s: %+v, want %+v", what, got, want)
			return
		}
	}
}

func TestFigures(t *testing.T) {
	f := figuresOf(rounds(100, 400, 0, 200), Load{Size: 125, Count: 1000})
	near(t, "rate", f.Rate, Spread{5000, 2500, 10_000})
	near(t, "volume", f.Volume, Spread{0.625, 0.3125, 1.25})
	near(t, "CPU", f.CPU, Spread{100_000, 50_000, 200_000})
	near(t, "CPU of the server", *f.ServerCPU, Spread{50_000, 25_000, 100_000})
	near(t, "allocations", f.Allocations, Spread{4.2, 4.1, 4.4})
	near(t, "allocated", f.Allocated, Spread{300, 300, 300})
	near(t, "wire", f.Wire, Spread{250, 250, 250})
	near(t, "wire ratio", f.WireRatio, Spread{2, 2, 2})
	near(t, "seconds", f.Seconds, Spread{0.2, 0.1, 0.4})
}

func TestFiguresWithoutTheServer(t *testing.T) {
	all := rounds(100, 200)
	all[1].ServerCPU = nil
	if f := figuresOf(all, Load{Size: 8, Count: 1000}); f.ServerCPU != nil {
		t.Errorf("%+v of a server that was not measured throughout", f.ServerCPU)
	}
	if f := figuresOf(nil, Load{Size: 8, Count: 1000}); f.ServerCPU != nil || f.Rate != (Spread{}) {
		t.Errorf("%+v of nothing", f)
	}
}

// A ratio is that of two readings of one round: where the machine was slow both were.
func TestRatiosAreThoseOfARound(t *testing.T) {
	s := Series{Size: 8, Count: 1000, Entries: []Entry{
		{Contestant: *find("next"), Readings: rounds(100, 1000, 0, 300)},
		{Contestant: *find("consume"), Readings: rounds(200, 2000, 100, 300, 100)},
		{Contestant: *find("fetch")},
	}}
	s.sum([]string{"consume", "next"})
	ours, base := s.Entries[0].Ratios, s.Entries[1].Ratios
	if len(ours) != 1 || ours[0].Base != "consume" || ours[0].Rounds != 3 || len(base) != 1 || base[0].Base != "next" {
		t.Fatalf("%+v, %+v", ours, base)
	}
	near(t, "rate", ours[0].Rate, Spread{2, 1, 2})
	near(t, "CPU", ours[0].CPU, Spread{0.5, 0.5, 1})
	near(t, "rate of the other", base[0].Rate, Spread{0.5, 0.5, 1})
	for _, r := range s.Entries[2].Ratios {
		if r.Rounds != 0 || r.Rate != (Spread{}) {
			t.Errorf("%+v of nothing", r)
		}
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   Spread
	}{{nil, Spread{}}, {[]float64{3}, Spread{3, 3, 3}}, {[]float64{9, 1, 2}, Spread{2, 1, 9}}, {[]float64{4, 1, 2, 8}, Spread{3, 1, 8}}} {
		near(t, "spread", spread(c.values), c.want)
	}
}

// Within 2n rounds each of n is at each place twice, and before each other as often as behind it.
func TestOrder(t *testing.T) {
	for n := 1; n <= 9; n++ {
		at, before := map[[2]int]int{}, map[[2]int]int{}
		for round := range 2 * n {
			all := order(n, round)
			for place, i := range all {
				at[[2]int{i, place}]++
				for _, later := range all[place+1:] {
					before[[2]int{i, later}]++
				}
			}
			if sorted := slices.Sorted(slices.Values(all)); len(slices.Compact(sorted)) != n {
				t.Fatalf("%d contestants, round %d: %v", n, round, all)
			}
		}
		for i := range n {
			for k := range n {
				if at[[2]int{i, k}] != 2 || i != k && before[[2]int{i, k}] != n {
					t.Errorf("of %d, %d is at %d %d times and before it %d times", n, i, k, at[[2]int{i, k}], before[[2]int{i, k}])
				}
			}
		}
	}
}
