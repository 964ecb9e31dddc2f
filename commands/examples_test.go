package commands

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

// Every example of every help text is run, with the program, as an operator would: by a
// shell, in a folder of its own, against a server with an account of its own.
func TestExamplesRun(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Fatal("the examples are run by sh, which is not there")
	}
	var config strings.Builder
	number := 0
	for _, all := range examples {
		for range all {
			fmt.Fprintf(&config, "  E%d { jetstream: enabled, users: [{user: e%d, password: e%d}] }\n", number, number, number)
			number++
		}
	}
	server, err := lab.Start(t.Context(), lab.Options{Config: "accounts {\n" + config.String() + "}\nno_auth_user: e0\n"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	number = 0
	for name, all := range examples {
		for i, e := range all {
			account := fmt.Sprintf("e%d", number)
			number++
			t.Run(fmt.Sprintf("%s-%d", strings.ReplaceAll(typed(name), " ", "-"), i+1), func(t *testing.T) {
				t.Parallel()
				s := stage{t: t, dir: t.TempDir(), address: strings.TrimPrefix(server.URL(), "nats://")}
				s.url = fmt.Sprintf("nats://%s:%s@%s", account, account, s.address)
				s.set(e.needs)
				s.play(e)
			})
		}
	}
}

// stage is where one example is run.
type stage struct {
	t       *testing.T
	dir     string
	address string // of the server
	url     string // with the login
	control string // of the proxy, host and port
	server  bool   // NATS_URL names it
	context bool   // a context does
}

// command is one that runs in the stage.
func (s *stage) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = s.dir
	url := "NATS_URL=nats://127.0.0.1:1" // nobody is there
	switch {
	case s.server:
		url = "NATS_URL=" + s.url
	case s.context:
		url = "A_CONTEXT=alone"
	}
	c.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "XDG_CONFIG_HOME=" + s.dir + "/.config", "XDG_CACHE_HOME=" + s.dir + "/.cache",
		"TMPDIR=" + s.dir + "/.tmp", url, "LANG=C.UTF-8",
	}
	return c
}

// set builds what an example needs.
func (s *stage) set(n needs) {
	s.t.Helper()
	for _, dir := range []string{".tmp", ".config/nats/context"} {
		if err := os.MkdirAll(filepath.Join(s.dir, dir), 0o700); err != nil {
			s.t.Fatal(err)
		}
	}
	s.server = n&needServer != 0
	if s.server {
		s.fill()
	}
	if n&needContext != 0 {
		s.write(".config/nats/context/prod.json", fmt.Sprintf(`{"url": %q}`, s.url))
		s.server, s.context = false, true // it alone leads there
	}
	if n&needReader != 0 {
		s.background("session 1 open", "watch", "ORDERS", "--plain")
	}
	if n&needProxy != 0 {
		told := s.background("proxy is ready", "proxy", "--upstream", "nats://"+s.address, "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0")
		found := regexp.MustCompile(`control=http://(\S+)`).FindStringSubmatch(told)
		if found == nil {
			s.t.Fatalf("the proxy tells no control: %s", told)
		}
		s.control = found[1]
	}
	if n&needPlan != 0 {
		s.write("my-plan.yaml", "schema: nats-reader/plan/v1\nname: my-plan\ntitle: The consumer is deleted\nload: {rate: 100, prefill: 100}\n"+
			"steps:\n  - when: {at: 0s}\n    fault: delete-consumer\n")
	}
	if n&needScript != 0 {
		s.write("my-reader.sh", "exec nats-reader read \"$NATS_READER_STREAM\"\n")
	}
	if n&needRun != 0 {
		s.copy("testdata/run.jsonl", "run.jsonl")
	}
	if n&needMatrix != 0 {
		if err := os.Mkdir(filepath.Join(s.dir, "matrix"), 0o700); err != nil {
			s.t.Fatal(err)
		}
		s.copy("../chaos/matrix/results/embedded.json", "matrix/report.json")
	}
	if n&needBundle != 0 {
		s.server = true
		s.fill()
		if text, err := s.command(s.t.Context(), "nats-reader", "doctor", "--for", "1s", "--bundle", "facts.gz", "--fail-on", "never").CombinedOutput(); err != nil {
			s.t.Fatalf("%v: %s", err, text)
		}
		s.server = false // nothing is asked any more
	}
}

