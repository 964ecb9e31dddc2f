package commands

import (
	"fmt"
	"io"
	"log"
	"log/slog"
	"strings"
	"testing"

	"github.com/an-open-reader/nats-reader/tui"
)

// What the program and libraries write while the screen has the terminal comes to the screen; the program's own
// warnings are said again when the terminal is free, and from then on everything goes where it went before.
func TestNothingElseWritesToTheTerminal(t *testing.T) {
	var stderr strings.Builder
	p := &program{stdout: io.Discard, stderr: &stderr}
	v := &watchView{feed: tui.NewFeed()}
	logger := slog.Default()
	v.quieten(p)
	p.note("warning: %s", "a nats://ann:secret@host is told")
	slog.Warn("from slog", "n", 1)
	log.Print("from log")
	fmt.Fprint(p.stderr, "half a ")
	fmt.Fprint(p.stderr, "line\n")
	if stderr.String() != "" {
		t.Errorf("written to the terminal: %q", stderr.String())
	}
	model, err := tui.NewModel(v.feed, tui.Options{ASCII: true})
	if err != nil {
		t.Fatal(err)
	}
	keys, _ := io.Pipe() // nobody presses any
	defer keys.Close()   //nolint:errcheck // it only ends the screen
	var drawn strings.Builder
	screen := tui.NewScreen(model, keys, &drawn)
	done := make(chan error, 1)
	go func() { done <- screen.Run() }()
	screen.Over()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	view := drawn.String()
	for _, words := range []string{"log    warning: a nats://xxxxx@host is told", "from slog", "from log", "log    half a line"} {
		if !strings.Contains(view, words) {
			t.Errorf("%q is not on the screen:\n%s", words, view)
		}
	}
	v.restore()
	p.note("later")
	if got, want := stderr.String(), "nats-reader: warning: a nats://xxxxx@host is told\nnats-reader: later\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if slog.Default() != logger {
		t.Error("slog is not as it was")
	}
}
