package fleet

import (
	"strings"
	"testing"
	"time"
)

// made gives n samples of a run that stays as it is, each changed by how.
func made(n int, how func(i int, s *Sample)) []Sample {
	all := make([]Sample, n)
	for i := range all {
		all[i] = Sample{
			At: time.Duration(i) * time.Second, Memory: 100 << 20, Resident: 200 << 20, Goroutines: 1010,
			Subscriptions: 1000, OnServer: 1000, Consumers: 1000,
		}
		how(i, &all[i])
	}
	return all
}

// growing names the series that grow, separated by commas.
func growing(all []Trend) string {
	var names []string
	for _, t := range all {
		if t.Grows {
			names = append(names, t.What)
		}
	}
	return strings.Join(names, ", ")
}

func TestTrends(t *testing.T) {
	for _, c := range []struct {
		name string
		how  func(i int, s *Sample)
		want string
	}{
		{"nothing changes", func(int, *Sample) {}, ""},
		{"memory breathes", func(i int, s *Sample) { s.Memory += uint64(i%7) << 22 }, ""},
		{"memory grows within the tolerance", func(i int, s *Sample) { s.Memory += uint64(i) * (10 << 20) / 100 }, ""},
		{"memory grows by a fifth", func(i int, s *Sample) { s.Memory += uint64(i) * (30 << 20) / 100 }, seriesMemory},
		{"memory shrinks", func(i int, s *Sample) { s.Memory -= uint64(i) << 19 }, ""},
		{"memory grows in the warm-up alone", func(i int, s *Sample) { s.Memory -= uint64(max(0, 20-i)) << 22 }, ""},
		{"one sample is far off", func(i int, s *Sample) {
			if i == 90 {
				s.Memory, s.Goroutines = 1<<40, 1_000_000
			}
		}, ""},
		{"rss grows", func(i int, s *Sample) { s.Resident += uint64(i) << 20 }, seriesResident},
		{"rss is unknown once", func(i int, s *Sample) {
			s.Resident += uint64(i) << 20
			if i == 50 {
				s.Resident = 0
			}
		}, ""},
		{"goroutines come and go", func(i int, s *Sample) { s.Goroutines += i % 5 }, ""},
		{"a goroutine each second", func(i int, s *Sample) { s.Goroutines += i }, "goroutines"},
		{"a consumer is left", func(i int, s *Sample) { s.Consumers += i / 60 }, "consumers"},
		{"a consumer goes", func(i int, s *Sample) { s.Consumers -= i / 60 }, ""},
		{"a subscription is left here", func(i int, s *Sample) { s.Subscriptions += i / 60 }, "subscriptions"},
		{"a subscription is left there", func(i int, s *Sample) { s.OnServer += i / 60 }, "subscriptions on the server"},
		{"the server does not tell", func(_ int, s *Sample) { s.OnServer = -1 }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := TrendsOf(made(100, c.how), 0)
			if got := growing(all); got != c.want {
				t.Errorf("%q grows, want %q: %+v", got, c.want, all)
			}
		})
	}
}

func TestTrendsNeedSamples(t *testing.T) {
	if all := TrendsOf(made(LeastSamples-1, func(int, *Sample) {}), 0); all != nil {
		t.Errorf("too few samples were judged: %+v", all)
	}
	if all := TrendsOf(made(LeastSamples, func(int, *Sample) {}), 0); len(all) != len(series) {
		t.Errorf("%d series of %d were judged", len(all), len(series))
	}
	unknown := TrendsOf(made(LeastSamples, func(_ int, s *Sample) { s.OnServer, s.Resident = -1, 0 }), 0)
	if len(unknown) != len(series)-2 {
		t.Errorf("what is unknown was judged: %+v", unknown)
	}
}

// What may be buffered is no growth; what is above it is.
func TestTrendsOfWhatIsBuffered(t *testing.T) {
	grows := func(by int) string {
		return growing(TrendsOf(made(100, func(i int, s *Sample) { s.Memory += uint64(i/50) * uint64(by) }), 8<<20))
	}
	if got := grows(17 << 20); got != "" {
		t.Errorf("%q grows", got)
	}
	if got := grows(19 << 20); got != seriesMemory {
		t.Errorf("%q grows, want %q", got, seriesMemory)
	}
}

// Every run that is long enough to be allowed has samples enough.
func TestSamplesOfARun(t *testing.T) {
	for _, d := range []time.Duration{LeastFor, 10 * time.Second, time.Minute, 10 * time.Minute, 24 * time.Hour} {
		every := sampleEvery(d)
		if n := d / every; n < 2*LeastSamples {
			t.Errorf("a run of %s has %d samples, one every %s", d, n, every)
		}
		if every < shortestSample || every > longestSample {
			t.Errorf("a run of %s has a sample every %s", d, every)
		}
	}
}

