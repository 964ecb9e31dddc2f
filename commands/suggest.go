package commands

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// nearest gives the known words that a mistyped one may have meant: those that
// differ least, and no more than a word of that length can by mistake; where some
// of them begin with the same letter, only these; at most three.
func nearest(word string, known []string) []string {
	lower := strings.ToLower(word)
	best, sameStart := mistakes(lower)+1, false
	var out []string
	for _, k := range known {
		candidate := strings.ToLower(k)
		d := distance(lower, candidate)
		starts := lower != "" && strings.HasPrefix(candidate, lower[:1])
		if d > best || d == best && sameStart && !starts || d > mistakes(lower) {
			continue
		}
		if d < best || starts && !sameStart {
			best, sameStart, out = d, starts, nil
		}
		if len(out) < 3 && !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

// mistakes is how many mistakes a word of that length can hold and still be known:
// beyond that, another word is as likely.
func mistakes(word string) int {
	switch n := len([]rune(word)); {
	case n < 3:
		return 0
	case n < 6:
		return 1
	case n < 10:
		return 2
	default:
		return 3
	}
}

// distance counts the letters to put in, leave out or replace. Two neighbours that
// change places are one mistake; so is all that is missing at the end.
func distance(word, candidate string) int {
	d := levenshtein.ComputeDistance(word, candidate)
	letters := []rune(word)
	for i := 0; i+1 < len(letters) && d > 1; i++ {
		swapped := slices.Clone(letters)
		swapped[i], swapped[i+1] = letters[i+1], letters[i]
		d = min(d, 1+levenshtein.ComputeDistance(string(swapped), candidate))
	}
	if len(letters) >= 3 && strings.HasPrefix(candidate, word) {
		d = min(d, 1)
	}
	return d
}

// didYouMean is the hint for a mistyped word, or otherwise where nothing is near.
func didYouMean(word string, known []string, otherwise string) string {
	near := nearest(word, known)
	if len(near) == 0 {
		return otherwise
	}
	return "did you mean " + strings.Join(near, " or ") + "?"
}

// didYouMeanFlag is didYouMean for the name of a flag, without its dashes.
func didYouMeanFlag(name string, known []string, otherwise string) string {
	near := nearest(name, known)
	if len(near) == 0 {
		return otherwise
	}
	for i := range near {
		near[i] = dashed(near[i])
	}
	return "did you mean " + strings.Join(near, " or ") + "?"
}

// counted is a number of things, in words.
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
