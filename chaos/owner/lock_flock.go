//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package owner

import (
	"errors"
	"os"
	"syscall"
)

func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := flock(f, syscall.LOCK_EX); err != nil && !lockless(err) {
		f.Close() //nolint:errcheck // it is another's
		return nil, err
	}
	return f, nil
}

// lockless says that the file system has no locks. Its marks say nothing: their
// owners are unknown, and what they own is spared.
func lockless(err error) bool {
	return errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOLCK) || errors.Is(err, syscall.ENOSYS)
}

func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errHeld
		default:
			return err
		}
	}
}

// life asks for a shared lock: others may ask at the same time, and the owner's excludes it.
func life(path string) Life {
	f, err := os.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return Unknown
	}
	defer f.Close() //nolint:errcheck // closing gives the lock back
	switch err := flock(f, syscall.LOCK_SH); {
	case err == nil:
		return Dead
	case errors.Is(err, errHeld):
		return Alive
	default:
		return Unknown
	}
}

// release removes the name first: whoever opens it until then finds it held.
func release(path string, f *os.File) error {
	return errors.Join(os.Remove(path), f.Close())
}
