package commands

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// worldFlag is a global flag of natscli 0.5.1, as its own help, and natscontext's fields,
// have it.
type worldFlag struct{ name, short, env, field string }

var world = []worldFlag{
	{"server", "s", "NATS_URL", "url"},
	{"user", "", "NATS_USER", "user"},
	{"password", "", "NATS_PASSWORD", "password"},
	{"token", "", "NATS_TOKEN", "token"},
	{"connection-name", "", "", ""},
	{"creds", "", "NATS_CREDS", "creds"},
	{"nkey", "", "NATS_NKEY", "nkey"},
	{"jwt", "", "NATS_JWT", "user_jwt"},
	{"seed", "", "NATS_SEED", "user_seed"},
	{"tlscert", "", "NATS_CERT", "cert"},
	{"tlskey", "", "NATS_KEY", "key"},
	{"tlsca", "", "NATS_CA", "ca"},
	{"tlsfirst", "", "", "tls_first"},
	{"tls-first", "", "", "tls_first"},
	{"timeout", "", "NATS_TIMEOUT", ""},
	{"socks-proxy", "", "NATS_SOCKS_PROXY", "socks_proxy"},
	{"js-api-prefix", "", "", "jetstream_api_prefix"},
	{"js-event-prefix", "", "", "jetstream_event_prefix"},
	{"js-domain", "", "", "jetstream_domain"},
	{"domain", "", "", "jetstream_domain"},
	{"inbox-prefix", "", "", "inbox_prefix"},
	{"colors", "", "NATS_COLOR", "color_scheme"},
	{"context", "", "NATS_CONTEXT", ""},
	{"trace", "", "", ""},
	{"no-context", "", "", ""},
}

// Every command has every global flag of natscli, with its short form and its variable.
func TestWorldIsWhole(t *testing.T) {
	byName := map[string]string{}
	for _, f := range globalFlags() {
		for _, name := range f.Names() {
			byName[name] = strings.Join(f.Names(), " ")
		}
	}
	for _, w := range world {
		names, found := byName[w.name]
		if !found {
			t.Errorf("there is no flag --%s", w.name)
			continue
		}
		if w.short != "" && !slices.Contains(strings.Fields(names), w.short) {
			t.Errorf("--%s has no short form -%s", w.name, w.short)
		}
		if got := variableOf(w.name); got != w.env {
			t.Errorf("--%s has the variable %q, want %q", w.name, got, w.env)
		}
	}
	for _, c := range leavesOf(testProgram().app().Commands) {
		for _, f := range globalFlags() {
			if !slices.ContainsFunc(c.command.Flags, func(own cli.Flag) bool { return slices.Equal(own.Names(), f.Names()) }) {
				t.Errorf("%s has no flag --%s", c.name, f.Names()[0])
			}
		}
	}
}

// demand is a server that wants settings, and refuses whoever has none of them.
type demand struct {
	name    string
	server  string
	needs   map[string]string // flag: value
	wrong   map[string]string // of the same, which the server refuses; nil: leave the settings out
	without string            // what is said without them: a pattern of stderr
}

// run reads the one message of the stream with flags before and behind the command.
func (d demand) run(t *testing.T, before, after []string) (code int, stdout, stderr string) {
	t.Helper()
	args := slices.Concat(before, []string{"read", "ORDERS", "--until-end"}, after)
	var out, errs strings.Builder
	code = Main(t.Context(), args, strings.NewReader(""), &out, &errs, "1.2.3-test")
	return code, out.String(), errs.String()
}

func (d demand) reads(t *testing.T, before, after []string) {
	t.Helper()
	if code, stdout, stderr := d.run(t, before, after); code != exitGood || stdout != "hello\n" {
		t.Errorf("%v read %v: code %d, stdout %q\n%s", before, after, code, stdout, stderr)
	}
}

