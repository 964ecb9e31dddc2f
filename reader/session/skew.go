package session

import "time"

// skew is how far the server's clock is ahead of ours, at most.
type skew struct {
	known bool
	ahead int64
	at    time.Duration // when that was measured
}

// drift is by how much two clocks go apart at worst: one part of so many.
const drift = 5000

// atMost takes a bound that an answer gives: it was stamped after its request left.
func (k *skew) atMost(now time.Duration, ahead int64) {
	if k.known {
		ahead = min(ahead, k.ahead+int64(now-k.at)/drift)
	}
	*k = skew{known: true, ahead: ahead, at: now}
}

// later says that a message was stored after what came at heard had been sent. One
// that comes before it can have been stored shows that the bound is too low.
func (k *skew) later(now, heard time.Duration, stored int64) bool {
	if !k.known {
		return false
	}
	was := k.ahead + int64(heard-k.at)/drift
	if k.ahead+int64(now-k.at)/drift < stored-int64(now) {
		k.ahead, k.at = stored-int64(now), now
	}
	return stored > int64(heard)+was
}
