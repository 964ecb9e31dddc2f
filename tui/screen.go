package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	// Before bubbletea's init function asks the terminal.
	_ "github.com/an-open-reader/nats-reader/tui/background"
)

// framesPerSecond is how often the terminal is drawn at most.
const framesPerSecond = 10

// CrashError is a panic of the screen, after the terminal was restored.
type CrashError struct {
	Value any
	Stack []byte
}

// Error tells the panic in a line.
func (e *CrashError) Error() string { return fmt.Sprintf("the screen crashed: %v", e.Value) }

// Screen is a model on a terminal.
type Screen struct {
	model   *guarded
	out     *terminal
	program *tea.Program
}

// NewScreen makes a screen that draws on out and takes keys from in.
func NewScreen(m *Model, in io.Reader, out io.Writer) *Screen {
	s := &Screen{model: &guarded{model: m}, out: &terminal{to: out}}
	s.program = tea.NewProgram(s.model,
		tea.WithInput(in), tea.WithOutput(s.out), tea.WithAltScreen(), tea.WithFPS(framesPerSecond),
		tea.WithoutSignalHandler(), // the program's own context takes the signals
	)
	return s
}

// Run draws until Over is called or the terminal is gone, and restores the terminal. The error is a
// *CrashError where the screen panicked.
func (s *Screen) Run() error {
	_, err := s.program.Run()
	if crash := s.model.crash(); crash != nil {
		return crash
	}
	if errors.Is(err, tea.ErrProgramKilled) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// Over says that the run has ended: what was told by then is drawn once more, and Run returns.
func (s *Screen) Over() { s.program.Send(overMsg{}) }

// Kill ends Run without another drawing, where the terminal does not take it any more.
func (s *Screen) Kill() { s.program.Kill() }

// Copy puts a text into the clipboard of the terminal, as far as it lets one.
func (s *Screen) Copy(text string) error {
	termenv.NewOutput(s.out, termenv.WithProfile(termenv.Ascii), termenv.WithUnsafe()).Copy(text)
	return s.out.failure()
}

// terminal takes whole writes, one after the other.
type terminal struct {
	mu  sync.Mutex
	to  io.Writer
	err error
}

func (t *terminal) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, err := t.to.Write(b)
	if err != nil && t.err == nil {
		t.err = err
	}
	return n, err
}

func (t *terminal) failure() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// Fd lets the size of the terminal be asked for.
func (t *terminal) Fd() uintptr {
	if f, ok := t.to.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

// Read is not for reading: it makes a file of it for bubbletea.
func (t *terminal) Read([]byte) (int, error) { return 0, io.EOF }

// Close does nothing: the terminal is not ours.
func (t *terminal) Close() error { return nil }

// guarded is a model whose panics end the screen in order: bubbletea would print them over it.
type guarded struct {
	model *Model

	mu   sync.Mutex
	dead *CrashError
}

func (g *guarded) crash() *CrashError {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.dead
}

func (g *guarded) caught(v any, stack []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.dead == nil {
		g.dead = &CrashError{v, stack}
	}
}

// crashMsg is a panic on a goroutine of a command.
type crashMsg struct {
	value any
	stack []byte
}

func (g *guarded) Init() tea.Cmd { return g.safely(g.model.Init()) }

func (g *guarded) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	defer func() {
		if v := recover(); v != nil {
			g.caught(v, debug.Stack())
			next, cmd = g, tea.Quit
		}
	}()
	if c, ok := msg.(crashMsg); ok {
		g.caught(c.value, c.stack)
		return g, tea.Quit
	}
	if g.crash() != nil { // of View
		return g, tea.Quit
	}
	_, cmd = g.model.Update(msg)
	return g, g.safely(cmd)
}

func (g *guarded) View() (view string) {
	defer func() {
		if v := recover(); v != nil {
			g.caught(v, debug.Stack())
			view = ""
		}
	}()
	return g.model.View()
}

// safely has a command's panic come as a message.
func (g *guarded) safely(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer func() {
			if v := recover(); v != nil {
				msg = crashMsg{v, debug.Stack()}
			}
		}()
		return cmd()
	}
}
