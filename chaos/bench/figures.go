package bench

import "slices"

// Figures are what a contestant's readings come to. A message is one that was read.
type Figures struct {
	Rate        Spread  `json:"messages_per_second"`
	Volume      Spread  `json:"payload_mb_per_second"` // 1 MB is a million bytes
	CPU         Spread  `json:"cpu_ns_per_message"`
	ServerCPU   *Spread `json:"server_cpu_ns_per_message"` // null: not measured
	Allocations Spread  `json:"allocations_per_message"`
	Allocated   Spread  `json:"allocated_bytes_per_message"`
	Wire        Spread  `json:"wire_bytes_per_message"`
	WireRatio   Spread  `json:"wire_bytes_per_payload_byte"` // of what was published
	Seconds     Spread  `json:"seconds"`
}

// Spread is the middle of several values, and how far they lie apart.
type Spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// Ratio compares a contestant with a base, round by round: of a round that one of them did not finish there is none.
type Ratio struct {
	Base   string `json:"base"`
	Rounds int    `json:"rounds"` // that were compared
	Rate   Spread `json:"messages_per_second"`
	CPU    Spread `json:"cpu_per_message"`
}

// spread is that of some values; of none it is 0.
func spread(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return Spread{Median: (sorted[(n-1)/2] + sorted[n/2]) / 2, Min: sorted[0], Max: sorted[n-1]}
}

func per(total float64, messages uint64) float64 {
	if messages == 0 {
		return 0
	}
	return total / float64(messages)
}

func (r Reading) rate() float64 { return float64(r.Messages) / max(r.Took.Seconds(), 1e-9) }

func (r Reading) cpu() float64 { return per(float64(r.CPU), r.Messages) }

// figuresOf are the figures of the readings that came to their end.
func figuresOf(all []Reading, l Load) Figures {
	var f Figures
	of := func(value func(Reading) float64) Spread {
		var values []float64
		for _, r := range all {
			if r.Error == "" {
				values = append(values, value(r))
			}
		}
		return spread(values)
	}
	f.Rate = of(Reading.rate)
	f.Volume = of(func(r Reading) float64 { return r.rate() * float64(l.Size) / 1e6 })
	f.CPU = of(Reading.cpu)
	f.Allocations = of(func(r Reading) float64 { return per(float64(r.Allocations), r.Messages) })
	f.Allocated = of(func(r Reading) float64 { return per(float64(r.Allocated), r.Messages) })
	f.Wire = of(func(r Reading) float64 { return per(float64(r.Wire), r.Messages) })
	f.WireRatio = of(func(r Reading) float64 { return float64(r.Wire) / (float64(l.Size) * float64(l.Count)) })
	f.Seconds = of(func(r Reading) float64 { return r.Took.Seconds() })
	known := len(all) > 0 && !slices.ContainsFunc(all, func(r Reading) bool { return r.ServerCPU == nil })
	if known {
		s := of(func(r Reading) float64 { return per(float64(*r.ServerCPU), r.Messages) })
		f.ServerCPU = &s
	}
	return f
}

// ratioOf compares the readings of a contestant with those of a base.
func ratioOf(base string, theirs, all []Reading) Ratio {
	var rate, cpu []float64
	for _, r := range all {
		i := slices.IndexFunc(theirs, func(t Reading) bool { return t.Round == r.Round })
		if i < 0 || r.Error != "" || theirs[i].Error != "" {
			continue
		}
		rate = append(rate, r.rate()/max(theirs[i].rate(), 1e-9))
		cpu = append(cpu, r.cpu()/max(theirs[i].cpu(), 1e-9))
	}
	return Ratio{Base: base, Rounds: len(rate), Rate: spread(rate), CPU: spread(cpu)}
}

// sum works out the figures and ratios of a series.
func (s *Series) sum(bases []string) {
	l := Load{s.Size, s.Count}
	for i := range s.Entries {
		e := &s.Entries[i]
		e.Figures, e.Ratios = figuresOf(e.Readings, l), nil
		for _, base := range bases {
			for _, b := range s.Entries {
				if b.Name == base && b.Name != e.Name {
					e.Ratios = append(e.Ratios, ratioOf(base, b.Readings, e.Readings))
				}
			}
		}
	}
}
