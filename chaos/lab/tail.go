package lab

import (
	"io"
	"strings"
	"sync"
)

// tailBytes is how much of a server's log is kept.
const tailBytes = 256 << 10

// tail keeps the end of a server's log and passes all of it on.
type tail struct {
	mu    sync.Mutex
	kept  []byte
	total int // bytes ever written
	also  io.Writer
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	t.kept = append(t.kept, p...)
	t.total += len(p)
	if excess := len(t.kept) - tailBytes; excess > 0 {
		t.kept = append(t.kept[:0], t.kept[excess:]...)
	}
	t.mu.Unlock()
	if t.also != nil {
		_, _ = t.also.Write(p) // a log nobody can write must not stop the server
	}
	return len(p), nil
}

// mark is a place in the log, for since.
func (t *tail) mark() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total
}

// since returns what was written after the mark, as far as it is kept.
func (t *tail) since(mark int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	from := max(0, len(t.kept)-(t.total-mark))
	return string(t.kept[from:])
}

// complaint is what a log says about why its server did not come up, on one
// line: its errors, or else its last lines.
func complaint(log string) string {
	const most = 3
	var errs, all []string
	for line := range strings.Lines(log) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		all = append(all, line)
		for _, level := range []string{"[FTL] ", "[ERR] ", "nats-server: ", "panic: "} {
			if _, words, found := strings.Cut(line, level); found {
				errs = append(errs, words)
				break
			}
		}
	}
	if len(errs) == 0 {
		errs = all
	}
	if len(errs) == 0 {
		return "it wrote nothing"
	}
	return strings.Join(errs[max(0, len(errs)-most):], " | ")
}
