package commands_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

// ending is one thing that ends a reader.
type ending struct {
	name    string
	stream  func(*jetstream.StreamConfig)
	before  func(*stage)
	bare    bool         // the server has no JetStream
	user    string       // open, where it is not said
	args    []string     // ORDERS, where it is not said
	wreck   func(*stage) // once all is read; nil: Open already fails
	problem []string     // what the line of the error holds
	hint    string       // what the line of the hint holds
}

const endingConfig = `
accounts {
  A { jetstream: {max_consumers: 100}, users: [
    {user: ann, password: ann}
    {user: open, password: open, permissions: {publish: {deny: "nothing.here"}}}
    {user: nocreate, password: nocreate, permissions: {publish: {deny: "$JS.API.CONSUMER.CREATE.>"}}}
    {user: nopull, password: nopull, permissions: {publish: {deny: "$JS.API.CONSUMER.MSG.NEXT.>"}}}
    {user: noinfo, password: noinfo, permissions: {publish: {deny: "$JS.API.STREAM.INFO.>"}}}
    {user: noinbox, password: noinbox, permissions: {subscribe: {deny: "_INBOX.>"}}} ] }
  N { users: [{user: nojs, password: nojs}] }
}
`

// stage is a server with a stream, for one run of a command.
type stage struct {
	testing.TB
	ctx    context.Context
	server *lab.Server
	js     jetstream.JetStream
}

func newStage(t testing.TB, c ending) *stage {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	b := &stage{TB: t, ctx: ctx}
	var err error
	o := lab.Options{Config: endingConfig, ReadyOptions: []nats.Option{nats.UserInfo("ann", "ann")}}
	if c.bare {
		o = lab.Options{NoJetStream: true}
	}
	b.server, err = lab.Start(ctx, o)
	b.must(err)
	t.Cleanup(func() { b.must(b.server.Close()) })
	if c.bare {
		return b
	}
	nc, err := nats.Connect(b.server.URL(), nats.UserInfo("ann", "ann"), nats.Timeout(30*time.Second), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	b.must(err)
	t.Cleanup(nc.Close)
	b.js, err = jetstream.New(nc)
	b.must(err)
	cfg := jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"orders.>"}}
	if c.stream != nil {
		c.stream(&cfg)
	}
	_, err = b.js.CreateStream(ctx, cfg)
	b.must(err)
	b.publish(1, 10)
	if c.before != nil {
		c.before(b)
	}
	return b
}

func (b *stage) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *stage) publish(from, to int) {
	b.Helper()
	for i := from; i <= to; i++ {
		_, err := b.js.Publish(b.ctx, "orders.a", fmt.Appendf(nil, "orders.a-%d", i))
		b.must(err)
	}
}

func (b *stage) consumer(cfg jetstream.ConsumerConfig) {
	b.Helper()
	_, err := b.js.CreateConsumer(b.ctx, "ORDERS", cfg)
	b.must(err)
}

// play runs a command to its end.
func (b *stage) play(command string, c ending) {
	b.Helper()
	args := c.args
	if args == nil {
		args = []string{"ORDERS"}
	}
	user := c.user
	if user == "" {
		user = "open"
	}
	args = append([]string{command}, args...)
	args = append(args, "--no-context", "--server", b.server.URL())
	if !c.bare {
		args = append(args, "--user", user, "--password", user)
	}
	stdout := &awaited{text: "orders.a-10\n", seen: make(chan struct{})}
	if command == "watch" {
		stdout.text = "nothing waits"
	}
	stderr := &awaited{seen: make(chan struct{})}
	ended := make(chan int, 1)
	go func() { ended <- b.program(stdout, stderr, args...) }()
	if c.wreck != nil {
		select {
		case <-stdout.seen:
			c.wreck(b)
		case code := <-ended:
			b.Fatalf("ended with %d before anything was wrong\n%s%s", code, stdout, stderr)
		}
	}
	code := <-ended
	if b.Logf("exit code %d\n%s%s", code, stdout, stderr); code != 3 {
		b.Errorf("exit code %d, want 3", code)
	}
	b.told(stderr.String(), c)
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	switch {
	case command == "watch" && !strings.HasPrefix(lines[len(lines)-1], "contract unknown  "):
		b.Errorf("the last line is %q, want a verdict of unknown", lines[len(lines)-1])
	case command == "watch" && !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, " because: ") && holds(l, c.problem) }):
		b.Errorf("no reason that holds %q", c.problem)
	case command == "read" && c.wreck == nil && stdout.String() != "":
		b.Errorf("read wrote %q", stdout)
	}
}

// program runs the program as a process of its own and gives its exit code.
func (b *stage) program(stdout, stderr io.Writer, args ...string) int {
	cmd := exec.CommandContext(b.ctx, "nats-reader", args...)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		b.Errorf("run %q: %v", args, err)
		return -1
	}
	return cmd.ProcessState.ExitCode()
}

// told expects one line that says what is wrong and one that says what to do, behind
// warnings at most.
func (b *stage) told(stderr string, c ending) {
	b.Helper()
	const problem, hint, warning = "nats-reader: error: ", "nats-reader: hint: ", "nats-reader: warning: "
	lines := strings.Split(strings.TrimSuffix(stderr, "\n"), "\n")
	for len(lines) > 0 && strings.HasPrefix(lines[0], warning) {
		lines = lines[1:]
	}
	switch {
	case len(lines) != 2 || !strings.HasPrefix(lines[0], problem) || !strings.HasPrefix(lines[1], hint):
		b.Errorf("stderr is %q, want a line of the error and one of the hint", lines)
	case !holds(lines[0], c.problem):
		b.Errorf("%q does not hold %q", lines[0], c.problem)
	case !strings.Contains(lines[1], c.hint):
		b.Errorf("%q does not hold %q", lines[1], c.hint)
	}
}

func holds(text string, parts []string) bool {
	return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(text, p) })
}

// awaited is an output that says when a text was written to it.
type awaited struct {
	mu   sync.Mutex
	all  bytes.Buffer
	text string
	once sync.Once
	seen chan struct{}
}

func (w *awaited) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.all.Write(p)
	if w.text != "" && bytes.Contains(w.all.Bytes(), []byte(w.text)) {
		w.once.Do(func() { close(w.seen) })
	}
	return n, err
}

func (w *awaited) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all.String()
}
