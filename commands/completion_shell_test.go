//go:build unix

package commands_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

// shellsToTry names, beside bash, the shells whose completion is tried; scripts/completion.sh sets it.
const shellsToTry = "NATS_READER_SHELLS"

// The completion of a shell that somebody types in: the script as it is installed, the program, and a server.
func TestCompletionInAShell(t *testing.T) {
	t.Parallel()
	shells := append([]string{"bash"}, strings.Fields(os.Getenv(shellsToTry))...)
	server, err := lab.Start(t.Context(), lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	nc, err := nats.Connect(server.URL(), nats.Timeout(30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	for name, subject := range map[string]string{"ORDERS": "orders.>", "PAYMENTS": "payments.>"} {
		if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{subject}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := js.Publish(t.Context(), "orders.overseas.new", nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []jetstream.ConsumerConfig{{Durable: "worker", AckPolicy: jetstream.AckExplicitPolicy}, {Name: "passing-by", InactiveThreshold: time.Hour}} {
		if _, err := js.CreateConsumer(t.Context(), "ORDERS", c); err != nil {
			t.Fatal(err)
		}
	}
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			if _, err := exec.LookPath(shell); err != nil {
				t.Fatalf("%s is not there, so that its completion cannot be tried: %v", shell, err)
			}
			typeInShell(t, startShell(t, shell), server.URL())
		})
	}
}

// startShell starts an interactive shell that has the completion, as the help says to install it.
func startShell(t *testing.T, shell string) *terminal {
	t.Helper()
	home := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(".config/nats/context/production.json", `{"url": "nats://127.0.0.1:1"}`)
	write("work/unlikely-name.yaml", "")
	write("work/unlikely-name.txt", "")
	args := map[string][]string{
		"bash": {"--noprofile", "--rcfile", home + "/bashrc", "-i"},
		"zsh":  {"-i"},
		"fish": {"-i"},
	}[shell]
	const prompt = "PS1='READY> '\n"
	write("bashrc", prompt+"HISTFILE=\nbind 'set enable-bracketed-paste off'\nsource <(nats-reader completion bash)\n")
	write(".zshrc", prompt+"unsetopt zle_bracketed_paste prompt_sp; autoload -U compinit; compinit -u -D\nsource <(nats-reader completion zsh)\n")
	write(".config/fish/config.fish", "set -g fish_greeting; set -g fish_autosuggestion_enabled 0\nfunction fish_prompt; echo 'READY> '; end\n")
	if shell == "fish" {
		script, err := exec.Command("nats-reader", "completion", "fish").Output()
		if err != nil {
			t.Fatal(err)
		}
		write(".config/fish/completions/nats-reader.fish", string(script))
	}
	env := []string{"HOME=" + home, "ZDOTDIR=" + home, "XDG_CONFIG_HOME=" + home + "/.config", "XDG_DATA_HOME=" + home + "/.data", "TMPDIR=" + home, "NATS_URL=nats://127.0.0.1:1", "TERM=xterm"}
	x := shellOnTerminal(t, 160, 50, env, shell, args...)
	x.sees("READY>")
	x.types("cd " + home + "/work\n")
	return x
}

// typeInShell types lines and the key of completion, and looks at what became of them.
func typeInShell(t *testing.T, x *terminal, url string) {
	t.Helper()
	const again = "\x15\x0c" // the line is given up, the screen cleared
	for _, test := range []struct{ name, typed, sees string }{
		{"a command", "nats-reader doct\t", "nats-reader doctor "},
		{"a verb", "nats-reader chaos val\t", "chaos validate "},
		{"a flag", "nats-reader read --until\t", "read --until-end "},
		{"a flag of the connection", "nats-reader doctor --js-dom\t", "--js-domain "},
		{"a value", "nats-reader read --on-reset foll\t", "--on-reset follow-new "},
		{"a value behind =", "nats-reader read --format=head\t", "--format=headers "},
		{"a value with colons", "nats-reader inject cut --proxy http://127\t", "--proxy http://127.0.0.1:8474 "},
		{"the last of a list", "nats-reader chaos run --report text,jun\t", "--report text,junit "},
		{"a fault", "nats-reader watch --demo --inject swallow\t@5s", "--inject swallow-sub"},
		{"a plan", "nats-reader chaos show deaf-af\t", "show deaf-after-power-outage "},
		{"a file of a plan", "nats-reader chaos validate unlikely-name.y\t", "unlikely-name.yaml"},
		{"a target", "nats-reader chaos run smoke --target ordered-m\t", "--target ordered-messages"},
		{"a check", "nats-reader doctor --only READER_02\t2\t", "READER_022 "},
		{"a word of explain", "nats-reader explain session_hea\t", "explain session_healed "},
		{"a context", "nats-reader read --context prod\t", "--context production "},
		{"a shell", "nats-reader completion power\t", "completion powershell "},
		{"a page", "nats-reader man chaos matr\t", "man chaos matrix "},
		{"the help of a verb", "nats-reader help chaos cle\t", "help chaos clear "},
		{"a stream", "nats-reader -s " + url + " read ORD\t", "read ORDERS "},
		{"streams", "nats-reader watch --server " + url + " ORDERS,PAY\t", "ORDERS,PAYMENTS "},
		{"a consumer", "nats-reader doctor --server=" + url + " ORDERS pass\t", "ORDERS passing-by "},
		{"a durable", "nats-reader -s " + url + " read ORDERS --durable wor\t", "--durable worker "},
		{"a subject", "nats-reader -s " + url + " read ORDERS orders.over\t", "ORDERS orders.overseas.new "},
		{"a subject in quotes", "nats-reader -s " + url + " read ORDERS 'orders.over\t", "ORDERS 'orders.overseas.new'"},
	} {
		x.types(test.typed)
		if !x.seesLine(test.sees) {
			t.Errorf("%s: %q became\n%s", test.name, test.typed, strings.TrimSpace(x.text()))
		}
		x.types(again)
	}
	// What cannot be is silent: no server, an unknown word.
	x.types("nats-reader read OR\t\tx" + "\x15" + "nats-reader nonsense \t\tx" + "\x15" + "printf 'over-%s\\n' 2\n")
	x.sees("over-2")
	for _, word := range []string{"error", "hint", "panic", "refused"} {
		if strings.Contains(x.text(), word) {
			t.Errorf("%q in\n%s", word, x.text())
		}
	}
	x.types("exit\n")
	x.ends(0)
}

// seesLine waits until a text is on the terminal; it says whether it came.
func (x *terminal) seesLine(text string) bool {
	limit := time.NewTimer(terminalLimit)
	defer limit.Stop()
	for {
		if strings.Contains(x.text(), text) {
			return true
		}
		select {
		case <-x.news:
		case <-x.gone:
			return strings.Contains(x.text(), text)
		case <-limit.C:
			return false
		}
	}
}
