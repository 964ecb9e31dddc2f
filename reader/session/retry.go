package session

import "time"

// Policy paces every pause and bounds every request of a reader (rule 5).
// TotalTimeout and MaxAttempts are 0 for "no limit".
type Policy struct {
	Initial, Max       time.Duration
	Multiplier, Jitter float64
	AttemptTimeout     time.Duration
	TotalTimeout       time.Duration
	MaxAttempts        int
}

// Pause gives the n-th pause, from 1, varied by Jitter with r in [0, 1).
func (p Policy) Pause(n int, r float64) time.Duration {
	if n < 1 {
		return 0
	}
	d := float64(p.Initial)
	for i := 1; i < n && d < float64(p.Max); i++ {
		d *= p.Multiplier
	}
	d = min(d, float64(p.Max))
	d *= 1 + p.Jitter*(2*r-1)
	return time.Duration(d)
}

// Bounds of the wait for a proof: nothing extends it but an attempt that failed for
// want of one.
const (
	proofWait    = 2 * time.Second
	proofWaitMax = 60 * time.Second
)

// proofWaitAfter doubles the wait for each attempt that was not proven in time: over
// a slow link large messages would otherwise never prove a session. Attempts that
// failed by another answer say nothing of the link.
func proofWaitAfter(fails int) time.Duration {
	d := proofWait
	for ; fails > 0 && d < proofWaitMax; fails-- {
		d *= 2
	}
	return min(d, proofWaitMax)
}

// pace remembers across recoveries how often sessions failed in a row, so that a
// create that succeeds and dies for ever is paced like any failure.
type pace struct {
	pauses int           // pauses taken in a row
	last   time.Duration // length of the last one
}

// next gives the pause before another attempt after a failure.
func (p *pace) next(policy Policy, r float64) time.Duration {
	p.pauses++
	p.last = policy.Pause(p.pauses, r)
	return p.last
}

// first gives the pause before a recovery's first attempt: none, if the session
// that ended stayed healthy longer than the last pause (and than the shortest one).
func (p *pace) first(policy Policy, healthy time.Duration, r float64) time.Duration {
	if healthy > max(p.last, policy.Initial) {
		*p = pace{}
		return 0
	}
	return p.next(policy, r)
}
