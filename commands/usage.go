package commands

import (
	"fmt"
	"io"
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
