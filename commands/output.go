package commands

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
)

// output is where results go. Whatever command writes, and by whatever library, the
// first failure is kept: results that did not arrive are no good end.
type output struct {
	to io.Writer

	mu  sync.Mutex
	err error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.to.Write(b)
	if err != nil {
		o.mu.Lock()
		if o.err == nil {
			o.err = err
		}
		o.mu.Unlock()
	}
	return n, err
}

// failure is the first write that failed; nil: none did.
func (o *output) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// fileOf gives the file that an output writes to, if it is one.
func fileOf(w io.Writer) (*os.File, bool) {
	if o, ok := w.(*output); ok {
		w = o.to
	}
	f, ok := w.(*os.File)
	return f, ok
}

// outputGone says that nobody reads our output any more: an end, not an error.
func outputGone(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, os.ErrClosed)
}
