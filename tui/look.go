package tui

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// role is what a text is on the screen; a theme gives it a colour.
type role int

const (
	rolePlain role = iota
	roleDim
	roleTitle
	roleFocus // of the pane that has the keys
	roleGood
	roleWarn
	roleBad
	roleFault
	roleKey
	roleSelected
)

// DefaultTheme can be told apart with every kind of colour blindness.
const DefaultTheme = "safe"

// themes are colours by role: of 256, chosen to be read on dark and on light grounds alike. The ones of safe
// are those of Okabe and Ito.
var themes = map[string]map[role]string{
	DefaultTheme: {roleTitle: "110", roleFocus: "39", roleGood: "39", roleWarn: "214", roleBad: "202", roleFault: "175", roleKey: "36", roleDim: "245"},
	"classic":    {roleTitle: "110", roleFocus: "45", roleGood: "34", roleWarn: "178", roleBad: "160", roleFault: "170", roleKey: "37", roleDim: "245"},
	"mono":       {},
}

// Themes lists the names of the themes, the default first.
func Themes() []string {
	names := []string{DefaultTheme}
	for name := range themes {
		if name != DefaultTheme {
			names = append(names, name)
		}
	}
	slices.Sort(names[1:])
	return names
}

// Colors says how many colours a terminal shows.
type Colors int

// The profiles.
const (
	NoColors Colors = iota // bold and underline neither
	Colors16
	Colors256
	ColorsAll
)

// TerminalColors tells what the environment says about the colours of a terminal; it asks the terminal
// nothing. env is a process's, as KEY=value.
func TerminalColors(env []string) Colors {
	switch termenv.NewOutput(io.Discard, termenv.WithEnvironment(environment(env)), termenv.WithUnsafe()).EnvColorProfile() {
	case termenv.TrueColor:
		return ColorsAll
	case termenv.ANSI256:
		return Colors256
	case termenv.ANSI:
		return Colors16
	default:
		return NoColors
	}
}

// environment is a process's, for termenv.
type environment []string

func (e environment) Environ() []string { return e }

func (e environment) Getenv(key string) string {
	for _, pair := range slices.Backward(e) {
		if name, value, _ := strings.Cut(pair, "="); name == key {
			return value
		}
	}
	return ""
}

// look is how things are drawn.
type look struct {
	ascii  bool
	styles map[role]lipgloss.Style
}

func newLook(theme string, colors Colors, ascii bool) (look, error) {
	chosen, known := themes[theme]
	if !known {
		return look{}, fmt.Errorf("no theme %q: one of %s", theme, strings.Join(Themes(), ", "))
	}
	// A renderer of our own: lipgloss' global one asks the terminal.
	r := lipgloss.NewRenderer(io.Discard)
	r.SetHasDarkBackground(true)
	r.SetColorProfile(map[Colors]termenv.Profile{NoColors: termenv.Ascii, Colors16: termenv.ANSI, Colors256: termenv.ANSI256, ColorsAll: termenv.TrueColor}[colors])
	k := look{ascii: ascii, styles: map[role]lipgloss.Style{}}
	if colors == NoColors {
		return k, nil
	}
	for _, one := range []role{roleDim, roleTitle, roleFocus, roleGood, roleWarn, roleBad, roleFault, roleKey, roleSelected} {
		s := r.NewStyle()
		if c := chosen[one]; c != "" {
			s = s.Foreground(lipgloss.Color(c))
		}
		switch one {
		case roleFocus, roleGood, roleBad:
			s = s.Bold(true)
		case roleSelected:
			s = s.Reverse(true)
		}
		k.styles[one] = s
	}
	return k, nil
}

// paint gives a text the colour of its role.
func (k look) paint(one role, s string) string {
	style, ok := k.styles[one]
	if !ok || s == "" {
		return s
	}
	return style.Render(s)
}

// text cleans a text of others for this terminal.
func (k look) text(s string) string { return clean(s, k.ascii) }

// The signs that a plain terminal draws otherwise.
func (k look) cut() string {
	if k.ascii {
		return "~"
	}
	return "…"
}

func (k look) line() string {
	if k.ascii {
		return "-"
	}
	return "─"
}

func (k look) upright() string {
	if k.ascii {
		return "|"
	}
	return "│"
}

// corner is where a line beside a pane meets its title: goesOn where the line is there above it, too.
func (k look) corner(goesOn bool) string {
	switch {
	case k.ascii:
		return "+"
	case goesOn:
		return "├"
	default:
		return "┬"
	}
}

// ramp has the signs of a sparkline from nothing to most.
func (k look) ramp() []rune {
	if k.ascii {
		return []rune(" .:-=+*#%@")
	}
	return []rune(" ▁▂▃▄▅▆▇█")
}

// spark draws figures as one sign each, by the largest of them.
func (k look) spark(figures []float64) string {
	ramp := k.ramp()
	most := 0.0
	for _, f := range figures {
		most = max(most, f)
	}
	var b strings.Builder
	for _, f := range figures {
		i := 0
		if most > 0 && f > 0 {
			i = min(max(int(f/most*float64(len(ramp)-1)+0.5), 1), len(ramp)-1)
		}
		b.WriteRune(ramp[i])
	}
	return b.String()
}
