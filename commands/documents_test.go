//go:build !windows

package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/reader"
)

// block is a fenced part of a document.
type block struct {
	file     string
	line     int
	language string
	text     string
}

// documents are the blocks of all documents, in order, below the folder of the project.
func documents(t *testing.T) []block {
	t.Helper()
	var all []block
	for _, file := range []string{
		"README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "SECURITY.md", "CHANGELOG.md", "chaos/plan/README.md", "commands/README.md", "scripts/targets/README.md", "reader/MIGRATING.md",
	} {
		text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		var open *block
		for i, line := range strings.Split(string(text), "\n") {
			language, fence := strings.CutPrefix(line, "```")
			switch {
			case fence && open == nil:
				open = &block{file: file, line: i + 1, language: language}
				if !slices.Contains([]string{"sh", "text", "go", "yaml"}, language) {
					t.Errorf("%s:%d: the block is marked %q: sh is run by a test, go is built, yaml is a plan, text is shown", file, i+1, language)
				}
			case fence:
				all, open = append(all, *open), nil
			case open != nil:
				open.text += line + "\n"
			}
		}
	}
	return all
}

// instead says what a newcomer's command is tried as, where it cannot be as it is written: it waits for Ctrl-C, takes
// minutes, or builds what another step builds. The first that matches counts.
var instead = []struct {
	command *regexp.Regexp
	why     string
	try     func(s *newcomer, command string)
}{
	{regexp.MustCompile(`^go run \. |^go build \. && \./nats-reader `), "the step newcomer of .ci/run builds it; here it is the program of this test", (*newcomer).demo},
	{regexp.MustCompile(`^go install `), "it takes what is published", (*newcomer).published},
	{regexp.MustCompile(`^([A-Z_]+=\S+ )?go test `), "a step of .ci/run, or minutes", (*newcomer).tests},
	{regexp.MustCompile(`^(scripts/|\.ci/run)`), "minutes", (*newcomer).script},
	{regexp.MustCompile(`^nats plugins register `), "the nats CLI is another program: scripts/nats-plugin.sh has it", func(*newcomer, string) {}},
	{regexp.MustCompile(`^nats reader `), "what the nats CLI would start", func(s *newcomer, command string) {
		s.plain(strings.Replace(command, "nats reader", "nats-reader", 1))
	}},
	{regexp.MustCompile(`^git diff `), "there is nothing to see", (*newcomer).paths},
	{regexp.MustCompile(`^nats-reader chaos (run|matrix)\b`), "minutes: the workflow chaos plays plans", (*newcomer).dryRun},
	{regexp.MustCompile(`^nats-reader bench\b`), "minutes, with that many messages", (*newcomer).bench},
	{regexp.MustCompile(`^nats-reader proxy `), "it runs on while the commands below it do", (*newcomer).proxy},
	{regexp.MustCompile(`^curl `), "not everybody has it", (*newcomer).curl},
	{regexp.MustCompile(`^nats-reader watch .*--replay`), "", (*newcomer).plain},
	{regexp.MustCompile(`^nats-reader watch `), "it watches until Ctrl-C", (*newcomer).watch},
	{regexp.MustCompile(`^nats-reader (read .*(--new|--resume|--metrics)|doctor .*--every)`), "it goes on until Ctrl-C", (*newcomer).interrupted},
	{regexp.MustCompile(`^nats-reader `), "", (*newcomer).plain},
}

// shorter are figures of the documents that would take a test's time, and addresses that may be taken.
var shorter = strings.NewReplacer(
	"--for 32s", "--for 200ms", "--for 30s", "--for 200ms", "--for 10s", "--for 200ms", "0.0.0.0:9464", "127.0.0.1:0", " :9464", " 127.0.0.1:0",
)

// Every command of every document, in order, as somebody would type it who reads on: with a server in NATS_URL that has
// the streams which the documents name.
func TestDocumentsAreRun(t *testing.T) {
	t.Parallel()
	s := newNewcomer(t)
	commands := 0
	for _, b := range documents(t) {
		if b.language != "sh" {
			continue
		}
		for _, command := range strings.Split(strings.TrimSpace(strings.ReplaceAll(b.text, "\\\n", " ")), "\n") {
			s.where = fmt.Sprintf("%s:%d: %s", b.file, b.line, command)
			commands++
			s.run(command)
		}
		s.end()
	}
	if commands < 50 {
		t.Errorf("only %d commands were found", commands)
	}
}

// run tries one command.
func (s *newcomer) run(command string) {
	s.Helper()
	command, comment, _ := strings.Cut(command, " #")
	s.code = exitGood
	if said := regexp.MustCompile(`^ exit code (\d+):`).FindStringSubmatch(comment); said != nil {
		s.code, _ = strconv.Atoi(said[1])
	}
	command = strings.Join(strings.Fields(command), " ")
	if command == "" {
		return // a comment
	}
	for _, rule := range instead {
		if rule.command.MatchString(command) {
			rule.try(s, shorter.Replace(command))
			return
		}
	}
	s.Errorf("%s: no rule says how to try it", s.where)
}

