package commands

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

func testProgram() *program {
	return &program{stdout: &strings.Builder{}, stderr: &strings.Builder{}, version: "test"}
}

func TestNormalisePutsEveryFlagBetweenCommandAndArguments(t *testing.T) {
	for _, test := range []struct{ name, line, want string }{
		{"global before the command", "--server nats://a read S", "read --server=nats://a -- S"},
		{"global after the command", "read --server nats://a S", "read --server=nats://a -- S"},
		{"global before and after: both, in order", "-s a read S --server=b", "read --server=a --server=b -- S"},
		{"flag after an argument", "read S --from 5 F", "read --from=5 -- S F"},
		{"double dash ends the flags", "read -- S --from", "read -- S --from"},
		{"double dash before the command", "--server a -- read S --x", "read --server=a -- S --x"},
		{"value with equals", "read S --name=a=b", "read --name=a=b -- S"},
		{"short value glued", "read -snats://a S", "read --server=nats://a -- S"},
		{"short value apart", "read -s nats://a S", "read --server=nats://a -- S"},
		{"one dash, long name", "read -server nats://a S", "read --server=nats://a -- S"},
		{"bool takes no value", "read --new S", "read --new=true -- S"},
		{"bool with a value", "read --new=false S", "read --new=false -- S"},
		{"bool negated", "read --no-until-end S", "read --until-end=false -- S"},
		{"a flag that begins with no- itself", "read --no-context S", "read --no-context=true -- S"},
		{"alias", "read -n 3 S", "read --count=3 -- S"},
		{"an alias that is a digit", "read S -0 -n 3", "read --null=true --count=3 -- S"},
		{"a number with a dash is an argument", "read S -5", "read -- S -5"},
		{"negative duration is a value", "read S --since -1h", "read --since=-1h -- S"},
		{"empty value", "read S --user=", "read --user= -- S"},
		{"a stream called like a command", "read watch", "read -- watch"},
		{"a stream called like a flag", "read from", "read -- from"},
		{"repeated", "watch S --inject a@1s --inject b@2s", "watch --inject=a@1s --inject=b@2s -- S"},
		{"help of a command from anywhere", "--help read", "read --help=true --"},
		{"help with arguments", "read S --help", "read --help=true --"},
		{"no command", "--version", "--version=true"},
		{"help command", "help read", "help read"},
		{"flag after a verb", "chaos show P --format yaml", "chaos show --format=yaml -- P"},
		{"flags around a verb", "--json chaos --rand-seed 3 show P", "chaos show --json=true --rand-seed=3 -- P"},
		{"a global flag between command and verb", "chaos -s nats://a clear", "chaos clear --server=nats://a --"},
		{"repeated flag of a verb", "chaos list --tag a --tag b", "chaos list --tag=a --tag=b --"},
		{"double dash before the verb", "chaos -- show --x", "chaos show -- --x"},
		{"double dash before the command and its verb", "-- chaos show --x", "chaos show -- --x"},
		{"a plan called like a verb", "chaos show list", "chaos show -- list"},
		{"help of a verb", "chaos show P --help", "chaos show --help=true --"},
		{"help of a command with verbs", "chaos --help", "chaos --help=true --"},
		{"a lone dash is an argument", "read -", "read -- -"},
	} {
		t.Run(test.name, func(t *testing.T) {
			line, err := normalise(testProgram().app(), strings.Fields(test.line))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(line.args, " "); got != test.want {
				t.Errorf("%q became\n%q, want\n%q", test.line, got, test.want)
			}
		})
	}
}

