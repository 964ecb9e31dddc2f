package commands

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// failingWriter takes so many writes and then none.
type failingWriter struct {
	left int
	err  error
}

func (w *failingWriter) Write(b []byte) (int, error) {
	if w.left == 0 {
		return 0, w.err
	}
	w.left--
	return len(b), nil
}

func TestResultsThatDoNotArrive(t *testing.T) {
	full := fmt.Errorf("write results: %w", syscall.ENOSPC)
	gone := fmt.Errorf("write results: %w", syscall.EPIPE)
	for _, args := range [][]string{{"explain"}, {"explain", "409"}, {"explain", "--json"}, {"--help"}, {"read", "--help"}, {"help"}, {"version"}, {"version", "--json"}} {
		var stderr strings.Builder
		if code := Main(t.Context(), args, nil, &failingWriter{err: full}, &stderr, ""); code != exitCannotJudge || stderr.String() != "nats-reader: error: write results: no space left on device\n" {
			t.Errorf("%v with a full disk: code %d, stderr %q", args, code, stderr.String())
		}
		stderr.Reset()
		if code := Main(t.Context(), args, nil, &failingWriter{err: gone}, &stderr, ""); code != exitGood || stderr.String() != "" {
			t.Errorf("%v with nobody reading: code %d, stderr %q", args, code, stderr.String())
		}
	}
}

func TestUnwrittenKeepsWhatWasFound(t *testing.T) {
	gone, full, other := error(syscall.EPIPE), error(syscall.ENOSPC), errors.New("other")
	for _, test := range []struct{ failed, err, want error }{
		{gone, nil, nil},
		{gone, gone, nil},
		{gone, other, other},
		{gone, outcome{exitGood}, nil},
		{gone, outcome{exitCritical}, outcome{exitCritical}},
		{full, nil, full},
		{full, outcome{exitGood}, full},
		{full, outcome{exitCritical}, outcome{exitCritical}},
		{full, outcome{exitInterrupted}, outcome{exitInterrupted}},
	} {
		if got := unwritten(test.failed, test.err); !errors.Is(got, test.want) || (got == nil) != (test.want == nil) {
			t.Errorf("unwritten(%v, %v) = %v, want %v", test.failed, test.err, got, test.want)
		}
	}
}
