package commands

import (
	"fmt"
	"os"
	"slices"
	"strings"

	pretty "github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/tui"
)

// The schemes of natscli without a colour.
const (
	schemeRounded = "rounded"
	schemeDouble  = "double"
)

// tableColors are natscli's schemes that give the borders of a table a colour, to
// tell contexts apart.
var tableColors = map[string]text.Color{
	"yellow": text.FgYellow, "blue": text.FgBlue, "cyan": text.FgCyan, "green": text.FgGreen, "magenta": text.FgMagenta, "red": text.FgRed,
}

// tableSchemes lists natscli's colour schemes.
func tableSchemes() []string {
	all := []string{schemeRounded, schemeDouble}
	for name := range tableColors {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// chooseScheme gives the scheme of the flag, the variable or the context; "" is a
// table without lines. As in natscli, one of a context that nobody knows is none.
func chooseScheme(c *cli.Context, below string) (string, error) {
	scheme, all := pick(c, flagColors, below), tableSchemes()
	switch {
	case slices.Contains(all, scheme):
		return scheme, nil
	case layerOf(c, flagColors) <= layerContext:
		return "", nil
	}
	return "", usage{
		problem: fmt.Sprintf("%s: %q is not one of %s", originOf(c, flagColors, ""), scheme, strings.Join(all, ", ")),
		hint:    didYouMean(scheme, all, "it is the look of tables, as in the nats CLI"),
	}
}

// inScheme gives a table the look of a scheme.
func inScheme(style pretty.Style, scheme string, colored bool) pretty.Style {
	switch scheme {
	case "":
		return style
	case schemeDouble:
		style = pretty.StyleDouble
	default:
		style = pretty.StyleRounded
	}
	style.Format.Header = text.FormatDefault
	if color, found := tableColors[scheme]; found && colored {
		style.Color.Border, style.Color.Separator = text.Colors{color}, text.Colors{color}
	}
	return style
}

// showsColors says whether the results are looked at, in colour.
func (p *program) showsColors() bool {
	return isTerminal(p.stdout) && !unwantedColors(os.Getenv) && tui.TerminalColors(os.Environ()) >= tui.Colors16
}
