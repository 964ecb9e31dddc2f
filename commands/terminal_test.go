//go:build unix

package commands_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

// terminalLimit is how long a terminal test waits for what it wants to see.
const terminalLimit = 90 * time.Second

// terminal runs the program on a pseudo-terminal, which answers no query, and shows what a user would see.
type terminal struct {
	t    *testing.T
	cmd  *exec.Cmd
	pty  *os.File
	tmp  string
	left sync.WaitGroup

	mu     sync.Mutex
	screen vt10x.Terminal
	raw    strings.Builder
	news   chan struct{} // holds a value when something was drawn since the last look
	gone   chan struct{} // closed when the terminal has been read to its end
}

// onTerminal starts the program. env is added to a plain terminal's.
func onTerminal(t *testing.T, cols, rows int, env []string, args ...string) *terminal {
	t.Helper()
	return shellOnTerminal(t, cols, rows, env, "nats-reader", args...)
}

// shellOnTerminal starts another program, such as a shell.
func shellOnTerminal(t *testing.T, cols, rows int, env []string, name string, args ...string) *terminal {
	t.Helper()
	x := &terminal{
		t: t, tmp: t.TempDir(), screen: vt10x.New(vt10x.WithSize(cols, rows), vt10x.WithWriter(io.Discard)),
		news: make(chan struct{}, 1), gone: make(chan struct{}),
	}
	x.cmd = exec.Command(name, args...)
	x.cmd.Dir = t.TempDir()
	x.cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + x.cmd.Dir, "TMPDIR=" + x.tmp, "TERM=xterm-256color", "LANG=C.UTF-8", "NO_COLOR=1",
	}, env...)
	var err error
	if x.pty, err = pty.StartWithSize(x.cmd, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)}); err != nil {
		t.Fatal(err)
	}
	x.left.Go(x.read)
	t.Cleanup(func() {
		x.cmd.Process.Kill() //nolint:errcheck // it has ended, unless the test failed
		x.pty.Close()        //nolint:errcheck // nor is it read any more
		x.left.Wait()
	})
	return x
}