// fill makes the streams, and a publisher that goes on to the end of the test.
func (s *stage) fill() {
	s.t.Helper()
	nc, err := nats.Connect(s.url, nats.Timeout(30*time.Second))
	if err != nil {
		s.t.Fatal(err)
	}
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(30*time.Second))
	if err != nil {
		s.t.Fatal(err)
	}
	for name, subjects := range map[string]string{"ORDERS": "orders.>", "PAYMENTS": "payments.>"} {
		if _, err := js.CreateStream(s.t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{subjects}}); err != nil {
			s.t.Fatal(err)
		}
	}
	for i := range 30 {
		for _, subject := range []string{"orders.eu.new", "payments.card"} {
			if _, err := js.Publish(s.t.Context(), subject, fmt.Appendf(nil, "order %d", i)); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	if _, err := js.CreateConsumer(s.t.Context(), "ORDERS", jetstream.ConsumerConfig{Durable: "worker", AckPolicy: jetstream.AckExplicitPolicy}); err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var publisher sync.WaitGroup
	publisher.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_ = nc.Publish("orders.eu.new", []byte("order of now")) // one that is late does not count
			case <-ctx.Done():
				return
			}
		}
	})
	s.t.Cleanup(func() {
		cancel()
		publisher.Wait()
		nc.Close()
	})
}

func (s *stage) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) copy(from, to string) {
	s.t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		s.t.Fatal(err)
	}
	s.write(to, string(text))
}

// background runs the program to the end of the test, and gives what it has written
// when a text of it was written.
func (s *stage) background(until string, args ...string) string {
	s.t.Helper()
	told := make(chan struct{})
	written := &untilTold{text: until, end: func() { close(told) }}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	c := s.command(ctx, "nats-reader", args...)
	c.Stdout, c.Stderr = written, written
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	if err := c.Start(); err != nil {
		cancel()
		s.t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- c.Wait() }()
	s.t.Cleanup(func() {
		cancel()
		<-over
	})
	select {
	case <-told:
		return written.told
	case err := <-over:
		over <- err
		s.t.Fatalf("nats-reader %s ended: %v", strings.Join(args, " "), err)
		return ""
	}
}

// play runs an example and looks at how it ends.
func (s *stage) play(e example) {
	s.t.Helper()
	line := strings.ReplaceAll(e.line, "127.0.0.1:4222", s.address)
	line = strings.ReplaceAll(line, "127.0.0.1:14222", "127.0.0.1:0")
	control := s.control
	if control == "" {
		control = "127.0.0.1:0"
	}
	line = strings.ReplaceAll(line, "127.0.0.1:8474", control)
	want := e.code
	if e.until != "" {
		line, want = "exec "+line, exitInterrupted // the shell gets no signal
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Minute)
	defer cancel()
	c := s.command(ctx, "sh", "-c", line)
	text := &untilTold{text: e.until, end: func() {
		if e.until != "" {
			_ = c.Process.Signal(os.Interrupt) // one that has ended is told below
		}
	}}
	c.Stdout, c.Stderr = text, text
	err := c.Run()
	if got := c.ProcessState.ExitCode(); got != want {
		s.t.Errorf("%s\nexit code %d, want %d: %v\n%s", line, got, want, err, text.String())
	}
	if strings.Contains(text.String(), "nats-reader: error:") || strings.Contains(text.String(), "DATA RACE") {
		s.t.Errorf("%s\n%s", line, text.String())
	}
	left, err := os.ReadDir(filepath.Join(s.dir, ".tmp"))
	if err != nil || len(left) > 0 {
		s.t.Errorf("%s\nleft: %v, %v", line, left, err)
	}
}
