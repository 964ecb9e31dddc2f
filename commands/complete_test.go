package commands

import (
	"slices"
	"strings"
	"testing"

	"github.com/an-open-reader/nats-reader/chaos"
	"github.com/an-open-reader/nats-reader/chaos/plan"
	"github.com/an-open-reader/nats-reader/reader/doctor"
)

// offered is what the program offers for words, the last of which is the current one, and what a shell is to do beside.
func offered(t *testing.T, line ...string) (words, other []string) {
	t.Helper()
	args := append([]string{completeWord, "words", appName}, line...)
	args[len(args)-1] = "=" + args[len(args)-1]
	return offers(t, args)
}

func offers(t *testing.T, args []string) (words, other []string) {
	t.Helper()
	var out, errs strings.Builder
	if code := Main(t.Context(), args, nil, &out, &errs, ""); code != exitGood || errs.Len() > 0 {
		t.Fatalf("%q: exit code %d: %s", args, code, errs.String())
	}
	for line := range strings.Lines(out.String()) {
		line = strings.TrimSuffix(line, "\n")
		if rest, is := strings.CutPrefix(line, "\t"); is {
			other = append(other, rest)
			continue
		}
		word, _, _ := strings.Cut(line, "\t")
		words = append(words, word)
	}
	return words, other
}

func TestComplete(t *testing.T) {
	t.Setenv("NATS_URL", "nats://127.0.0.1:1") // nobody is there
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	var plans []string
	bundled, err := plan.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range bundled {
		plans = append(plans, one.Name)
	}
	var checks, wire []string
	for _, c := range doctor.Checks() {
		checks = append(checks, c.ID)
	}
	for _, f := range chaos.Faults() {
		if f.Layer == chaos.LayerWire {
			wire = append(wire, f.Name)
		}
	}
	for _, test := range []struct {
		line  string // words apart by one blank
		words []string
		other string
	}{
		{"re", []string{"read"}, ""},
		{"read ", nil, ""},
		{"read --until-end --ne", []string{"--new"}, ""},
		{"read --new --ne", nil, ""}, // given once is enough
		{"watch --inject cut --inj", []string{"--inject"}, ""},
		{"--format", nil, ""},
		{"--serv", []string{"--server"}, ""},
		{"-s nats://a rea", []string{"read"}, ""},
		{"read -- --un", nil, ""}, // behind -- there are no flags
		{"-- rea", []string{"read"}, ""},
		{"read --on-error ", []string{"wait", "raise", "finish"}, ""},
		{"read --on-error=r", []string{"--on-error=raise"}, ""},
		{"read --resume ", nil, "files"},
		{"chaos run --out ", nil, "folders"},
		{"chaos run --report ", []string{"text", "json", "junit", "markdown", "html"}, ""},
		{"chaos run --report text,j", []string{"text,json", "text,junit"}, ""},
		{"chaos run --report junit,j", []string{"junit,json"}, ""},
		{"chaos matrix --servers embedded,2.10.2", []string{"embedded,2.10.22"}, ""},
		{"chaos show ", plans, "files"},
		{"chaos list --tag f", []string{"field"}, ""},
		{"chaos list --server", nil, ""}, // nothing is told of it
		{"chaos sho", []string{"show"}, ""},
		{"chaos nonsense ", nil, ""},
		{"nonsense ", nil, ""},
		{"nonsense --", nil, ""},
		{"help chaos v", []string{"validate"}, ""},
		{"help read ", nil, ""},
		{"doctor --skip ", checks, ""},
		{"doctor --for ", nil, ""},
		{"bench --only next,consu", []string{"next,consume"}, ""},
		{"proxy --fault ", wire, "open"},
		{"chaos run --target exe", []string{"exec:"}, "open"},
		{"completion f", []string{"fish"}, ""},
		{"completion fish ", nil, ""},
		{"man chaos l", []string{"list"}, ""},
		{"explain READER_02", checks[19:], ""},
		{"version ", nil, ""},
		{"read --context ", nil, ""},
		{"read --context ./", nil, "files"},
	} {
		words, other := offered(t, strings.Split(test.line, " ")...)
		if !slices.Equal(words, test.words) || strings.Join(other, " ") != test.other {
			t.Errorf("%q: %q %q, want %q %q", test.line, words, other, test.words, test.other)
		}
	}
}

// Every command, verb, flag, fault, word of explain and target can be completed.
func TestCompleteOffersEverything(t *testing.T) {
	for _, one := range pagesOf(testProgram().app()) {
		words, _ := offered(t, append(strings.Fields(one.name), "--")...)
		for _, g := range one.groups {
			for _, f := range g.flags {
				if !slices.Contains(words, f.names[0]) && strings.HasPrefix(f.names[0], "--") {
					t.Errorf("%s %s is not offered", one.name, f.names[0])
				}
			}
		}
		words, _ = offered(t, append(strings.Fields(one.name), "")...)
		for _, c := range one.commands {
			if !slices.Contains(words, c.name) {
				t.Errorf("%s %s is not offered", one.name, c.name)
			}
		}
	}
	words, _ := offered(t, "explain", "")
	for _, e := range entries() {
		if !slices.Contains(words, e.Word) {
			t.Errorf("explain %s is not offered", e.Word)
		}
	}
	words, _ = offered(t, "watch", "--inject", "")
	if !slices.Equal(words, chaos.FaultNames()) {
		t.Errorf("watch --inject offers %q", words)
	}
}

// A line of a POSIX shell is cut into words as the shell does it, and what the shell has begun anew behind = or : is left out.
func TestCompleteLine(t *testing.T) {
	for _, test := range []struct {
		line, word string
		want       []string
	}{
		{"nats-reader  chaos\tsho", "sho", []string{"show"}},
		{"nats-reader read --format=j", "j", []string{"json"}},
		{"nats-reader read --format=", "", []string{"raw", "json", "headers"}},
		{"nats-reader inject cut --proxy http:", "", []string{"//127.0.0.1:8474"}},
		{`nats-reader explain "session_hea`, "session_hea", []string{"session_healed"}},
		{`nats-reader read --name 'a b' --on-reset fa`, "fa", []string{"fail"}},
		{`nats-reader read --name a\ b --on-reset fa`, "fa", []string{"fail"}},
		{"nats-reader", "nats-reader", nil},
		{"", "", nil},
	} {
		if words, _ := offers(t, []string{completeWord, "line", test.line, test.word}); !slices.Equal(words, test.want) {
			t.Errorf("%q: %q, want %q", test.line, words, test.want)
		}
	}
	for _, args := range [][]string{{completeWord}, {completeWord, "line"}, {completeWord, "words"}, {completeWord, "words", "a", "b"}, {completeWord, "else", "x", "=y"}} {
		if words, other := offers(t, args); len(words)+len(other) > 0 {
			t.Errorf("%q offers %q %q", args, words, other)
		}
	}
}
