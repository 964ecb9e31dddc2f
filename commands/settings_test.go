package commands

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// settingsFrom gives what a command line makes of flags, environment and contexts.
func settingsFrom(t *testing.T, args ...string) (settings, error) {
	t.Helper()
	p := testProgram()
	var got settings
	var failed error
	app := p.app()
	app.Commands = []*cli.Command{{
		Name: "probe", Flags: globalFlags(), HideHelpCommand: true,
		Action: func(c *cli.Context) error {
			got, failed = p.settingsOf(c)
			return nil
		},
	}}
	line, err := normalise(app, append([]string{"probe"}, args...))
	if err != nil {
		return got, err
	}
	app.Metadata = map[string]any{givenFlags: line.given}
	if err := app.RunContext(context.Background(), append([]string{app.Name}, line.args...)); err != nil {
		return got, err
	}
	return got, failed
}

// inContexts makes a folder of contexts the only one, with one selected.
func inContexts(t *testing.T, selected string, contexts map[string]string) {
	t.Helper()
	root := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", root)
	for _, f := range globalFlags() {
		if g, ok := f.(cli.DocGenerationFlag); ok {
			for _, name := range g.GetEnvVars() {
				t.Setenv(name, "")
				os.Unsetenv(name) //nolint:errcheck // Setenv brings it back
			}
		}
	}
	write := func(path, text string) {
		path = filepath.Join(root, "nats", path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range contexts {
		write(filepath.Join("context", name+".json"), text)
	}
	if selected != "" {
		write("context.txt", selected)
	}
}

func TestSettingsPrecedence(t *testing.T) {
	contexts := map[string]string{
		"work": `{"url":"nats://context:4222","user":"ann","password":"of-context","jetstream_domain":"hub"}`,
		"play": `{"url":"nats://play:4222"}`,
		"open": `{"url":"nats://joe:x@a:1,b:2"}`,
	}
	for _, test := range []struct {
		name, selected string
		env            map[string]string
		args           string
		server, login  string
	}{
		{name: "default", server: "nats://127.0.0.1:4222"},
		{name: "selected context", selected: "work", server: "nats://context:4222", login: `user "ann" of the context`},
		{name: "named context", selected: "work", args: "--context play", server: "nats://play:4222"},
		{name: "context of the environment", env: map[string]string{"NATS_CONTEXT": "play"}, server: "nats://play:4222"},
		{name: "no context", selected: "work", args: "--no-context", server: "nats://127.0.0.1:4222"},
		{name: "environment over context", selected: "work", env: map[string]string{"NATS_URL": "nats://env:4222"}, server: "nats://env:4222", login: `user "ann" of the context`},
		{name: "flag over environment", selected: "work", env: map[string]string{"NATS_URL": "nats://env:4222"}, args: "-s nats://flag:4222", server: "nats://flag:4222", login: `user "ann" of the context`},
		{name: "a flag's login replaces the context's as a whole", selected: "work", args: "--token secret", server: "nats://context:4222", login: "the token of the flags"},
		{name: "a flag's login replaces the environment's as a whole", env: map[string]string{"NATS_USER": "eve", "NATS_PASSWORD": "x"}, args: "--creds f.creds", server: "nats://127.0.0.1:4222", login: "the credentials file of the flags"},
		{name: "environment's login over the context's", selected: "work", env: map[string]string{"NATS_TOKEN": "x"}, server: "nats://context:4222", login: "the token of the environment"},
		{name: "a login in the URL is a login", selected: "work", args: "-s nats://joe:x@flag:4222", server: "nats://joe:x@flag:4222", login: "the login in the server's URL"},
		{name: "a flag's login wins over one in the context's URL", selected: "open", args: "--user ann --password x", server: "nats://a:1,b:2", login: `user "ann" of the flags`},
		{name: "the login in the context's URL stays", selected: "open", server: "nats://joe:x@a:1,b:2"},
		{name: "a flag's login wins over one in the environment's URL", env: map[string]string{"NATS_URL": "nats://joe:x@e:1"}, args: "--token y", server: "nats://e:1", login: "the token of the flags"},
		{name: "a user alone is a token", args: "--user secret", server: "nats://127.0.0.1:4222", login: "the token in --user of the flags"},
	} {
		t.Run(test.name, func(t *testing.T) {
			inContexts(t, test.selected, contexts)
			for k, v := range test.env {
				t.Setenv(k, v)
			}
			s, err := settingsFrom(t, strings.Fields(test.args)...)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.context.ServerURL(); got != test.server {
				t.Errorf("server %s, want %s", got, test.server)
			}
			if s.login != test.login {
				t.Errorf("login is %q, want %q", s.login, test.login)
			}
		})
	}
}

func TestSettingsOfTheContextAreKept(t *testing.T) {
	inContexts(t, "work", map[string]string{"work": `{"url":"nats://c:1","jetstream_domain":"hub","inbox_prefix":"_IN","tls_first":true,"socks_proxy":"socks5://p:1"}`})
	s, err := settingsFrom(t)
	if err != nil {
		t.Fatal(err)
	}
	c := s.context
	if c.JSDomain() != "hub" || c.InboxPrefix() != "_IN" || !c.TLSHandshakeFirst() || c.SocksProxy() != "socks5://p:1" {
		t.Errorf("the context lost settings: %s %s %t %s", c.JSDomain(), c.InboxPrefix(), c.TLSHandshakeFirst(), c.SocksProxy())
	}
	s, err = settingsFrom(t, "--js-api-prefix", "ACME.API")
	if err != nil {
		t.Fatal(err)
	}
	if s.context.JSDomain() != "" || s.context.JSAPIPrefix() != "ACME.API" {
		t.Errorf("the prefix of a flag must replace the context's domain, got domain %q prefix %q", s.context.JSDomain(), s.context.JSAPIPrefix())
	}
}

func TestSettingsRefused(t *testing.T) {
	contexts := map[string]string{"work": `{"url":"nats://c:1"}`, "broken": `{"url":`}
	for _, test := range []struct{ args, problem string }{
		{"--context wrok", `context "wrok" not found`},
		{"--context broken", `context "broken"`},
		{"--context /nowhere/c.json", "flag --context"},
		{"--password x", "flag --password: a password without a user"},
		{"--seed x", "flag --seed: a seed without a JWT"},
		{"--timeout 0s", "flag --timeout"},
	} {
		t.Run(test.args, func(t *testing.T) {
			inContexts(t, "", contexts)
			_, err := settingsFrom(t, strings.Fields(test.args)...)
			if err == nil || !strings.Contains(err.Error(), test.problem) {
				t.Errorf("got %v, want %q", err, test.problem)
			}
		})
	}
}

func TestBadEnvironmentIsAUsageError(t *testing.T) {
	inContexts(t, "", nil)
	t.Setenv("NATS_TIMEOUT", "soon")
	var stdout, stderr strings.Builder
	code := Main(t.Context(), []string{"read", "S"}, strings.NewReader(""), &stdout, &stderr, "")
	if code != exitCannotJudge || !strings.Contains(stderr.String(), "NATS_TIMEOUT") || stdout.Len() > 0 {
		t.Errorf("code %d, stderr %q, stdout %q", code, stderr.String(), stdout.String())
	}
}