func TestNormaliseRefusesInOneLine(t *testing.T) {
	for _, test := range []struct{ line, problem, hint string }{
		{"reed S", `unknown command "reed"`, "did you mean read?"},
		{"read S --form 5", "unknown flag --form", "--from"},
		{"--sever a read S", "unknown flag --sever", "did you mean --server"},
		{"read S --cuont 1", "unknown flag --cuont", "did you mean --count?"},
		{"read S --plan", "unknown flag --plan", "did you mean --plain? It is a flag of watch"},
		{"read S --injct a@1s", "unknown flag --injct", "did you mean --inject? It is a flag of watch"},
		{"read S --inject a@1s", "command read has no flag --inject", "--inject is a flag of watch; see nats-reader read --help"},
		{"read S --zzzz", "unknown flag --zzzz", "see nats-reader read --help"},
		{"read S --demo", "command read has no flag --demo", "read --help"},
		{"--demo read S", "command read has no flag --demo", "read --help"},
		{"read S --from", "flag --from needs a value", "--from VALUE"},
		{"read --server --new S", "flag --server needs a value", "--server VALUE"},
		{"read S --from x", `flag --from: "x" is not a whole number from 1`, ""},
		{"read S --from -3", `flag --from: "-3" is not a whole number from 1`, ""},
		{"read S --count -3", `flag --count: "-3" is not a whole number from 1`, ""},
		{"read S --heartbeat 3", `flag --heartbeat: "3" is not a duration`, ""},
		{"read S --new=perhaps", `flag --new: "perhaps" is not true or false`, ""},
		{"read S --batch 1.5", `flag --batch: "1.5" is not a whole number`, ""},
		{"--server a", "a command is missing", "--help"},
		{"chaos", "chaos needs one of run, matrix, list, show, validate, clear", "see nats-reader chaos --help"},
		{"chaos --json", "chaos needs one of run, matrix, list, show, validate, clear", "see nats-reader chaos --help"},
		{"chaos shwo P", `unknown word "shwo" after chaos`, "did you mean show?"},
		{"--faults chaos list", "flag --faults: some commands give it a value and some do not", "write it behind its command"},
		{"chaos zzzz", `unknown word "zzzz" after chaos`, "there are run, matrix, list, show, validate, clear"},
		{"chaos show P --rand-sed 3", "unknown flag --rand-sed", "did you mean --rand-seed?"},
		{"chaos show P --tga a", "unknown flag --tga", "did you mean --tag? It is a flag of chaos list"},
		{"chaos show P --tag a", "command chaos show has no flag --tag", "--tag is a flag of chaos list; see nats-reader chaos show --help"},
		{"chaos list --dry-run", "command chaos list has no flag --dry-run", "--dry-run is a flag of chaos run, chaos matrix, chaos clear, inject; see nats-reader chaos list --help"},
		{"chaos show --rand-seed x P", `flag --rand-seed: "x" is not a whole number from 1`, ""},
		{"chaos validate --zzzz", "unknown flag --zzzz", "see nats-reader chaos validate --help"},
	} {
		t.Run(test.line, func(t *testing.T) {
			_, err := normalise(testProgram().app(), strings.Fields(test.line))
			var u usage
			if !errors.As(err, &u) {
				t.Fatalf("got %v, want a usage error", err)
			}
			if !strings.Contains(u.problem, test.problem) || !strings.Contains(u.hint, test.hint) {
				t.Errorf("got %q with hint %q, want %q with hint %q", u.problem, u.hint, test.problem, test.hint)
			}
		})
	}
}

// A flag before its command is read before the command is known: it can be only
// if flags of one name take values in every command, or in none. Who writes one that does
// not before its command is told.
func TestFlagsOfOneNameHaveOneShape(t *testing.T) {
	several := []string{flagFaults, flagListen}
	for name, flags := range flagsOf(testProgram().app().Commands) {
		if slices.Contains(several, name) {
			continue
		}
		if slices.ContainsFunc(flags, takesValue) && !func() bool {
			return !slices.ContainsFunc(flags, func(f cli.Flag) bool { return !takesValue(f) })
		}() {
			t.Errorf("flag %s takes a value in one command and none in another", name)
		}
	}
}

func TestEveryCommandHasTheGlobalFlags(t *testing.T) {
	for _, c := range leavesOf(testProgram().app().Commands) {
		for _, g := range globalFlags() {
			if !slices.ContainsFunc(c.command.Flags, func(f cli.Flag) bool { return f.Names()[0] == g.Names()[0] }) {
				t.Errorf("command %s lacks --%s", c.name, g.Names()[0])
			}
		}
		seen := map[string]bool{}
		for _, f := range c.command.Flags {
			for _, name := range f.Names() {
				if seen[name] {
					t.Errorf("command %s has %s twice", c.name, name)
				}
				seen[name] = true
			}
		}
	}
}
