package commands

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// modelOf is what natscli is told of a program.
func modelOf(t *testing.T) (m pluginModel) {
	t.Helper()
	var out, errs strings.Builder
	code := Main(t.Context(), []string{introspectWord}, nil, &out, &errs, "1.2.3")
	if err := json.Unmarshal([]byte(out.String()), &m); code != exitGood || errs.Len() > 0 || err != nil {
		t.Fatalf("code %d, %v\n%s%s", code, err, out.String(), errs.String())
	}
	return m
}

// leavesOfModel are the commands that run something, with their whole names.
func leavesOfModel(commands []pluginCommand, before string) map[string]pluginCommand {
	all := map[string]pluginCommand{}
	for _, c := range commands {
		if len(c.Commands) == 0 {
			all[before+c.Name] = c
		}
		for name, leaf := range leavesOfModel(c.Commands, before+c.Name+" ") {
			all[name] = leaf
		}
	}
	return all
}

// natscli is told of every command and flag, under names that it can take.
func TestIntrospect(t *testing.T) {
	m := modelOf(t)
	if m.Name != "reader" || m.Help == "" || m.Version != "1.2.3" {
		t.Errorf("the model is that of %q %q: %q", m.Name, m.Version, m.Help)
	}
	leaves := leavesOfModel(m.Commands, "")
	for _, c := range leavesOf(testProgram().app().Commands) {
		leaf, found := leaves[c.name]
		if !found || leaf.Help == "" {
			t.Errorf("%s is not told: %+v", c.name, leaf)
			continue
		}
		if (c.command.ArgsUsage != "") != (len(leaf.Args) == 1 && leaf.Args[0].Cumulative) {
			t.Errorf("%s takes %q, told are %+v", c.name, c.command.ArgsUsage, leaf.Args)
		}
		named := map[string]bool{}
		for _, f := range leaf.Flags {
			if named[f.Name] || f.Short != 0 && named[string(f.Short)] {
				t.Errorf("%s: --%s is told twice", c.name, f.Name)
			}
			named[f.Name], named[string(f.Short)] = true, true
			global := slices.ContainsFunc(world, func(w worldFlag) bool { return w.name == f.Name })
			// These are natscli's own, everywhere.
			if slices.Contains([]string{"help", "version"}, f.Name) || strings.HasPrefix(f.Name, "fisk-") || !global && (f.Short == 's' || f.Short == 'h') {
				t.Errorf("%s: --%s -%c is another flag of natscli", c.name, f.Name, f.Short)
			}
			if strings.Contains(f.Help, "`") || f.Help == "" && !f.Hidden {
				t.Errorf("%s: --%s has the help %q", c.name, f.Name, f.Help)
			}
		}
		for _, f := range c.command.Flags {
			for _, name := range f.Names() {
				if len(name) > 1 && !named[name] {
					t.Errorf("%s: --%s is not told", c.name, name)
				}
			}
		}
	}
	if len(leaves) != len(leavesOf(testProgram().app().Commands)) {
		t.Errorf("%d commands are told", len(leaves))
	}
}

func TestIntrospectionIsNoFlag(t *testing.T) {
	var out, errs strings.Builder
	if code := Main(t.Context(), []string{"read", introspectWord}, nil, &out, &errs, ""); code != exitCannotJudge || out.Len() > 0 {
		t.Errorf("code %d\n%s%s", code, out.String(), errs.String())
	}
}
