package owner

import (
	"errors"
	"os"
	"syscall"
)

// sharingViolation: another handle is open that does not share the file for writing.
const sharingViolation = syscall.Errno(32)

// open opens a file that nobody else may have open for writing meanwhile: this is the lock. It may be read.
func open(path string, creation uint32) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, syscall.FILE_SHARE_READ, nil,
		creation, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, sharingViolation) {
		return nil, errHeld
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(h), path), nil
}

func lockFile(path string) (*os.File, error) { return open(path, syscall.OPEN_ALWAYS) }

func life(path string) Life {
	f, err := open(path, syscall.OPEN_EXISTING)
	switch {
	case err == nil:
		f.Close() //nolint:errcheck // nothing was written
		return Dead
	case errors.Is(err, errHeld):
		return Alive
	default:
		return Unknown
	}
}

// release closes the file first: an open one cannot be removed here.
func release(path string, f *os.File) error {
	return errors.Join(f.Close(), os.Remove(path))
}