func (x *terminal) read() {
	defer close(x.gone)
	buffer := make([]byte, 32<<10)
	for {
		n, err := x.pty.Read(buffer)
		x.mu.Lock()
		x.raw.Write(buffer[:n])
		x.screen.Write(buffer[:n]) //nolint:errcheck // it takes everything
		x.mu.Unlock()
		select {
		case x.news <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// text is what the terminal shows.
func (x *terminal) text() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.screen.String()
}

// sees waits until all words are on the terminal.
func (x *terminal) sees(words ...string) {
	x.t.Helper()
	limit := time.NewTimer(terminalLimit)
	defer limit.Stop()
	for {
		missing := ""
		text := x.text()
		for _, word := range words {
			if !strings.Contains(text, word) {
				missing = word
			}
		}
		if missing == "" {
			return
		}
		select {
		case <-x.news:
		case <-x.gone:
			if text = x.text(); !strings.Contains(text, missing) {
				x.t.Fatalf("the program has ended, and %q was not seen:\n%s", missing, text)
			}
		case <-limit.C:
			x.t.Fatalf("%q was not seen:\n%s", missing, text)
		}
	}
}

func (x *terminal) types(keys string) {
	x.t.Helper()
	if _, err := x.pty.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

// ends waits for the end of the program, and checks that the terminal is as it was and nothing is left.
func (x *terminal) ends(code int) {
	x.t.Helper()
	kill := time.AfterFunc(terminalLimit, func() { x.cmd.Process.Kill() }) //nolint:errcheck // then it has ended
	defer kill.Stop()
	err := x.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		x.t.Fatal(err)
	}
	if got := x.cmd.ProcessState.ExitCode(); got != code {
		x.t.Errorf("exit code %d, want %d:\n%s", got, code, x.text())
	}
	if files, _ := filepath.Glob(x.tmp + "/*"); len(files) > 0 {
		x.t.Errorf("left in the temporary folder: %v", files)
	}
}

// restored checks that the screen was left.
func (x *terminal) restored() {
	x.t.Helper()
	<-x.gone
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.screen.CursorVisible() || x.screen.Mode()&vt10x.ModeAltScreen != 0 {
		x.t.Errorf("the terminal is not as it was: cursor %t, mode %b", x.screen.CursorVisible(), x.screen.Mode())
	}
}

// The screen on a terminal: faults are armed and made by keys, sessions 2 and 3 are seen, all is cleared, and
// the summary stays.
func TestScreenOnATerminal(t *testing.T) {
	x := onTerminal(t, 120, 40, nil, "watch", "--demo", "--heartbeat", "500ms")
	x.sees("LIVE  #1 for", "contract HELD", "[1 Sessions]", "[4 Faults]")
	x.types("A")
	x.sees("[ARMED]")
	x.types("!")
	x.sees("! a fault's key")
	x.types("d")
	x.sees("LIVE  #2 for", "consumer deleted", "session 2 replaced session 1")
	x.types("!b")
	x.sees("LIVE  #3 for", "answers lost")
	x.types("!l")
	x.sees("ON: l latency", "faults on 1")
	x.types("0")
	x.sees("1 fault is undone", "3 fired, 0 on")
	x.types("x")
	x.sees("written: nats-reader-DEMO-", ".jsonl, .md, .html")
	x.types("q")
	x.ends(0)
	x.restored()
	x.sees("watched stream DEMO", "sessions replaced  times=2", "faults fired  times=3", "measured by the publisher's acknowledged ids", "contract held", "lost=0 duplicated=0 out_of_order=0 sessions=3", "orphans=0")
	exported, _ := filepath.Glob(x.cmd.Dir + "/nats-reader-DEMO-*")
	if len(exported) != 3 {
		t.Errorf("exported %v", exported)
	}
}

// What is asked for, what is refused while another fault is on, and what 0 undoes.
func TestFaultsByHand(t *testing.T) {
	x := onTerminal(t, 120, 40, nil, "watch", "--demo", "--heartbeat", "500ms", "--inject", "latency@0s+100s", "--inject", "cut@100s")
	x.sees("LIVE  #1 for", "ON: l latency")
	x.types("!")
	x.sees("not armed: A arms the faults")
	x.types("A!S")
	x.sees("purge-stream destroys messages: type DEMO: _")
	x.types("DEM\r")
	x.sees(`purge-stream: not made: "DEM" is not "DEMO"`)
	x.types("!SDEMO\r")
	x.sees("fault purge-stream fired  stream=DEMO")
	x.types("!l")
	x.sees("latency: it is on: 0 undoes it")
	x.types("!Z")
	x.sees("Z freeze-server", "fault freeze-server fired")
	x.types("!K")
	x.sees("kill-server: another fault of the server's process is on: 0 undoes it")
	x.types("!Y")
	x.sees("partition: ")
	x.types("0")
	x.sees("2 faults are undone; none is to come", "fault freeze-server ended", "fault latency ended", "3 fired, 0 on", "LIVE  #")
	x.types("5/purge\r")
	x.sees("/purge]", "1 of ")
	x.types("q")
	x.ends(0)
	x.restored()
	x.sees("faults fired  times=3 freeze-server=1 latency=1 purge-stream=1", "contract held")
}

// An interrupt leaves the terminal as it was, and the faults undone.
func TestInterruptedScreen(t *testing.T) {
	for name, interrupt := range map[string]func(*terminal){
		"key":     func(x *terminal) { x.types("\x03") },
		"SIGTERM": func(x *terminal) { x.cmd.Process.Signal(syscall.SIGTERM) }, //nolint:errcheck // the end is checked
	} {
		t.Run(name, func(t *testing.T) {
			x := onTerminal(t, 80, 24, nil, "watch", "--demo", "--arm", "--inject", "latency@0s+100s")
			x.sees("LIVE  #1 for", "ON: l latency", "[ARMED]")
			interrupt(x)
			x.ends(130)
			x.restored()
			x.sees("contract held", "lost=0")
		})
	}
}

// A terminal that is closed ends the run, in order.
func TestClosedTerminal(t *testing.T) {
	x := onTerminal(t, 80, 24, nil, "watch", "--demo", "--record", "run.jsonl")
	x.sees("LIVE  #1 for")
	x.pty.Close() //nolint:errcheck // that is what is tested
	x.ends(130)
	record, err := os.ReadFile(filepath.Join(x.cmd.Dir, "run.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(record)), "\n")
	if last := lines[len(lines)-1]; !strings.Contains(last, `"contract":"held"`) || !strings.Contains(last, `"interrupted":true`) {
		t.Errorf("the record ends with %s", last)
	}
}

// A server that does not come back: the screen says so, and the end leaves the terminal as it was.
func TestServerLostForGood(t *testing.T) {
	server, err := lab.Start(t.Context(), lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	nc, err := nats.Connect(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	js, err := jetstream.New(nc)
	if err == nil {
		_, err = js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"orders.>"}})
	}
	nc.Close()
	if err != nil {
		t.Fatal(err)
	}
	x := onTerminal(t, 100, 30, nil, "watch", "ORDERS", "--arm", "--server", server.URL())
	x.sees("LIVE  #1 for", "[ARMED]")
	x.types("!k")
	x.sees("1 fired, 0 on", "LIVE  #")
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	x.sees("DISCONNECTED  for", "the connection is down")
	x.types("q")
	x.sees("ending: faults are undone")
	x.types("q")
	x.ends(130)
	x.restored()
	x.sees("watched stream ORDERS", "contract ", "orphans=unknown")
}

// Where a screen is not wanted, or cannot be, there are lines, and no sign that is none.
func TestLinesOnATerminal(t *testing.T) {
	for _, c := range []struct {
		env  []string
		args []string
	}{
		{nil, []string{"--plain"}}, {[]string{"TERM=dumb"}, nil}, {nil, []string{"--json"}},
	} {
		x := onTerminal(t, 80, 24, c.env, append([]string{"watch", "--demo", "--duration", "1s"}, c.args...)...)
		x.ends(0)
		<-x.gone
		if raw := x.raw.String(); strings.Contains(raw, "\x1b") || !strings.Contains(raw, "publisher is running") {
			t.Errorf("%v %v: %q", c.env, c.args, raw)
		}
	}
}

// A replay on a terminal ends with q, and its summary stays.
func TestReplayOnATerminal(t *testing.T) {
	record, err := os.ReadFile("testdata/run.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "run.jsonl")
	if err := os.WriteFile(path, record, 0o600); err != nil {
		t.Fatal(err)
	}
	x := onTerminal(t, 120, 40, nil, "watch", "--replay", path, "--speed", "64")
	x.sees("replay of", "at its end", "contract HELD", "CLOSED")
	x.types("\x1b[D\x1b[D")
	x.sees("LIVE  #")
	x.types("q")
	x.ends(0)
	x.restored()
	x.sees("contract held")
}

// No command asks the terminal anything, or waits for an answer that does not come: a query would take five
// seconds. Half a second is enough for a start, but on a machine so busy that it is not without a terminal either.
func TestNoTerminalQuery(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"chaos", "list"}, {"read"}} {
		best, piped := time.Hour, time.Hour
		for range 3 {
			began := time.Now()
			x := onTerminal(t, 80, 24, []string{"COLORTERM=truecolor"}, args...)
			<-x.gone
			best = min(best, time.Since(began))
			x.cmd.Wait() //nolint:errcheck // read without a stream is an error
			if raw := x.raw.String(); strings.Contains(raw, "\x1b") || raw == "" {
				t.Errorf("%v: writes %q", args, raw)
			}
			if best < 500*time.Millisecond {
				break
			}
			began = time.Now()
			exec.Command("nats-reader", args...).Run() //nolint:errcheck // only its time matters
			piped = min(piped, time.Since(began))
		}
		if best >= 500*time.Millisecond && best > 3*piped+time.Second {
			t.Errorf("%v takes %s on a terminal, and %s without", args, best, piped)
		}
	}
}
