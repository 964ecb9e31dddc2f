package commands

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// No secret that a login is made of is in anything that any command writes: not where all goes well, with --trace,
// not where the server, the login or a file is wrong.
func TestNoSecretIsWritten(t *testing.T) {
	all := logins(t)
	for _, l := range all { // in this process, which is to be alone meanwhile
		t.Run("wrong "+l.name, func(t *testing.T) {
			r := newSecretRun(t, l)
			r.bad()
			r.search()
		})
	}
	t.Run("right", func(t *testing.T) {
		for _, l := range all {
			t.Run(l.name, func(t *testing.T) {
				t.Parallel()
				r := newSecretRun(t, l)
				r.good()
				r.search()
			})
		}
	})
}

// secretRun is a folder in which everything is written that a login's commands write.
type secretRun struct {
	*testing.T
	login  login
	dir    string // what is written
	plan   string // a file elsewhere
	stream string
	number int
	mu     sync.Mutex
}

func newSecretRun(t *testing.T, l login) *secretRun {
	r := &secretRun{T: t, login: l, dir: t.TempDir(), plan: filepath.Join(t.TempDir(), "plan.yaml"), stream: "ORDERS"}
	for _, name := range []string{"tmp", "config", "cache"} {
		if err := os.Mkdir(filepath.Join(r.dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	nc, err := nats.Connect(l.server.URL(), append([]nats.Option{nats.Timeout(time.Minute)}, l.admin...)...)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	r.stream = "ORDERS_" + strings.ToUpper(regexp.MustCompile(`\W`).ReplaceAllString(l.name, "_"))
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: r.stream, Subjects: []string{r.stream + ".>"}}); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if _, err := js.Publish(t.Context(), r.stream+".new", []byte("an order")); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(r.plan, []byte(secretPlan), 0o600); err != nil {
		t.Fatal(err)
	}
	return r
}

const secretPlan = `schema: nats-reader/plan/v1
name: connect
title: On a server of others
server: {connect: true}
load: {rate: 50}
target: {heartbeat: 250ms}
steps: [{when: {at: 100ms}, fault: cut}]
phases: {steady: 200ms}
contract: {silence: 1m, deaf: 1m}
`

// command is a process of the program whose output goes to files of the folder.
func (r *secretRun) command(ctx context.Context, env []string, args ...string) (cmd *exec.Cmd, output string) {
	r.Helper()
	r.mu.Lock()
	r.number++
	output = filepath.Join(r.dir, fmt.Sprintf("%02d-%s.output", r.number, args[0]))
	r.mu.Unlock()
	out, err := os.Create(output)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { out.Close() }) //nolint:errcheck // the process has written it
	cmd = exec.CommandContext(ctx, "nats-reader", args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.dir, out, out
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "NATS_") })
	cmd.Env = append(append(cmd.Env, r.folders()...), env...)
	return cmd, output
}

// folders are the variables that keep what is written inside the folder.
func (r *secretRun) folders() []string {
	return []string{"TMPDIR=" + filepath.Join(r.dir, "tmp"), "XDG_CONFIG_HOME=" + filepath.Join(r.dir, "config"), "XDG_CACHE_HOME=" + filepath.Join(r.dir, "cache")}
}

// run runs a command to its end and wants an exit code.
func (r *secretRun) run(code int, env []string, args ...string) {
	r.Helper()
	cmd, output := r.command(r.Context(), env, args...)
	_ = cmd.Run() // its exit code is looked at
	if got := cmd.ProcessState.ExitCode(); got != code {
		text, _ := os.ReadFile(output)
		r.Errorf("exit code %d, want %d: nats-reader %s\n%s", got, code, strings.Join(args, " "), text)
	}
}

// good runs what a login is used for.
func (r *secretRun) good() {
	l := r.login
	with := func(args ...string) []string { return append(args, l.args...) }
	// What tells most; where a login of the same kind does the rest, that is enough.
	all := [][]string{
		with("watch", r.stream, "--plain", "--trace", "--record", "run.jsonl", "--duration", "1s", "--inject", "delete-consumer@100ms", "--inject", "cut@400ms"),
		with("chaos", "run", r.plan, "--trace", "--report", "text,json,junit,markdown,html", "--out", "reports"),
	}
	files := []string{"run.jsonl", "reports/report.html", "reports/junit.xml", "reports/report.json", "reports/report.md", "reports/report.txt"}
	if !l.like {
		all = append(all, with("doctor", r.stream, "--for", "500ms", "--bundle", "facts.gz", "--format", "json", "--fail-on", "never"),
			with("inject", "purge-stream", r.stream, "--dry-run", "--json"))
		files = append(files, "facts.gz", "place.json")
	}
	if !l.like && hasFlag(&program{}, "watch", "metrics") {
		all = append(all, with("watch", r.stream, "--json", "--duration", "500ms", "--metrics", "127.0.0.1:0"))
	}
	var wait sync.WaitGroup
	for _, args := range all {
		wait.Go(func() { r.run(exitGood, l.env, args...) })
	}
	if !l.like {
		wait.Go(r.throughProxy)
	}
	wait.Wait()
	for _, want := range files {
		if _, err := os.Stat(filepath.Join(r.dir, want)); err != nil {
			r.Error(err)
		}
	}
}

