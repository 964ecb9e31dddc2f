package commands

import (
	"flag"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/tui"
)

// colorsOf reads a command line's flags of the look in an environment.
func colorsOf(t *testing.T, env []string, args ...string) (lookPlan, error) {
	t.Helper()
	for _, name := range []string{"NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM", "LC_ALL", "LC_CTYPE", "LANG"} {
		t.Setenv(name, "")
	}
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, value)
	}
	set := flag.NewFlagSet("watch", flag.ContinueOnError)
	for _, f := range lookFlags() {
		if err := f.Apply(set); err != nil {
			t.Fatal(err)
		}
	}
	if err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	return lookPlanOf(cli.NewContext(nil, set, nil), env)
}

func TestColors(t *testing.T) {
	xterm := []string{"TERM=xterm-256color", "LANG=C.UTF-8"}
	with := func(more ...string) []string { return append(more, xterm...) }
	for _, c := range []struct {
		name  string
		env   []string
		args  []string
		want  tui.Colors
		ascii bool
	}{
		{"a terminal", xterm, nil, tui.Colors256, false},
		{"NO_COLOR", with("NO_COLOR=1"), nil, tui.NoColors, false},
		{"CLICOLOR", with("CLICOLOR=0"), nil, tui.NoColors, false},
		{"CLICOLOR and CLICOLOR_FORCE", with("CLICOLOR=0", "CLICOLOR_FORCE=1"), nil, tui.Colors256, false},
		{"never", xterm, []string{"--color", "never"}, tui.NoColors, false},
		{"always", with("NO_COLOR=1"), []string{"--color", "always"}, tui.Colors256, false},
		{"always on a dumb one", []string{"TERM=dumb"}, []string{"--color", "always"}, tui.Colors16, true},
		{"a dumb one", []string{"TERM=dumb", "LANG=de_DE.utf8"}, nil, tui.NoColors, false},
		{"another locale", []string{"TERM=xterm", "LANG=de_DE.ISO-8859-1"}, nil, tui.Colors16, true},
		{"LC_ALL wins", []string{"TERM=xterm", "LANG=C.UTF-8", "LC_ALL=C"}, nil, tui.Colors16, true},
		{"plain signs", xterm, []string{"--ascii"}, tui.Colors256, true},
	} {
		got, err := colorsOf(t, c.env, c.args...)
		if err != nil || got.colors != c.want || got.ascii != c.ascii || got.theme != tui.DefaultTheme {
			t.Errorf("%s: %+v %v, want colours %d, ASCII %t", c.name, got, err, c.want, c.ascii)
		}
	}
}
