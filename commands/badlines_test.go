package commands

import (
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// twoLines runs a command line that cannot be, and gives its error and its hint: there is one of each, in a line.
func twoLines(t *testing.T, args ...string) (problem, hint string) {
	t.Helper()
	var out, errs strings.Builder
	code := Main(t.Context(), args, strings.NewReader(""), &out, &errs, "")
	lines := strings.Split(strings.TrimSuffix(errs.String(), "\n"), "\n")
	if code != exitCannotJudge || len(lines) != 2 || !strings.HasPrefix(lines[0], "nats-reader: error: ") || !strings.HasPrefix(lines[1], "nats-reader: hint: ") || out.Len() > 0 {
		t.Errorf("nats-reader %s\nexit code %d\n%s%s", strings.Join(args, " "), code, out.String(), errs.String())
		return "", ""
	}
	return strings.TrimPrefix(lines[0], "nats-reader: error: "), strings.TrimPrefix(lines[1], "nats-reader: hint: ")
}

// needed are the arguments without which a command looks at nothing else.
var needed = map[string][]string{
	"watch": {"ORDERS"}, "read": {"ORDERS"}, "inject": {"cut"}, "chaos run": {"smoke"}, "chaos show": {"smoke"}, "chaos validate": {"none.yaml"},
	"completion": {"bash"}, "explain": {"409"},
}

// Whatever is wrong with any flag of any command is one error that names it, and one hint.
func TestEveryFlagRefusesInTwoLines(t *testing.T) {
	t.Setenv("NATS_URL", "nats://127.0.0.1:1") // nobody is there: nothing may get that far
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	tried := 0
	for _, one := range leavesOf(testProgram().app().Commands) {
		line := append(strings.Fields(one.name), needed[one.name]...)
		try := func(mentions string, args ...string) {
			tried++
			if problem, _ := twoLines(t, slices.Concat(line, args)...); problem != "" && !strings.Contains(problem, mentions) {
				t.Errorf("%s %s: %q does not name %s", one.name, strings.Join(args, " "), problem, mentions)
			}
		}
		try("--nonsense", "--nonsense")
		try("-x", "-x")
		for _, f := range one.command.Flags {
			if c, is := f.(cli.CategorizableFlag); is && c.GetCategory() == connectionFlags && one.name != "read" {
				continue // the same for all
			}
			name := "--" + f.Names()[0]
			if !takesValue(f) {
				try(name, name+"=perhaps")
				continue
			}
			try(name, name)
			switch f.(type) {
			case *cli.IntFlag, *cli.Uint64Flag, *cli.DurationFlag, *cli.Float64Flag:
				try(name, name+"=zzz")
				continue
			}
			if told := lineOf(f).value; strings.ContainsAny(told, "|,") && strings.ToLower(told) == told {
				try(name, name+"=zzz")
			}
		}
		if one.command.ArgsUsage == "" {
			try("one-too-many", "one-too-many")
		}
	}
	if tried < 300 {
		t.Errorf("%d lines were tried", tried)
	}
}

// What is wrong with the rest of a line is told in the same way, with what may have been meant.
func TestBadLines(t *testing.T) {
	t.Setenv("NATS_URL", "nats://127.0.0.1:1")
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, test := range []struct{ line, problem, hint string }{
		{"raed", `unknown command "raed"`, "did you mean read?"},
		{"x", `unknown command "x"`, "commands: watch, read,"},
		{"help raed", `unknown command "raed"`, "did you mean read?"},
		{"help chaos shwo", `unknown word "shwo" after chaos`, "did you mean show?"},
		{"--json", "a command is missing", "--help"},
		{"watch", "a stream is missing", "watch --demo"},
		{"watch --demo ORDERS", "brings its own stream", "leave out"},
		{"watch A,,B", "missing between commas", "watch --help"},
		{"watch S --inject delet-consumer", "delet-consumer", "did you mean delete-consumer?"},
		{"watch S --inject d", `fault "d"`, "nats-reader chaos list"},
		{"watch S --duration 0s", "--duration: 0s is not above 0", "watch --help"},
		{"watch --replay nowhere.jsonl", "nowhere.jsonl", "watch --record"},
		{"watch --speed 2 S", "--speed", "--replay"},
		{"read", "a stream is missing", "read STREAM"},
		{"read S --new --last", "--new and --last exclude each other", "one place to start"},
		{"read S --resume nowhere/x", "--resume", "make it first"},
		{"read S --durable d --from 3", "--durable and --from exclude each other", "durable goes on"},
		{"read S a..b", `filter "a..b" is no subject`, "read --help"},
		{"read S --context nowhere", `context "nowhere" not found`, "nats context add"},
		{"read S", "no server at nats://127.0.0.1:1", "start a nats-server"},
		{"inject", "a fault is missing", "inject --list"},
		{"inject delet-consumer S", "delet-consumer", "did you mean delete-consumer?"},
		{"inject cut@5s --proxy http://127.0.0.1:1", "cut", "--for"},
		{"inject cut --proxy http://127.0.0.1:1", "no proxy at http://127.0.0.1:1", "start one"},
		{"inject --list cut", "takes no argument", "explain"},
		{"proxy --upstream nats://127.0.0.1:1 --fault drp-message", "drp-message", "did you mean drop-message?"},
		{"proxy --listen 0.0.0.0:0", "0.0.0.0", "--control-token"},
		{"doctor --only READER_099", `no check "READER_099"`, "READER_009"},
		{"doctor --only x", `no check "x"`, "explain --list"},
		{"doctor A B C", `"C" is one too many`, "name none"},
		{"doctor --from nowhere.gz", "nowhere.gz", "path"},
		{"doctor --delete-orphans", "needs a stream", "--target-name STREAM"},
		{"bench --only conume", "conume", "did you mean consume?"},
		{"chaos", "chaos needs one of", "chaos --help"},
		{"chaos run", "a plan is missing", "chaos list --plans"},
		{"chaos run smoek", `called "smoek"`, "did you mean smoke?"},
		{"chaos run a", `called "a"`, "chaos list --plans"},
		{"chaos run smoke --target conusme", "conusme", "did you mean consume?"},
		{"chaos run smoke --target z", `"z": no such target`, "exec:CMD"},
		{"chaos run nowhere.yaml", "nowhere.yaml", "path"},
		{"chaos run smoke --server-version 9.9.9", "servers.sh 9.9.9", "chaos run --help"},
		{"chaos matrix --targets conusme", "conusme", "did you mean consume?"},
		{"chaos matrix --faults smoek", "smoek", "did you mean smoke?"},
		{"chaos matrix --servers 2.10.21x", "2.10.21x", "2.10.22"},
		{"chaos matrix --from-file nowhere.json", "nowhere.json", "path"},
		{"chaos list --tag smkoe", "smkoe", "did you mean smoke?"},
		{"chaos list --plans --faults", "excludes", "both"},
		{"chaos show", "a plan is missing", "chaos list --plans"},
		{"chaos show a", `called "a"`, "chaos list --plans"},
		{"chaos show origin-1 origin-2", `"origin-2" is one too many`, "chaos show --help"},
		{"chaos validate", "a file is missing", "validate FILE"},
		{"explain kill-servr", `"kill-servr"`, "did you mean kill-server?"},
		{"explain session_heald", `"session_heald"`, "did you mean session_healed?"},
		{"explain consumer_gon", `"consumer_gon"`, "consumer_gone"},
		{"explain q", `"q"`, "explain --list"},
		{"explain --list cut", "takes no word", "leave"},
		{"completion", "a shell is missing", "bash|zsh|fish|powershell"},
		{"completion bsah", `"bsah"`, "did you mean bash?"},
		{"completion bash zsh", `"zsh" is one too many`, "bash|zsh"},
		{"man raed", `no command "raed"`, "did you mean read?"},
		{"man chaos rnu", `no command "chaos rnu"`, "did you mean chaos run?"},
		{"man --dir", "--dir needs a value", "--dir VALUE"},
		{"man read --dir x", `"read" is one too many`, "man COMMAND"},
		{"man --dir /dev/null/man", "--dir", "folder"},
		{"version now", `"now" is one too many`, "version --help"},
	} {
		problem, hint := twoLines(t, strings.Fields(test.line)...)
		if problem != "" && (!strings.Contains(problem, test.problem) || !strings.Contains(hint, test.hint)) {
			t.Errorf("nats-reader %s\n%q, want %q\n%q, want %q", test.line, problem, test.problem, hint, test.hint)
		}
	}
}

// What the table of flags calls a flag is what urfave/cli calls it.
func TestNamesOfFlags(t *testing.T) {
	for _, one := range leavesOf(testProgram().app().Commands) {
		for _, f := range one.command.Flags {
			if got, want := flagNames(f), f.Names(); !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", one.name, got, want)
			}
		}
	}
}