func TestVerdicts(t *testing.T) {
	flat := TrendsOf(made(100, func(int, *Sample) {}), 0)
	leak := TrendsOf(made(100, func(i int, s *Sample) { s.Goroutines += i }), 0)
	quiet := Quiet{For: time.Minute, Most: 2}
	again := Recovery{What: endKill, Connection: true, Replaced: 50, Consumers: 50, ReadReady: time.Second}
	broken := func(how func(*Recovery)) []Recovery {
		v := again
		how(&v)
		return []Recovery{again, v}
	}
	for _, c := range []struct {
		name string
		r    Result
		want Verdict
	}{
		{"cost", Result{Kind: Cost, Idle: quiet, Recoveries: []Recovery{again}}, Held},
		{"a heal counts as a session", Result{Kind: Cost, Idle: quiet, Recoveries: broken(func(v *Recovery) { v.Replaced, v.Healed = 49, 1 })}, Held},
		{"a reader kept a session that cannot be", Result{Kind: Cost, Idle: quiet, Recoveries: broken(func(v *Recovery) { v.Replaced = 49 })}, Broken},
		{"one did not read again", Result{Kind: Cost, Idle: quiet, Recoveries: broken(func(v *Recovery) { v.NotRead = 1 })}, Broken},
		{"one does not come to rest", Result{Kind: Cost, Idle: quiet, Recoveries: broken(func(v *Recovery) { v.Restless = 1 })}, Broken},
		{"an orphan", Result{Kind: Cost, Idle: quiet, Recoveries: broken(func(v *Recovery) { v.Orphans = 1 })}, Broken},
		{"a consumer too many", Result{Kind: Cost, Idle: quiet, Recoveries: broken(func(v *Recovery) { v.Consumers = 51 })}, Broken},
		{"too late", Result{Kind: Cost, Idle: quiet, Recoveries: broken(func(v *Recovery) { v.ReadReady = time.Minute })}, Broken},
		{"a node: the time counts from its end", Result{Kind: Cost, Idle: quiet, Recoveries: broken(func(v *Recovery) { v.Node, v.Read = "n1", time.Minute })}, Broken},
		{"a request while idle", Result{Kind: Cost, Idle: Quiet{For: time.Minute, API: map[string]uint64{"stream_info": 1}}}, Broken},
		{"a pull too many", Result{Kind: Cost, Idle: Quiet{For: time.Minute, Most: 4}}, Broken},
		{"a session replaced while idle", Result{Kind: Cost, Idle: Quiet{For: time.Minute, Replaced: 1}}, Broken},
		{"few readers are not judged by their cost", Result{Kind: Cost, Idle: quiet, Cost: Costs{Goroutines: 3, Memory: 1 << 20}}, Held},
		{"many are, by goroutines", Result{Kind: Cost, Readers: judgedFrom, Idle: quiet, Cost: Costs{Goroutines: 2.1}}, Broken},
		{"many are, by memory", Result{Kind: Cost, Readers: judgedFrom, Idle: quiet, Cost: Costs{Memory: mostMemory + 1}}, Broken},
		{"a consumer is left at the end", Result{Kind: Cost, Idle: quiet, Closed: Closing{Consumers: 1}}, Broken},
		{"steady", Result{Kind: Steady, Idle: quiet, Trends: flat}, Flat},
		{"steady, with a leak", Result{Kind: Steady, Idle: quiet, Trends: leak}, Grows},
		{"steady, not seen", Result{Kind: Steady, Idle: quiet}, Broken},
		{"flow", Result{Kind: Flow, Trends: flat, Speed: Speed{Read: 1}}, Flat},
		{"flow, with a leak", Result{Kind: Flow, Trends: leak, Speed: Speed{Read: 1}}, Grows},
		{"flow, lost", Result{Kind: Flow, Trends: flat, Speed: Speed{Read: 1, Lost: 1}}, Broken},
		{"flow, missed", Result{Kind: Flow, Trends: flat, Speed: Speed{Read: 1, Missed: 1}}, Broken},
		{"flow, not read to the end", Result{Kind: Flow, Trends: flat, Speed: Speed{Read: 1, Unread: 1}}, Broken},
		{"flow, nothing", Result{Kind: Flow, Trends: flat}, Broken},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.r.Readers == 0 {
				c.r.Readers = 50
			}
			c.r.judge(&Plan{Connections: 1, Within: 20 * time.Second})
			if c.r.Verdict != c.want {
				t.Errorf("%s, want %s: %+v", c.r.Verdict, c.want, c.r.Findings)
			}
			if good := c.want == Held || c.want == Flat; c.r.Good() != good {
				t.Errorf("good is %v", c.r.Good())
			}
		})
	}
}
