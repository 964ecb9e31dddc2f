package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// clean makes a text of others harmless: one line, no escape sequence, nothing that moves the cursor or turns
// the direction of writing. ascii also takes out what a plain terminal cannot show.
func clean(s string, ascii bool) string {
	plain := true
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	var b strings.Builder
	for _, r := range ansi.Strip(s) {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			b.WriteByte(' ')
		case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp), r == utf8.RuneError, ascii && r > '~':
			b.WriteByte('?')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// clip cuts a text that is longer than can be shown, so that no more of it is looked at.
func clip(s string, bytes int) string {
	if len(s) <= bytes {
		return s
	}
	return s[:bytes]
}

// fit makes a text exactly so many cells wide: what is too long is cut, and says so by its last sign.
func (k look) fit(s string, w int) string {
	if w <= 0 {
		return ""
	}
	n := ansi.StringWidth(s)
	if n > w {
		s = ansi.Truncate(s, w, k.cut())
		n = ansi.StringWidth(s)
	}
	return s + strings.Repeat(" ", max(w-n, 0))
}

// fitRight is fit with the text at the right.
func (k look) fitRight(s string, w int) string {
	if n := ansi.StringWidth(s); n < w {
		return strings.Repeat(" ", w-n) + s
	}
	return k.fit(s, w)
}

// ends is a line with a text at each end. The left one is cut where there is no room for both, and the right
// one is left out where it would leave less than a third.
func (k look) ends(left, right string, w int) string {
	room := w - ansi.StringWidth(right)
	if right == "" || room < ansi.StringWidth(left) && room < w/3 {
		return k.fit(left, w)
	}
	return k.fit(k.fit(left, room-1), room) + right
}

// wrap breaks a text between words into lines of at most so many cells.
func wrap(s string, w int) []string {
	if w <= 0 {
		return nil
	}
	return strings.Split(ansi.Wrap(s, w, ""), "\n")
}

// age writes how long ago something was, in few signs.
func age(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 100*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	}
}

// seconds writes a short time with one digit behind the point.
func seconds(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", max(d, 0).Seconds())
	}
	return age(d)
}

// length writes a measured duration with two digits that count.
func length(d time.Duration) string {
	switch {
	case d <= 0:
		return "-"
	case d < time.Millisecond:
		return "<1ms"
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.2fs", d.Seconds())
	default:
		return age(d)
	}
}

// count writes a number with its thousands apart.
func count(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// brief writes a number in at most five signs.
func brief(n float64) string {
	switch {
	case n < 1000:
		return strconv.Itoa(int(n + 0.5))
	case n < 9950:
		return fmt.Sprintf("%.1fk", n/1e3)
	case n < 999_500:
		return fmt.Sprintf("%.0fk", n/1e3)
	case n < 9_950_000:
		return fmt.Sprintf("%.1fM", n/1e6)
	case n < 999_500_000:
		return fmt.Sprintf("%.0fM", n/1e6)
	default:
		return fmt.Sprintf("%.1fG", n/1e9)
	}
}

// size writes a number of bytes.
func size(n float64) string {
	if n < 1000 {
		return strconv.Itoa(int(n+0.5)) + " B"
	}
	s := brief(n)
	return s[:len(s)-1] + " " + strings.ToUpper(s[len(s)-1:]) + "B"
}

// words writes a name such as consumer_deleted as words.
func words(s string) string { return clean(strings.ReplaceAll(s, "_", " "), false) }
