package target

import (
	"fmt"
	"sync"
	"time"
)

// Bounds of what one target may report.
const (
	maxReports    = 64  // different texts
	maxReportText = 512 // bytes of one
)

// reports passes on what a target tells, without letting it flood anybody: the same
// text is told the 1st, 10th, 100th time, and only so many different ones are.
type reports struct {
	tell func(Report)
	gate *gate

	mu    sync.Mutex
	times map[string]uint64
	more  uint64 // different texts that were not told
}

func newReports(tell func(Report), g *gate) *reports {
	return &reports{tell: tell, gate: g, times: map[string]uint64{}}
}

func (r *reports) say(format string, args ...any) {
	if r.tell == nil {
		return
	}
	text := shortened(fmt.Sprintf(format, args...), maxReportText)
	times, told := r.count(text)
	if told && r.gate.enter() {
		defer r.gate.leave()
		r.tell(Report{Time: time.Now(), Text: text, Times: times})
	}
}

func (r *reports) count(text string) (times uint64, told bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.times[text]; !known && len(r.times) >= maxReports {
		r.more++
		return 0, false
	}
	r.times[text]++
	return r.times[text], powerOfTen(r.times[text])
}

// end tells how many reports there would have been.
func (r *reports) end() {
	r.mu.Lock()
	more := r.more
	r.mu.Unlock()
	if more > 0 && r.tell != nil && r.gate.enter() {
		defer r.gate.leave()
		r.tell(Report{Time: time.Now(), Text: fmt.Sprintf("it reported %d other things, which are not told", more), Times: more})
	}
}

func powerOfTen(n uint64) bool {
	for n >= 10 && n%10 == 0 {
		n /= 10
	}
	return n == 1
}

// shortened cuts a text that is too long, and says so.
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return text[:most] + fmt.Sprintf("... (%d bytes more)", len(text)-most)
}
