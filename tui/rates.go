package tui

import "time"

// maxSeconds is how many seconds of rates are kept; older ones are folded, two into one.
const maxSeconds = 1 << 15

// rateBook is how fast a reader handed out messages, at even steps.
type rateBook struct {
	began time.Time
	step  time.Duration
	steps []float64 // messages in each step
	peak  float64   // messages a second, over a second at least

	delivered, bytes uint64 // at the newest snapshot
	recent           []rateMark
}

// rateMark is how much had been handed out at a time.
type rateMark struct {
	at               time.Time
	delivered, bytes uint64
}

// recentFor is over how long the rate of the moment is taken.
const recentFor = 1500 * time.Millisecond

func (r *rateBook) add(at time.Time, delivered, bytes uint64) {
	if r.began.IsZero() {
		r.began, r.step, r.delivered = at, time.Second, delivered
	}
	if delivered < r.delivered {
		r.delivered = delivered // another reader
	}
	i := max(int(at.Sub(r.began)/r.step), 0)
	for i >= maxSeconds {
		r.fold()
		i = int(at.Sub(r.began) / r.step)
	}
	for len(r.steps) <= i {
		r.steps = append(r.steps, 0)
	}
	r.steps[i] += float64(delivered - r.delivered)
	r.delivered, r.bytes = delivered, bytes
	r.recent = append(r.recent, rateMark{at, delivered, bytes})
	for len(r.recent) > 2 && at.Sub(r.recent[1].at) >= recentFor {
		r.recent = r.recent[1:]
	}
	if len(r.recent) > 1 && at.Sub(r.recent[0].at) >= time.Second {
		messages, _ := r.now(at)
		r.peak = max(r.peak, messages)
	}
}

// fold makes each step twice as long.
func (r *rateBook) fold() {
	half := make([]float64, 0, (len(r.steps)+1)/2)
	for i := 0; i < len(r.steps); i += 2 {
		n := r.steps[i]
		if i+1 < len(r.steps) {
			n += r.steps[i+1]
		}
		half = append(half, n)
	}
	r.steps, r.step = half, 2*r.step
}

// now is the rate of the moment: messages and bytes a second.
func (r *rateBook) now(at time.Time) (messages, bytes float64) {
	if len(r.recent) < 2 {
		return 0, 0
	}
	first, last := r.recent[0], r.recent[len(r.recent)-1]
	over := last.at.Sub(first.at).Seconds()
	if at.Sub(last.at) > time.Second { // nothing is told any more
		over = at.Sub(first.at).Seconds()
	}
	if over <= 0 || last.delivered < first.delivered {
		return 0, 0
	}
	return float64(last.delivered-first.delivered) / over, float64(last.bytes-min(first.bytes, last.bytes)) / over
}

// columns gives messages a second for so many columns of a time each, the last one ending at until.
func (r *rateBook) columns(until time.Time, each time.Duration, n int) []float64 {
	out := make([]float64, max(n, 0))
	if r.began.IsZero() || each <= 0 {
		return out
	}
	from := until.Add(-time.Duration(n) * each)
	for i := range out {
		a := from.Add(time.Duration(i) * each).Sub(r.began)
		b := a + each
		first, last := max(int(a/r.step), 0), int((b-1)/r.step)
		if b <= 0 {
			continue
		}
		last = min(last, len(r.steps)-1)
		total, parts := 0.0, 0
		for s := first; s <= last; s++ {
			total += r.steps[s]
			parts++
		}
		if parts > 0 {
			out[i] = total / float64(parts) / r.step.Seconds()
		}
	}
	return out
}
