package oracle

import (
	"fmt"
	"slices"
)

// samples are the first of each kind of violation, in the order in which they were found.
type samples map[Kind][]Sample

func (s samples) add(kind Kind, x Sample, format string, args ...any) {
	if len(s[kind]) < MaxSamples {
		x.Text = fmt.Sprintf(format, args...)
		s[kind] = append(s[kind], x)
	}
}

// clone is a copy to add to what only the judgement finds.
func (s samples) clone() samples {
	c := make(samples, len(s))
	for kind, all := range s {
		c[kind] = slices.Clone(all)
	}
	return c
}
