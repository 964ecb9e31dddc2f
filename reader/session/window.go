package session

import "time"

const (
	windowFirst = 32 // before anything was answered
	windowLeast = 8
	slowAnswer  = 500 * time.Millisecond
)

// window is how many requests of a connection are in flight at a time: as many as the
// server answers within slowAnswer, at most linkSlots. What is queued beyond that does
// not make a server faster (a file store makes a consumer at the speed of its disk),
// but answers come later than anybody waits for them, and are asked for again.
type window struct {
	size    int  // 0: windowFirst
	settled bool // an answer was slow: from then on it grows by one a window
	good    int  // quick answers since it grew
	cutAt   time.Duration
}

func (w *window) limit() int {
	if w.size == 0 {
		return windowFirst
	}
	return w.size
}

// answered notes an answer to what was sent at. The window is halved once for all
// that was sent before it was.
func (w *window) answered(at, now time.Duration) {
	switch took := now - at; {
	case took >= slowAnswer:
		if at >= w.cutAt {
			w.size, w.settled, w.cutAt, w.good = max(w.limit()/2, windowLeast), true, now, 0
		}
	case took < slowAnswer/2:
		if w.good++; !w.settled || w.good >= w.limit() {
			w.size, w.good = min(w.limit()+1, linkSlots), 0
		}
	}
}
