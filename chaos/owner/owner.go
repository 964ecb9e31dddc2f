// Package owner tells whether the process that left something behind is still alive. The owner holds a mark,
// a file that the system locks for it: a lock ends with its process in whatever way that ends, kill -9 and
// a crash of the machine included, and no process that gets the same id later inherits it.
package owner

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Life says what is known of an owner.
type Life string

// What can be known of an owner.
const (
	Alive   Life = "alive"
	Dead    Life = "dead"
	Unknown Life = "unknown" // there is no mark, or this system has no such locks
)

// errHeld: another process, or another holder in this one, has the mark.
var errHeld = errors.New("the mark is held by another process")

// Mark is the sign of life of this process on something it owns.
type Mark struct {
	path string
	file *os.File
}

// Take makes the mark at path and holds it until Release or the end of this process.
func Take(path string) (*Mark, error) {
	f, err := lockFile(path)
	if err != nil {
		return nil, fmt.Errorf("mark %s: %w", path, err)
	}
	if err = f.Truncate(0); err == nil {
		_, err = f.WriteString(strconv.Itoa(os.Getpid()) + "\n")
	}
	if err != nil {
		f.Close() //nolint:errcheck // nothing was kept in it
		return nil, fmt.Errorf("mark %s: %w", path, err)
	}
	return &Mark{path: path, file: f}, nil
}

// Release removes the mark.
func (m *Mark) Release() error {
	return release(m.path, m.file)
}

// Of says whether the holder of the mark at path is alive, and which process id it wrote there; 0: unknown.
func Of(path string) (Life, int) {
	text, err := os.ReadFile(path)
	pid := 0
	if err == nil {
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	return life(path), pid
}

// Abandon gives the mark up and leaves it where it is: its owner counts as dead.
func (m *Mark) Abandon() error { return m.file.Close() }
