//go:build unix

package commands

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// watchOutput calls gone when the output is a pipe or socket whose other end has
// been closed. stop ends the watch and returns when it has ended.
func watchOutput(w io.Writer, gone func()) (stop func()) {
	none := func() {}
	f, ok := fileOf(w)
	if !ok {
		return none
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return none
	}
	wake, end, err := os.Pipe()
	if err != nil {
		return none // the next write tells
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if pollGone(int(f.Fd()), int(wake.Fd())) {
			gone()
		}
	}()
	return func() {
		end.Close() //nolint:errcheck // closing is the signal
		<-done
		wake.Close() //nolint:errcheck // nothing was written
	}
}

// pollGone waits until the other end of out is closed, or that of wake.
func pollGone(out, wake int) bool {
	for {
		fds := []unix.PollFd{{Fd: int32(out)}, {Fd: int32(wake), Events: unix.POLLIN}}
		_, err := unix.Poll(fds, -1)
		if err == unix.EINTR { //nolint:errorlint // a bare errno
			continue
		}
		if err != nil || fds[1].Revents != 0 {
			return false
		}
		if fds[0].Revents&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0 {
			return true
		}
	}
}
