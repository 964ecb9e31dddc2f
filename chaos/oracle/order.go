package oracle

import "time"

// maxDescents bounds how many descents are kept; beyond it they are counted as they come.
const maxDescents = 1 << 12

// descent is a message that came behind one of a higher stream sequence.
type descent struct {
	sample Sample
	behind uint64
}

// order is whether messages came in the order of the stream, whoever wrote them.
type order struct {
	last     uint64 // stream sequence of the newest message that was no repetition; 0: not told
	descents []descent
	more     uint64
}

// read notes one message that was no repetition. byID: it is out of its writer's order, and counted there.
func (x *order) read(d Delivery, byID bool) {
	if d.Sequence == 0 {
		return
	}
	if d.Sequence < x.last && !byID {
		if len(x.descents) < maxDescents {
			x.descents = append(x.descents, descent{Sample{ID: d.ID, Sequence: d.Sequence, Time: d.Time.UTC()}, x.last})
		} else {
			x.more++
		}
	}
	x.last = d.Sequence
}

// broken are the descents that no new stream explains. Each time that sequences may have begun anew explains one.
func (x *order) broken(anew []time.Time) (all []descent, more uint64) {
	explained := 0
	for _, d := range x.descents {
		before := 0
		for _, at := range anew {
			if !at.After(d.sample.Time) {
				before++
			}
		}
		if explained < before {
			explained++
			continue
		}
		all = append(all, d)
	}
	return all, x.more
}