// flagsFor writes settings as flags.
func flagsFor(settings map[string]string) (args []string) {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if settings[name] == "true" {
			args = append(args, "--"+name)
		} else {
			args = append(args, "--"+name, settings[name])
		}
	}
	return args
}

// contextFor writes settings as a context.
func contextFor(t *testing.T, server string, settings map[string]string) string {
	t.Helper()
	fields := map[string]any{"url": server}
	for name, value := range settings {
		i := slices.IndexFunc(world, func(w worldFlag) bool { return w.name == name })
		fields[world[i].field] = value
		if value == "true" {
			fields[world[i].field] = true
		}
	}
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// inEnvironment sets what has a variable, and gives the flags of the rest.
func inEnvironment(t *testing.T, settings map[string]string) (rest []string) {
	t.Helper()
	left := maps.Clone(settings)
	for _, w := range world {
		if value, found := left[w.name]; found && w.env != "" {
			t.Setenv(w.env, value)
			delete(left, w.name)
		}
	}
	return flagsFor(left)
}

// prove lets a demanding server be read in every way that its settings can be given in.
func (d demand) prove(t *testing.T) {
	server := []string{"-s", d.server}
	flags := flagsFor(d.needs)
	contexts := map[string]string{"right": contextFor(t, d.server, d.needs), "bare": contextFor(t, d.server, nil), "wrong": contextFor(t, d.server, d.wrong)}
	inContexts(t, "", contexts)
	t.Run("without", func(t *testing.T) {
		code, stdout, stderr := d.run(t, server, []string{"--timeout", "3s"})
		if code != exitCannotJudge || stdout != "" || !regexp.MustCompile(d.without).MatchString(stderr) {
			t.Errorf("code %d, stdout %q, stderr %q, want %s", code, stdout, stderr, d.without)
		}
		if !regexp.MustCompile(`(?m)^nats-reader: hint: .`).MatchString(stderr) {
			t.Errorf("there is no hint in %q", stderr)
		}
	})
	t.Run("before", func(t *testing.T) { d.reads(t, append(server, flags...), nil) })
	t.Run("behind", func(t *testing.T) { d.reads(t, nil, append(flags, server...)) })
	t.Run("on both sides", func(t *testing.T) {
		half := len(flags) / 2
		if len(flags) > 0 && half > 0 && !strings.HasPrefix(flags[half], "-") {
			half--
		}
		d.reads(t, append(server, flags[:half]...), flags[half:])
	})
	t.Run("environment", func(t *testing.T) { d.reads(t, server, inEnvironment(t, d.needs)) })
	t.Run("context", func(t *testing.T) { d.reads(t, nil, []string{"--context", "right"}) })
	t.Run("flags over a context", func(t *testing.T) { d.reads(t, flags, []string{"--context", "wrong"}) })
	t.Run("environment over a context", func(t *testing.T) {
		t.Setenv("NATS_CONTEXT", "wrong")
		d.reads(t, nil, inEnvironment(t, d.needs))
	})
	t.Run("flags over the environment", func(t *testing.T) {
		for _, w := range world {
			if value, found := d.wrong[w.name]; found && w.env != "" {
				t.Setenv(w.env, value)
			}
		}
		d.reads(t, server, flags)
	})
	t.Run("selected context", func(t *testing.T) {
		inContexts(t, "right", contexts)
		d.reads(t, nil, nil)
	})
	t.Run("context file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "mine.json")
		if err := os.WriteFile(path, []byte(contexts["right"]), 0o600); err != nil {
			t.Fatal(err)
		}
		d.reads(t, nil, []string{"--context", path})
	})
}

// writeSecret writes a file and gives its path.
func writeSecret(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// asURI is a secret as natscontext takes it from elsewhere.
func asURI(t *testing.T, env, text string) (environment, file, data string) {
	t.Helper()
	t.Setenv(env, text)
	return "env://" + env, "file://" + writeSecret(t, env, text), fmt.Sprintf("data:;base64,%s", base64Of(text))
}
