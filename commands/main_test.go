package commands

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// A run of the demo leaves no goroutine: every one has an owner and an end.
func TestDemoLeavesNoGoroutine(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	var stdout, stderr strings.Builder
	args := []string{"watch", "--demo", "--duration", "4s", "--inject", "cut@100ms", "--inject", "delete-consumer@150ms"}
	if code := Main(t.Context(), args, strings.NewReader(""), &stdout, &stderr, ""); code != exitGood {
		t.Errorf("code %d\n%s%s", code, stdout.String(), stderr.String())
	}
}

// untilTold ends a run when a text was written to it. One writer at a time writes.
type untilTold struct {
	strings.Builder
	text string
	end  func()
	told string // what was written by then; to be read once end was called
}

func (w *untilTold) Write(p []byte) (int, error) {
	n, err := w.Builder.Write(p)
	if w.told == "" && strings.Contains(w.String(), w.text) {
		w.told = w.String()
		w.end()
	}
	return n, err
}

func TestInterruptedDemoLeavesNoGoroutine(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	stdout := untilTold{text: "fault kill-server fired", end: cancel}
	var stderr strings.Builder
	args := []string{"watch", "--demo", "--inject", "kill-server@100ms+1h", "--inject", "api-timeout@0s"}
	if code := Main(ctx, args, strings.NewReader(""), &stdout, &stderr, ""); code != exitInterrupted {
		t.Errorf("code %d\n%s%s", code, stdout.String(), stderr.String())
	}
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	if !strings.Contains(stdout.String(), stdout.text) {
		t.Errorf("not told: %s\n%s", stdout.text, stdout.String())
	}
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "contract ") || strings.HasPrefix(last, "contract broken") {
		t.Errorf("the last line is %q", last)
	}
}

func TestRefusedConnectionIsToldAtOnce(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	var stdout, stderr strings.Builder
	code := Main(t.Context(), []string{"read", "S", "--no-context", "--server", "nats://127.0.0.1:1", "--timeout", "30s"}, nil, &stdout, &stderr, "")
	if code != exitCannotJudge || !strings.HasPrefix(stderr.String(), "nats-reader: error: no server at nats://127.0.0.1:1: connection refused\n") {
		t.Errorf("code %d, stderr %q", code, stderr.String())
	}
}
