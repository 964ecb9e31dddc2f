package target

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
)

// MaxLine is the longest line that an outside program may print, in bytes.
const MaxLine = 64 << 10

// output reads what an outside program prints, a line at a time: it holds one line,
// however much comes, and a program that is faster waits.
type output struct {
	read func(oracle.Delivery)
	say  func(format string, args ...any)

	lines, blank, long uint64
}

// follow reads to the end of the output.
func (o *output) follow(stdout io.Reader) {
	in := bufio.NewReaderSize(stdout, MaxLine)
	for {
		line, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			o.tooLong(line)
			err = skipLine(in)
		case len(line) > 0:
			o.line(string(line), err == nil)
		}
		if err != nil {
			return // the end: the pipe is closed, or taken away
		}
	}
}

func (o *output) line(text string, complete bool) {
	id := IDOf(text)
	if id == "" {
		o.blank++
		return
	}
	if !complete {
		o.say("its output ends in the middle of a line: %q", shortened(text, MaxID))
	}
	o.deliver(id)
}

// tooLong tells a line without an end at once, and counts it as a message of nobody's.
func (o *output) tooLong(begin []byte) {
	o.long++
	if o.long == 1 {
		o.say("it printed a line of more than %d KiB, which is no id; it begins with %q", MaxLine>>10, begin[:MaxID])
	}
	o.deliver(IDOf(string(begin[:MaxID-3])) + "...")
}

func (o *output) deliver(id string) {
	o.lines++
	o.read(oracle.Delivery{ID: strings.ToValidUTF8(id, "?"), Time: time.Now()})
}

// skipLine reads on behind the end of the line.
func skipLine(in *bufio.Reader) error {
	for {
		_, err := in.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// summary tells what is not to be seen from the messages.
func (o *output) summary() {
	if o.lines == 0 {
		what := "nothing"
		if o.blank > 0 {
			what = fmt.Sprintf("%d blank lines and no other", o.blank)
		}
		o.say("it printed %s on stdout: it must print the id of each message it reads as a line, and flush it", what)
	}
	if o.long > 1 {
		o.say("it printed %d lines of more than %d KiB", o.long, MaxLine>>10)
	}
}

// MaxStderr is how much of what an outside program writes to stderr is shown, in bytes.
const MaxStderr = 1 << 20

// complaints passes on what an outside program writes to stderr, up to MaxStderr, and
// keeps its last line for the error of its end.
type complaints struct {
	to io.Writer // nil: nobody

	mu    sync.Mutex
	shown int
	last  []byte // of what was written, lastKept at most
}

// lastKept is how much of the end is kept, in bytes.
const lastKept = 2048

func (c *complaints) Write(p []byte) (int, error) {
	c.mu.Lock()
	c.last = append(c.last, p[max(len(p)-lastKept, 0):]...)
	c.last = append(c.last[:0], c.last[max(len(c.last)-lastKept, 0):]...)
	show := p[:min(len(p), MaxStderr-c.shown)]
	c.shown += len(show)
	full := len(show) > 0 && c.shown == MaxStderr
	c.mu.Unlock()
	if c.to == nil {
		return len(p), nil
	}
	// An error of the writer must not end the program: it is not the program's.
	if len(show) > 0 {
		_, _ = c.to.Write(show)
	}
	if full {
		_, _ = fmt.Fprintf(c.to, "\n(more than %d MiB: the rest is not shown)\n", MaxStderr>>20)
	}
	return len(p), nil
}

// lastLine is the last line with anything in it.
func (c *complaints) lastLine() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(c.last), "?")), "\n")
	return shortened(strings.TrimSpace(lines[len(lines)-1]), 200)
}
