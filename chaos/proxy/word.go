package proxy

import (
	"fmt"
	"strings"
)

// unknownWord says that a word is none of the known ones, and which of them it may have been meant to be.
func unknownWord(what, word string, known []string) error {
	err := fmt.Errorf("%s %q: want %s", what, word, strings.Join(known, ", "))
	if near := nearestWord(word, known); near != "" {
		err = fmt.Errorf("%w; did you mean %s?", err, near)
	}
	return err
}

// nearestWord gives the known word that takes the fewest letters to put in, take out or change, if that is at most
// half of them; otherwise "".
func nearestWord(word string, known []string) string {
	word = strings.ToUpper(word)
	best, least := "", len(word)/2+1
	for _, k := range known {
		if d := edits(word, strings.ToUpper(k)); d < least {
			best, least = k, d
		}
	}
	return best
}

func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		above := row[0]
		row[0]++
		for j := range len(b) {
			change := above
			if a[i] != b[j] {
				change++
			}
			above = row[j+1]
			row[j+1] = min(change, row[j]+1, above+1)
		}
	}
	return row[len(b)]
}
