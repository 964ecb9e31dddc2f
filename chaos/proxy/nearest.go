package proxy

import (
	"slices"
	"strings"
)

// synonyms are words that people write for a fault or a parameter of another name.
var synonyms = map[string][]string{
	"status": {"code"}, "error": {"err_code"}, "description": {"text"}, "reason": {"text"}, "message": {"text"},
	"n": {"nth"}, "number": {"nth"}, "count": {"nth", "limit"}, "times": {"limit"}, "max": {"limit"},
	"client": {"conn"}, "name": {"conn"}, "connection": {"conn"}, "inbox": {"subject"}, "filter": {"subject"}, "topic": {"subject"},
	"duration": {"for"}, "length": {"for"}, "time": {"for", "delay"}, "ms": {"delay"}, "until": {"for"},
	"way": {"direction"}, "bytes": {"rate"}, "bps": {"rate"}, "speed": {"rate"}, "seq": {"first"}, "sequence": {"first"},
	"disconnect": {"cut"}, "close": {"cut"}, "fin": {"cut"}, "rst": {"reset"}, "deaf": {"drop-subscription"},
	"slow": {"latency", "bandwidth"}, "lag": {"latency"}, "throttle": {"bandwidth"}, "restart": {"stop-server"}, "crash": {"kill-server"},
	"sigterm": {"stop-server"}, "sigkill": {"kill-server"}, "sigstop": {"freeze-server"}, "denied": {"permission-denied"}, "auth": {"permission-denied"},
}

// Suggestions are the names or values, at most three, that the wrong one may have meant; nil where none is near.
func (e *FaultError) Suggestions() []string {
	word := e.Fault
	switch {
	case e.Field != "" && e.Problem == noSuchParameter:
		word = e.Field
	case e.Field != "":
		word = e.Value
	}
	return Nearest(word, e.Allowed)
}

// longestName is how long a word may be that is compared with others: no name comes near it.
const longestName = 64

// Nearest gives the known words, at most three, that another one may have meant: it is mistyped, or abbreviated, or
// leaves parts out (drop-msg, heartbeat), or says the same (status for code). A single letter means none by its looks.
func Nearest(word string, known []string) []string {
	word, _, _ = strings.Cut(strings.TrimLeft(word, " ("), "(")
	word, _, _ = strings.Cut(word, " ")
	word = plainName(strings.Trim(word, `()",`))
	if word == "" || len(word) > longestName {
		return nil
	}
	var out []string
	for _, k := range synonyms[word] {
		if slices.Contains(known, k) {
			out = append(out, k)
		}
	}
	for far := 0; far <= allowedMistakes(word) && len(out) == 0; far++ {
		for _, k := range known {
			if mistakesIn(word, plainName(k)) == far {
				out = append(out, k)
			}
		}
	}
	for _, alike := range []func(part, whole string, others bool) bool{begins, like} {
		if len(out) == 0 && len(word) > 1 { // a letter by itself is a part of anything
			out = slices.DeleteFunc(slices.Clone(known), func(k string) bool { return !partsOf(word, plainName(k), alike) })
		}
	}
	return out[:min(len(out), 3)]
}

// plainName is a name without the differences that nobody means.
func plainName(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "-") }

// allowedMistakes is how many mistakes a word of that length can hold and still be known: beyond that another word
// is as likely.
func allowedMistakes(word string) int {
	switch n := len(word); {
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

// partsOf tells whether the parts of a word are alike parts of a name, in order.
func partsOf(word, name string, alike func(part, whole string, others bool) bool) bool {
	rest := strings.Split(name, "-")
	parts := strings.Split(word, "-")
	for _, part := range parts {
		i := slices.IndexFunc(rest, func(p string) bool { return alike(part, p, len(parts) > 1) })
		if i < 0 {
			return false
		}
		rest = rest[i+1:]
	}
	return true
}

// begins tells whether a part begins another one, or is it with an ending. Of a single part two letters say too little.
func begins(part, whole string, others bool) bool {
	switch {
	case strings.HasPrefix(whole, part):
		return len(part) > 2 || len(part) > 0 && others
	default:
		return len(whole) > 3 && strings.HasPrefix(part, whole)
	}
}

// like tells whether a part is another one mistyped, or abbreviated.
func like(part, whole string, others bool) bool {
	if begins(part, whole, others) || mistakesIn(part, whole) <= allowedMistakes(part) {
		return true
	}
	if part == "" || whole == "" || part[0] != whole[0] || len(part) < 3 && !others {
		return false
	}
	for i := range len(whole) {
		if part != "" && part[0] == whole[i] {
			part = part[1:]
		}
	}
	return part == ""
}

// mistakesIn counts the letters to put in, take out or change to make a into b; two neighbours that changed places
// are one mistake.
func mistakesIn(a, b string) int {
	var before []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			next[j+1] = min(row[j+1], next[j]) + 1
			change := row[j]
			if a[i] != b[j] {
				change++
			}
			next[j+1] = min(next[j+1], change)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
