package commands

import (
	"context"
	"fmt"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
)

// countOrphans counts what the run has left on its streams; the first reader of each answers for it.
func (c *scene) countOrphans(ctx context.Context, ends []oracle.Ending) {
	counted := map[string]bool{}
	for i, w := range c.readers {
		if stream := w.stream(); !counted[stream] {
			counted[stream] = true
			ends[i].Orphans = c.awaitNoOrphans(ctx, stream)
		}
	}
}

// together is the verdict on all readers: the worst finding, the sums of what was counted.
func (c *scene) together(all []oracle.Verdict) oracle.Verdict {
	if len(all) == 1 {
		return all[0]
	}
	v := oracle.Verdict{Finding: oracle.Held, MeasuredBy: all[0].MeasuredBy, Allowance: all[0].Allowance, Limits: all[0].Limits}
	worse := map[oracle.Finding]int{oracle.Held: 0, oracle.Unknown: 1, oracle.Broken: 2}
	for i, one := range all {
		if worse[one.Finding] > worse[v.Finding] {
			v.Finding = one.Finding
		}
		v.Delivered += one.Delivered
		v.Lost += one.Lost
		v.Duplicated += one.Duplicated
		v.OutOfOrder += one.OutOfOrder
		v.Unexpected += one.Unexpected
		v.Told += one.Told
		v.Unknown += one.Unknown
		v.Sessions += one.Sessions
		v.APIRequests += one.APIRequests
		v.LongestDeaf = max(v.LongestDeaf, one.LongestDeaf)
		v.LongestSilence = max(v.LongestSilence, one.LongestSilence)
		if one.Orphans == oracle.NotCounted || v.Orphans == oracle.NotCounted {
			v.Orphans = oracle.NotCounted
		} else {
			v.Orphans += one.Orphans
		}
		for _, x := range one.Violations {
			x.Text = fmt.Sprintf("%s: %s", c.readers[i].name, x.Text)
			v.Violations = append(v.Violations, x)
		}
		for _, d := range one.Doubts {
			v.Doubts = append(v.Doubts, fmt.Sprintf("%s: %s", c.readers[i].name, d))
		}
	}
	return v
}
