package commands

import (
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// nearest gives the known words that a mistyped one may have meant, best first:
// those that begin with it or differ in about a third of its letters, and little
// more than the best; at most three.
func nearest(word string, known []string) []string {
	type match struct {
		word     string
		distance int
	}
	lower := strings.ToLower(word)
	var matches []match
	for _, k := range known {
		candidate := strings.ToLower(k)
		d := levenshtein.ComputeDistance(lower, candidate)
		if len(lower) >= 3 && strings.HasPrefix(candidate, lower) {
			d = min(d, 1)
		}
		if d <= (len([]rune(word))+3)/3 {
			matches = append(matches, match{k, d})
		}
	}
	slices.SortStableFunc(matches, func(a, b match) int { return a.distance - b.distance })
	var out []string
	for _, m := range matches {
		if len(out) < 3 && m.distance <= matches[0].distance+1 && !slices.Contains(out, m.word) {
			out = append(out, m.word)
		}
	}
	return out
}

// didYouMean is the hint for a mistyped word, or otherwise where nothing is near.
func didYouMean(word string, known []string, otherwise string) string {
	near := nearest(word, known)
	if len(near) == 0 {
		return otherwise
	}
	return "did you mean " + strings.Join(near, " or ") + "?"
}
