package commands

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"
)

// layer is where a setting comes from; the highest wins.
type layer int

const (
	layerDefault layer = iota
	layerContext
	layerEnvironment
	layerFlag
)

func (l layer) String() string {
	return [...]string{"the default", "the context", "the environment", "the flags"}[l]
}

// layerOf tells where a flag's value comes from; layerDefault: it is not set, or
// to nothing, which natscli takes as not set.
func layerOf(c *cli.Context, name string) layer {
	given, _ := c.App.Metadata[givenFlags].(map[string]bool)
	switch {
	case !c.IsSet(name) || c.String(name) == "" || c.String(name) == "[]":
		return layerDefault
	case given[name]:
		return layerFlag
	default:
		return layerEnvironment
	}
}

// pick gives the value of a text flag: command line, environment, else below.
func pick(c *cli.Context, name, below string) string {
	if layerOf(c, name) > layerContext {
		return c.String(name)
	}
	return below
}

// originOf names the place where the value of a global flag was written: the flag,
// the variable, or the field of the context.
func originOf(c *cli.Context, name, context string) string {
	switch layerOf(c, name) {
	case layerFlag:
		return "flag --" + name
	case layerEnvironment:
		return "variable " + variableOf(name)
	}
	return fieldOf(context, name)
}

// fieldOf names the field of a context that a flag stands over.
func fieldOf(context, flag string) string {
	if context == "" {
		return "field " + contextFields[flag] + " of the context"
	}
	return fmt.Sprintf("field %s of context %q", contextFields[flag], context)
}

// variableOf is the environment variable of a global flag; empty: it has none.
func variableOf(name string) string {
	for _, f := range globalFlags() {
		if g, ok := f.(cli.DocGenerationFlag); ok && slices.Contains(f.Names(), name) {
			if all := g.GetEnvVars(); len(all) > 0 {
				return all[0]
			}
		}
	}
	return ""
}

// origin names the place where the value of a flag was written.
func (s settings) origin(flag string) string {
	if s.written == nil { // the demo's
		return "flag --" + flag
	}
	return s.written(flag)
}
