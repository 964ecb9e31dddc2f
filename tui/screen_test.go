package tui

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/exp/teatest"
	"go.uber.org/goleak"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/session"
)

func TestMain(m *testing.M) {
	// teatest waits for a signal for ever.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/charmbracelet/x/exp/teatest.NewTestModel.func2"))
}

// loopLimit is how long the real loop may take to draw what it was told.
const loopLimit = 60 * time.Second

// The real loop: what is told is drawn, keys act, and the end of the run is the end of the screen.
func TestLoop(t *testing.T) {
	feed := NewFeed()
	fired := make(chan chaos.Spec, 1)
	m, err := NewModel(feed, Options{Title: "ORDERS", ASCII: true, Hands: Hands{
		Fire: func(_ int, s chaos.Spec, _ string) error { fired <- s; return nil },
	}})
	if err != nil {
		t.Fatal(err)
	}
	x := teatest.NewTestModel(t, &guarded{model: m}, teatest.WithInitialTermSize(80, 24))
	drawn := func(words string) {
		t.Helper()
		teatest.WaitFor(t, x.Output(), func(b []byte) bool { return bytes.Contains(b, []byte(words)) }, teatest.WithDuration(loopLimit))
	}
	drawn("OPENING")
	now := time.Now()
	feed.Put(Item{Time: now, Source: FromReader, Line: "session 1 open", Event: &reader.Event{Time: now, Kind: session.KindSessionOpened, Session: 1, Consumer: "c-1"}})
	feed.Put(Item{Time: now, Snapshot: &Snapshot{Status: reader.Status{State: reader.StateReading, Session: reader.SessionStatus{Number: 1}}}})
	drawn("LIVE  #1")
	x.Type("A!d") // as fast as somebody who knows the keys
	if s := <-fired; s.Name != "delete-consumer" {
		t.Errorf("fired %v", s)
	}
	x.Send(tea.WindowSizeMsg{Width: 160, Height: 48})
	drawn("[7 Timeline]")
	x.Send(overMsg{})
	x.WaitFinished(t, teatest.WithFinalTimeout(loopLimit))
}

// output is a terminal that is none.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(b)
}

func (o *output) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// A panic in a key, in drawing, or in what a key has begun: the terminal is as before, and the panic is the error.
func TestCrashRestoresTheTerminal(t *testing.T) {
	for name, crash := range map[string]func(*Model) string{
		"update":  func(m *Model) string { m.opts.Hands.Quit = func() { panic("crashed") }; return "q" },
		"view":    func(m *Model) string { m.book.readers = nil; return "" },
		"command": func(m *Model) string { m.opts.Hands.Export = func() (string, error) { panic("crashed") }; return "x" },
		"many":    func(m *Model) string { m.opts.Hands.Export = func() (string, error) { panic("crashed") }; return "5x" },
	} {
		t.Run(name, func(t *testing.T) {
			m, err := NewModel(NewFeed(), Options{})
			if err != nil {
				t.Fatal(err)
			}
			keys := crash(m)
			in, typing := io.Pipe()
			var out output
			s := NewScreen(m, in, &out)
			go typing.Write([]byte(keys)) //nolint:errcheck // the screen reads it, or it ends with the pipe
			err = s.Run()
			in.Close() //nolint:errcheck // nothing waits for it
			var crashed *CrashError
			if !errors.As(err, &crashed) || len(crashed.Stack) == 0 || !strings.Contains(err.Error(), "the screen crashed: ") {
				t.Fatalf("got %v", err)
			}
			text := out.text()
			if left := strings.LastIndex(text, "\x1b[?1049l"); left < strings.LastIndex(text, "\x1b[?1049h") || !strings.Contains(text[strings.LastIndex(text, "\x1b[?1049h"):], "\x1b[?25h") {
				t.Errorf("not restored: %q", text)
			}
			if strings.Contains(text, "goroutine") {
				t.Errorf("the trace is on the terminal: %q", text)
			}
		})
	}
}
