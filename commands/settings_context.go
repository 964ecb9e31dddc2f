package commands

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/nats-io/jsm.go/natscontext"
	"github.com/urfave/cli/v2"
)

const hintNoContext = "mend it with nats context edit, or leave contexts aside with --no-context"

// loadContext loads the context of a name, or the one selected in natscli.
func loadContext(c *cli.Context, name string) (*natscontext.Context, error) {
	if c.Bool(flagNoContext) {
		return natscontext.New("", false)
	}
	return namedContext(name, originOf(c, flagContext, ""))
}

// namedContext loads the context that a flag, or its variable, names.
func namedContext(name, origin string) (*natscontext.Context, error) {
	if strings.HasSuffix(name, ".json") {
		if _, err := os.Stat(name); err != nil {
			return nil, usage{problem: origin + ": " + err.Error(), hint: "it is the name of a context, or a .json file of one", cause: err}
		}
		ctx, err := natscontext.NewFromFile(name)
		if err != nil {
			return nil, usage{problem: fmt.Sprintf("context file %s: %v", name, err), hint: hintNoContext, cause: err}
		}
		return ctx, nil
	}
	ctx, err := natscontext.New(name, true)
	if err == nil {
		return ctx, nil
	}
	which := fmt.Sprintf("context %q", name)
	if name == "" {
		which = fmt.Sprintf("selected context %q", natscontext.SelectedContext())
	}
	if errors.Is(err, natscontext.ErrNotFound) {
		known := natscontext.KnownContexts()
		otherwise := "there are no contexts: use --server, or make one with nats context add"
		if len(known) > 0 {
			otherwise = "contexts: " + strings.Join(known, ", ")
		}
		return nil, usage{problem: which + " not found", hint: didYouMean(name, known, otherwise), cause: err}
	}
	return nil, usage{problem: fmt.Sprintf("%s: %v", which, err), hint: hintNoContext, cause: err}
}
