package oracle

import "time"

// A series has at most so many steps, and begins with the shortest; when it is full two become one.
const (
	maxSteps  = 1 << 10
	firstStep = 250 * time.Millisecond
)

// step counts what happened in it.
type step struct {
	published uint64 // acknowledged
	read      uint64 // handed out, repetitions included
	settled   uint64 // of the acknowledged, read for the first time
}

// series counts along a run.
type series struct {
	from   int64 // 0: nothing happened
	length int64 // of a step
	steps  []step
}

// at gives the step of a time; what was before the first time counts to it.
func (s *series) at(at int64) *step {
	if s.from == 0 {
		s.from, s.length = at, int64(firstStep)
	}
	i := max(at-s.from, 0) / s.length
	for i >= maxSteps {
		s.halve()
		i = max(at-s.from, 0) / s.length
	}
	for int64(len(s.steps)) <= i {
		s.steps = append(s.steps, step{})
	}
	return &s.steps[i]
}

func (s *series) halve() {
	half := make([]step, 0, maxSteps)
	for i, x := range s.steps {
		if i%2 == 0 {
			half = append(half, x)
			continue
		}
		last := &half[len(half)-1]
		last.published += x.published
		last.read += x.read
		last.settled += x.settled
	}
	s.steps, s.length = half, 2*s.length
}

// figures gives the series up to the end. gone are the times at which acknowledged messages were destroyed, or
// told as missed: none waits any more.
func (s *series) figures(gone []int64, end int64) Series {
	if s.from == 0 {
		return Series{}
	}
	steps := append([]step(nil), s.steps...)
	count := max(int64(len(steps)), min((end-s.from)/s.length+1, maxSteps))
	for int64(len(steps)) < count {
		steps = append(steps, step{})
	}
	for _, at := range gone {
		i := min(max(at-s.from, 0)/s.length, count-1)
		steps[i].settled++
	}
	out := Series{From: moment(s.from), Step: time.Duration(s.length)}
	seconds := time.Duration(s.length).Seconds()
	var waiting int64
	for _, x := range steps {
		waiting += int64(x.published) - int64(x.settled)
		out.Published = append(out.Published, float64(x.published)/seconds)
		out.Read = append(out.Read, float64(x.read)/seconds)
		out.Lag = append(out.Lag, uint64(max(waiting, 0)))
	}
	return out
}