// newcomer is where the commands are typed: a folder, a server, and a reader of it.
type newcomer struct {
	*testing.T
	dir   string
	url   string // of the server
	env   []string
	where string // the command, and the document
	code  int    // what it is to end with

	control string // of the proxy that runs
	stop    func()
}

const newcomerConfig = `
accounts {
  A { jetstream: enabled, users: [{user: open, password: open}] }
  SYS { users: [{user: sys, password: sys}] }
}
system_account: SYS
no_auth_user: open
`

func newNewcomer(t *testing.T) *newcomer {
	t.Helper()
	server := startLab(t, lab.Options{Config: newcomerConfig})
	s := &newcomer{T: t, dir: t.TempDir(), url: server.URL(), stop: func() {}}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(s.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("config/nats/context/sys.json", fmt.Sprintf(`{"url":%q,"user":"sys","password":"sys"}`, server.URL()))
	write("config/nats/context/production.json", fmt.Sprintf(`{"url":%q}`, server.URL()))
	write("tmp/keep", "")
	for _, b := range documents(t) {
		if b.file == "README.md" && b.language == "yaml" {
			write("my-plan.yaml", b.text)
		}
	}
	s.env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "NATS_") })
	s.env = append(s.env, "NATS_URL="+server.URL(), "HOME="+s.dir, "TMPDIR="+filepath.Join(s.dir, "tmp"),
		"XDG_CONFIG_HOME="+filepath.Join(s.dir, "config"), "XDG_CACHE_HOME="+filepath.Join(s.dir, "cache"))

	nc, err := nats.Connect(server.URL(), nats.Timeout(time.Minute), nats.FlusherTimeout(2*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	for stream, subject := range map[string]string{"ORDERS": "orders", "PAYMENTS": "payments"} {
		made, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: stream, Subjects: []string{subject + ".>"}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := made.CreateConsumer(t.Context(), jetstream.ConsumerConfig{Durable: "worker", AckPolicy: jetstream.AckExplicitPolicy}); err != nil {
			t.Fatal(err)
		}
		for i := range 30 {
			if _, err := js.Publish(t.Context(), subject+".eu."+strconv.Itoa(i), []byte("one")); err != nil {
				t.Fatal(err)
			}
		}
	}
	r, err := reader.Open(t.Context(), js, reader.Config{Stream: "ORDERS"}) // what inject acts on
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// shell is a command line in the folder.
func (s *newcomer) shell(ctx context.Context, command string) (cmd *exec.Cmd, output *notes) {
	output = &notes{grown: make(chan struct{})}
	cmd = exec.CommandContext(ctx, "bash", "-c", "set -o pipefail; "+command)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.dir, s.env, output, output
	return cmd, output
}

// plain runs the command as it is.
func (s *newcomer) plain(command string) {
	s.Helper()
	if strings.HasPrefix(command, "nats-reader doctor") {
		command += " --quiet --for 200ms"
	}
	if s.control != "" {
		command = strings.ReplaceAll(command, "http://127.0.0.1:8474", s.control)
	}
	cmd, output := s.shell(s.Context(), command)
	_ = cmd.Run() // its exit code is looked at
	code := cmd.ProcessState.ExitCode()
	if found := strings.HasPrefix(command, "nats-reader doctor") && code > exitGood && code < exitCannotJudge; code != s.code && !found {
		s.Errorf("%s\nexit code %d, want %d\n%s", s.where, code, s.code, output)
	}
}

// interrupted runs the command for a moment, and interrupts it: when it is not far yet, that is fine too.
func (s *newcomer) interrupted(command string) {
	s.Helper()
	s.code = exitInterrupted
	s.plain("timeout --preserve-status --signal=INT 1 " + strings.Replace(command, "doctor", "doctor --quiet --for 200ms", 1))
}

// watch runs watch for a moment.
func (s *newcomer) watch(command string) {
	s.Helper()
	s.plain(regexp.MustCompile(`@\d+s`).ReplaceAllString(command, "@100ms") + " --duration 1s")
}

// demo is watch --demo, of the program of this test, for a moment.
func (s *newcomer) demo(command string) {
	s.Helper()
	command = regexp.MustCompile(`^go (run|build) \. (&& \./nats-reader )?`).ReplaceAllString(command, "nats-reader ")
	command, pipe, _ := strings.Cut(command, "|")
	command = regexp.MustCompile(` --duration \S+| --inject \S+`).ReplaceAllString(command, "") + " --duration 1s --inject delete-consumer@100ms"
	if pipe != "" {
		command += " |" + pipe
	}
	s.plain(command)
}

// published is the path of a program of this module.
func (s *newcomer) published(command string) {
	s.Helper()
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		s.Fatal(err)
	}
	path, _, _ := strings.Cut(strings.Fields(command)[2], "@")
	if !bytes.HasPrefix(mod, []byte("module "+path+"\n")) {
		s.Errorf("%s: go.mod names another module", s.where)
	}
}

// tests looks whether there are tests of the packages and names.
func (s *newcomer) tests(command string) {
	s.Helper()
	var source []byte
	folders := 0
	for _, word := range strings.Fields(command) {
		if !strings.HasPrefix(word, "./") || word == "./..." {
			continue
		}
		files, err := filepath.Glob(filepath.Join("..", word, "*_test.go"))
		if err != nil || len(files) == 0 {
			s.Errorf("%s: there are no tests in %s", s.where, word)
		}
		folders++
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				s.Fatal(err)
			}
			source = append(source, text...)
		}
	}
	names := regexp.MustCompile(`(?m)^func ((Test|Benchmark|Fuzz)\w*)\(`).FindAllSubmatch(source, -1)
	for _, wanted := range regexp.MustCompile(`-(run|bench|fuzz) '?([A-Za-z|^]+)`).FindAllStringSubmatch(command, -1) {
		pattern := regexp.MustCompile(wanted[2])
		if wanted[2] != "^" && !slices.ContainsFunc(names, func(name [][]byte) bool { return pattern.Match(name[1]) }) {
			s.Errorf("%s: no test is called %s", s.where, wanted[2])
		}
	}
	for _, flag := range []string{"update", "capture"} {
		if strings.Contains(command, " -"+flag) && !bytes.Contains(source, []byte(`("`+flag+`"`)) {
			s.Errorf("%s: its tests have no flag -%s", s.where, flag)
		}
	}
	if folders == 0 && !strings.HasSuffix(command, " ./...") {
		s.Errorf("%s: it names no package", s.where)
	}
}