// throughProxy reads through a proxy that knows the login's upstream, with a fault, and asks its control.
func (r *secretRun) throughProxy() {
	const token = "CONTROLTOKEN7secret"
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	args := append([]string{"proxy", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0", "--trace", "--fault", "cut@0s"}, r.login.proxyArgs...)
	cmd, output := r.command(ctx, append([]string{controlTokenEnv + "=" + token}, r.login.env...), args...)
	cmd.Stdout = nil
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		r.Error(err)
		return
	}
	lines := bufio.NewReader(pipe)
	first, err := lines.ReadString('\n')
	at := regexp.MustCompile(`proxy is ready  listen=(\S+) .*control=(\S+)`).FindStringSubmatch(first)
	if at == nil {
		r.Errorf("the first line of the proxy is %q, %v", first, err)
	} else {
		r.run(exitGood, r.login.env, append([]string{"read", r.stream, "--until-end", "--trace", "--format", "json", "--resume", "place.json"}, r.login.through(at[1])...)...)
		r.run(exitGood, nil, "inject", "--proxy", at[2], "--control-token", token, "drop-message(nth=3)", "--for", "10ms")
		r.run(exitCannotJudge, nil, "inject", "--proxy", at[2], "--control-token", "WRONGTOKEN7secret", "cut")
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		r.Error(err)
	}
	rest, err := io.ReadAll(lines)
	if err = errors.Join(err, os.WriteFile(output+".stdout", append([]byte(first), rest...), 0o600)); err != nil {
		r.Error(err)
	}
	_ = cmd.Wait() // interrupted
}

// bad runs what cannot go well: each command says so in words of its own.
func (r *secretRun) bad() {
	l := r.login
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "NATS_") {
			r.Setenv(name, "")
			if err := os.Unsetenv(name); err != nil {
				r.Fatal(err)
			}
		}
	}
	for _, v := range append(l.env, r.folders()...) {
		name, value, _ := strings.Cut(v, "=")
		r.Setenv(name, value)
	}
	commands := [][]string{
		{"read", r.stream}, {"chaos", "run", r.plan, "--quiet"},
		{"watch", r.stream, "--plain", "--duration", "10ms"}, {"doctor", "--for", "1ms"}, {"inject", "purge-stream", r.stream, "--dry-run"},
	}
	for i, args := range l.wrong {
		if i == 1 { // what differs is how an error is told: as one, and in a report
			commands = commands[:2]
		}
		for _, command := range commands {
			r.inside(exitCannotJudge, append(append(command, "--trace", "--timeout", "5s"), args...)...)
		}
	}
	r.inside(exitCannotJudge, append([]string{"read", "NOSUCH", "--trace"}, l.args...)...)
	if strings.Contains(l.args[1], "@") {
		r.inside(exitCannotJudge, "proxy", "--upstream", l.args[1]) // clients log in by themselves
	}
	r.inside(exitGood, append([]string{"chaos", "clear"}, l.args...)...)
}

// inside runs a command in this process: hundreds of new ones would take their time.
func (r *secretRun) inside(code int, args ...string) {
	r.Helper()
	out := &notes{grown: make(chan struct{})}
	got := Main(r.Context(), args, strings.NewReader(""), out, out, "")
	if got != code {
		r.Errorf("exit code %d, want %d: nats-reader %s\n%s", got, code, strings.Join(args, " "), out.String())
	}
	r.number++
	if err := os.WriteFile(filepath.Join(r.dir, fmt.Sprintf("%02d-%s.output", r.number, args[0])), []byte(out.String()), 0o600); err != nil {
		r.Fatal(err)
	}
}

// search looks for the secrets in every file below the folder, in what is packed too.
func (r *secretRun) search() {
	files := 0
	err := filepath.WalkDir(r.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if zipped, err := gzip.NewReader(bytes.NewReader(text)); err == nil {
			if text, err = io.ReadAll(zipped); err != nil {
				return err
			}
		}
		files++
		for _, secret := range append(r.login.secrets, "CONTROLTOKEN7secret", "WRONGTOKEN7secret", "WRONG7secret") {
			for _, form := range []string{secret, url.QueryEscape(secret), base64.StdEncoding.EncodeToString([]byte(secret))} {
				if at := bytes.Index(text, []byte(form)); at >= 0 {
					r.Errorf("%s holds %q:\n%s", filepath.Base(path), form, text[max(0, at-200):min(len(text), at+len(form)+100)])
				}
			}
		}
		return nil
	})
	if err != nil {
		r.Fatal(err)
	}
	if files < 8 {
		r.Errorf("only %d files were searched", files)
	}
}

// hasFlag says whether a command of the program has a flag.
func hasFlag(p *program, command, flag string) bool {
	for _, c := range p.app().Commands {
		if c.Name != command {
			continue
		}
		for _, f := range c.Flags {
			if slices.Contains(f.Names(), flag) {
				return true
			}
		}
	}
	return false
}

// What a panic says and its trace hold no secret either.
func TestNoSecretInACrash(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	const secret = "SECRET7crash"
	c := &crashes{stop: func() {}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer c.guard()
		panic(errors.New("dial nats://ann:" + secret + "@host:4222: refused"))
	}()
	<-done
	u := explainError(c.err())
	var told strings.Builder
	printError(&told, u)
	files, err := filepath.Glob(filepath.Join(dir, "nats-reader-crash-*.txt"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v: %q", err, files)
	}
	trace, err := os.ReadFile(files[0])
	if err != nil || !bytes.Contains(trace, []byte("refused")) || !bytes.Contains(trace, []byte("TestNoSecretInACrash")) {
		t.Errorf("%v: the trace is %s", err, trace)
	}
	for _, text := range []string{told.String(), string(trace)} {
		if strings.Contains(text, secret) {
			t.Errorf("it holds the secret: %s", text)
		}
	}
}
