package commands_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/an-open-reader/nats-reader/chaos"
)

type programsKey struct{}

// lineLimit is how long a program may take to write an awaited line, or to end.
const lineLimit = 2 * time.Minute

// programs are what a script has started and not ended yet.
type programs struct {
	mu     sync.Mutex
	byName map[string]*running
}

// running is one of them, with what it has written.
type running struct {
	cmd   *exec.Cmd
	lines *bufio.Reader
	said  bytes.Buffer
}

func (p *programs) killAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.byName {
		_ = r.cmd.Process.Kill() // gone already, perhaps
		_ = r.cmd.Wait()
	}
}

func program(ts *testscript.TestScript, name string) *running {
	p := ts.Value(programsKey{}).(*programs)
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.byName[name]
	if r == nil {
		ts.Fatalf("no program %s runs", name)
	}
	return r
}

// start NAME COMMAND ARGS...: starts a program in the background.
func startProgram(ts *testscript.TestScript, _ bool, args []string) {
	cmd, lines := startLines(ts, args[1], args[2:]...)
	p := ts.Value(programsKey{}).(*programs)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.byName[args[0]] = &running{cmd: cmd, lines: lines}
}

// await NAME PATTERN [VARIABLE...]: waits for a line of the program; the groups of
// the pattern become variables.
func awaitLine(ts *testscript.TestScript, _ bool, args []string) {
	r := program(ts, args[0])
	pattern := regexp.MustCompile(args[1])
	limit := time.AfterFunc(lineLimit, func() { _ = r.cmd.Process.Kill() }) // which ends its lines
	defer limit.Stop()
	for {
		text, err := r.lines.ReadString('\n')
		r.said.WriteString(text)
		if found := pattern.FindStringSubmatch(text); found != nil {
			for i, name := range args[2:] {
				ts.Setenv(name, found[i+1])
			}
			return
		}
		if err != nil {
			ts.Fatalf("%s ended without a line like %s:\n%s", args[0], args[1], r.said.String())
		}
	}
}

// end NAME INT|TERM|HUP|KILL CODE FILE: signals the program, writes all its lines to
// FILE, and expects its exit code.
func endProgram(ts *testscript.TestScript, _ bool, args []string) {
	r := program(ts, args[0])
	signals := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "KILL": os.Kill}
	ts.Check(r.cmd.Process.Signal(signals[args[1]]))
	limit := time.AfterFunc(lineLimit, func() { _ = r.cmd.Process.Kill() })
	defer limit.Stop()
	_, err := io.Copy(&r.said, r.lines)
	ts.Check(err)
	_ = r.cmd.Wait() // the exit code is looked at
	ts.Check(os.WriteFile(ts.MkAbs(args[3]), r.said.Bytes(), 0o600))
	if got := strconv.Itoa(r.cmd.ProcessState.ExitCode()); got != args[2] {
		ts.Fatalf("%s ends with exit code %s, want %s:\n%s", args[0], got, args[2], r.said.String())
	}
	p := ts.Value(programsKey{}).(*programs)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.byName, args[0])
}

// consumer STREAM NAME ours|foreign|durable|forever: makes a consumer; the last kind never
// lapses.
func makeConsumer(ts *testscript.TestScript, _ bool, args []string) {
	js, ctx, done := manage(ts)
	defer done()
	cfg := jetstream.ConsumerConfig{Name: args[1], InactiveThreshold: time.Hour}
	switch args[2] {
	case "ours":
		cfg.Metadata = map[string]string{chaos.OwnerKey: "a script"}
	case "durable":
		cfg.Durable = args[1]
	case "forever":
		cfg.Durable, cfg.InactiveThreshold = args[1], 0
	}
	_, err := js.CreateConsumer(ctx, args[0], cfg)
	ts.Check(err)
}

// [!] paused STREAM CONSUMER
func expectPaused(ts *testscript.TestScript, neg bool, args []string) {
	js, ctx, done := manage(ts)
	defer done()
	c, err := js.Consumer(ctx, args[0], args[1])
	ts.Check(err)
	if c.CachedInfo().Paused == neg {
		ts.Fatalf("paused: %v", !neg)
	}
}

// http METHOD URL BODY FILE: sends a request as any program would and writes the
// status and the answer to FILE.
func sendHTTP(ts *testscript.TestScript, _ bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, args[0], args[1], strings.NewReader(args[2]))
	ts.Check(err)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	ts.Check(err)
	defer answer.Body.Close() //nolint:errcheck // it was read
	body, err := io.ReadAll(answer.Body)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[3]), append([]byte(answer.Status+"\n"), body...), 0o600))
}

// [!] client URL: a client gets in, or is turned away and not kept waiting.
func connectClient(ts *testscript.TestScript, neg bool, args []string) {
	nc, err := nats.Connect(args[0], nats.NoReconnect(), nats.Timeout(30*time.Second))
	if err == nil {
		nc.Close()
	}
	if (err != nil) != neg || errors.Is(err, nats.ErrTimeout) {
		ts.Fatalf("connect to %s: %v", args[0], err)
	}
}