// script looks whether the script is there, can be read by bash, and has the flags.
func (s *newcomer) script(command string) {
	s.Helper()
	words := strings.Fields(command)
	path := filepath.Join("..", words[0])
	if info, err := os.Stat(path); err != nil || info.Mode()&0o111 == 0 {
		s.Errorf("%s: %v, or it cannot be executed", s.where, err)
		return
	}
	if out, err := exec.CommandContext(s.Context(), "bash", "-n", path).CombinedOutput(); err != nil {
		s.Errorf("%s: %v: %s", s.where, err, out)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		s.Fatal(err)
	}
	for _, word := range words[1:] {
		if strings.HasPrefix(word, "-") && !bytes.Contains(text, []byte(word)) {
			s.Errorf("%s: it does not know %s", s.where, word)
		}
	}
}

// paths looks whether the files are there.
func (s *newcomer) paths(command string) {
	s.Helper()
	for _, path := range strings.Fields(command)[2:] {
		if _, err := os.Stat(filepath.Join("..", path)); err != nil {
			s.Errorf("%s: %v", s.where, err)
		}
	}
}

// dryRun plays nothing, but has the plans, targets, faults and flags read.
func (s *newcomer) dryRun(command string) {
	s.Helper()
	command = regexp.MustCompile(` --metrics \S+| --servers all`).ReplaceAllString(command, "") // needs ports, and servers that are built
	s.code = exitGood
	s.plain(command + " --dry-run")
}

// bench reads a few messages once.
func (s *newcomer) bench(command string) {
	s.Helper()
	command = regexp.MustCompile(` --(count|rounds|work) \S+`).ReplaceAllString(command, "")
	s.plain(strings.Replace(command, "nats://127.0.0.1:4222", s.url, 1) + " --count 100 --rounds 1")
}

// proxy runs in the background until the end of its block, on ports that are free.
func (s *newcomer) proxy(command string) {
	s.Helper()
	command = strings.NewReplacer("nats://127.0.0.1:4222", s.url, "127.0.0.1:14222", "127.0.0.1:0", "127.0.0.1:8474", "127.0.0.1:0").Replace(command)
	ctx, cancel := context.WithCancel(s.Context())
	cmd, output := s.shell(ctx, "exec "+command)
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	s.stop = func() {
		_ = cmd.Process.Signal(os.Interrupt) // it may be gone
		_ = cmd.Wait()
		cancel()
		if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
			s.Errorf("the proxy ended with exit code %d: %s", code, output)
		}
	}
	output.await(s.T, `.*proxy is ready .*`)
	at := regexp.MustCompile(` control=(\S+)`).FindStringSubmatch(output.String())
	if at == nil {
		s.Fatalf("%s: it says %s", s.where, output)
	}
	s.control = at[1]
}

// end ends what runs in the background.
func (s *newcomer) end() {
	s.stop()
	s.stop = func() {}
}

// curl makes the request in this process.
func (s *newcomer) curl(command string) {
	s.Helper()
	parts := regexp.MustCompile(`^curl -d '(\{.*\})' (http://127\.0\.0\.1:8474)(/\S*)$`).FindStringSubmatch(command)
	if parts == nil {
		s.Fatalf("%s: a request of another shape", s.where)
	}
	status, answer := post(s.T, s.control+parts[3], parts[1])
	if status/100 != 2 || !json.Valid(answer) {
		s.Errorf("%s: %d %s", s.where, status, answer)
	}
}

// post sends a JSON document.
func post(t *testing.T, url, body string) (status int, answer []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	if answer, err = io.ReadAll(response.Body); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, answer
}
