package simulate

import (
	"fmt"
	"time"
)

// Failure is a broken promise.
type Failure struct {
	Seed    int64
	At      time.Duration
	Promise string // which one: a word or two
	Reader  int    // whose
	Text    string
}

// Error says what was broken, and by which seed.
func (f *Failure) Error() string {
	return fmt.Sprintf("seed %d at %s: %s: %s", f.Seed, f.At, f.Promise, f.Text)
}

// fail notes a broken promise to a reader; the first one counts.
func (r *reader) fail(promise, format string, v ...any) {
	if w := r.w; w.failed == nil {
		w.fail(promise, format, v...)
		w.failed.Reader = r.n
	}
}

func (w *world) fail(promise, format string, v ...any) {
	if w.failed == nil {
		w.failed = &Failure{Seed: w.plan.Seed, At: w.now, Promise: promise, Text: fmt.Sprintf(format, v...)}
	}
}
