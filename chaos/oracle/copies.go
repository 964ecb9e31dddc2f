package oracle

import (
	"maps"
	"slices"
)

// copies are the ids that were published more than once, each attempt of which may be stored. A target that tells
// no stream sequences may read such an id as often; whether it did so more often is known at the end.
type copies map[uint64]*copied

type copied struct {
	most  uint64   // how often it may be stored beyond the first time
	again uint64   // readings beyond the first, told without a stream sequence
	first []Sample // of them
}

// attempted notes one more attempt to publish an id.
func (c *copies) attempted(n uint64) {
	if *c == nil {
		*c = copies{}
	}
	if (*c)[n] == nil {
		(*c)[n] = &copied{}
	}
	(*c)[n].most++
}

// deduplicated notes that one of the attempts stored nothing.
func (c copies) deduplicated(n uint64) {
	if x := c[n]; x != nil && x.most > 0 {
		x.most--
	}
}

// reads notes one more reading of an id, and says whether it is to be judged at the end.
func (c copies) reads(n uint64, here Sample) bool {
	x := c[n]
	if x == nil {
		return false
	}
	x.again++
	if uint64(len(x.first)) < x.most+MaxSamples {
		x.first = append(x.first, here)
	}
	return true
}

// beyond counts the readings that no stored copy explains, and gives some of them, by the numbers of their ids.
func (c copies) beyond() (count uint64, some []Sample) {
	for _, n := range slices.Sorted(maps.Keys(c)) {
		if x := c[n]; x.again > x.most {
			count += x.again - x.most
			some = append(some, x.first[x.most:]...)
		}
	}
	return count, some
}
