package commands

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// usage is a command line that cannot be run as it is, or another failure that
// has a word of advice.
type usage struct {
	problem string // one line, with the flag or field
	hint    string // what to do; may be empty
	cause   error  // may be nil
}

func (u usage) Error() string { return u.problem }

func (u usage) Unwrap() error { return u.cause }

// withHint gives a command line that cannot be run a hint where it has none: the help
// of its command, or what may be wrong with a file.
func withHint(err error, command func() string) error {
	var u usage
	if !errors.As(err, &u) || u.hint != "" {
		return err
	}
	var file *fs.PathError
	switch {
	case errors.As(u.cause, &file), errors.Is(u.cause, fs.ErrNotExist), errors.Is(u.cause, fs.ErrPermission):
		u.hint = "check the path, and who may use it"
	case u.cause == nil, strings.HasPrefix(u.problem, "flag "):
		u.hint = "see " + command() + " --help"
	}
	return u
}

// printError prints an error and its hint, each on one line, without secrets.
func printError(stderr io.Writer, u usage) {
	fmt.Fprintf(stderr, "nats-reader: error: %s\n", redact(oneLine(u.problem)))
	if u.hint != "" {
		fmt.Fprintf(stderr, "nats-reader: hint: %s\n", redact(oneLine(u.hint)))
	}
}

// note prints a remark that is neither result nor error.
func (p *program) note(format string, args ...any) {
	fmt.Fprintf(p.stderr, "nats-reader: %s\n", redact(oneLine(fmt.Sprintf(format, args...))))
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
