package commands

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/tui"
)

const (
	flagColor = "color"
	flagTheme = "theme"
	flagASCII = "ascii"
)

// lookFlags say how a screen is drawn.
func lookFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: flagColor, Usage: "`auto|always|never`: auto heeds NO_COLOR, CLICOLOR and the terminal", Value: "auto", DefaultText: "auto"},
		&cli.StringFlag{Name: flagTheme, Usage: "the colours: `" + strings.Join(tui.Themes(), "|") + "`; safe is for every kind of colour blindness", Value: tui.DefaultTheme, DefaultText: tui.DefaultTheme},
		boolFlag(flagASCII, "", "draw with plain signs; by itself where the locale is not UTF-8"),
	}
}

// lookPlan is how a screen is drawn.
type lookPlan struct {
	colors tui.Colors
	theme  string
	ascii  bool
}

func lookPlanOf(c *cli.Context, env []string) (lookPlan, error) {
	l := lookPlan{theme: c.String(flagTheme), ascii: c.Bool(flagASCII) || !utf8Locale(os.Getenv)}
	if !slices.Contains(tui.Themes(), l.theme) {
		return l, usage{problem: fmt.Sprintf("flag --%s: %q is not one of %s", flagTheme, l.theme, strings.Join(tui.Themes(), ", ")), hint: didYouMean(l.theme, tui.Themes(), "")}
	}
	switch mode := c.String(flagColor); mode {
	case "never":
	case "always":
		l.colors = max(tui.TerminalColors(withoutColorWishes(env)), tui.Colors16)
	case "auto":
		if !unwantedColors(os.Getenv) {
			l.colors = tui.TerminalColors(env)
		}
	default:
		all := []string{"auto", "always", "never"}
		return l, usage{problem: fmt.Sprintf("flag --%s: %q is not one of %s", flagColor, mode, strings.Join(all, ", ")), hint: didYouMean(mode, all, "")}
	}
	return l, nil
}

// unwantedColors says whether the environment asks for none.
func unwantedColors(get func(string) string) bool {
	forced := get("CLICOLOR_FORCE") != "" && get("CLICOLOR_FORCE") != "0"
	return get("NO_COLOR") != "" || get("CLICOLOR") == "0" && !forced || get("TERM") == "dumb"
}

func withoutColorWishes(env []string) []string {
	var kept []string
	for _, pair := range env {
		if name, _, _ := strings.Cut(pair, "="); name != "NO_COLOR" && name != "CLICOLOR" {
			kept = append(kept, pair)
		}
	}
	return kept
}

// utf8Locale says whether the terminal shows more than ASCII, as far as the environment tells.
func utf8Locale(get func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := strings.ToLower(get(name)); value != "" {
			return strings.Contains(value, "utf-8") || strings.Contains(value, "utf8")
		}
	}
	return runtime.GOOS == "windows" || runtime.GOOS == "darwin"
}
