package doctor

import "strings"

// overlap says whether some subject matches both of two subjects with wildcards.
func overlap(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := 0; ; i++ {
		switch {
		case i == len(x) && i == len(y):
			return true
		case i == len(x) || i == len(y):
			return false
		case x[i] == ">" || y[i] == ">":
			return true
		case x[i] != y[i] && x[i] != "*" && y[i] != "*":
			return false
		}
	}
}

// overlaps says whether a filter can match anything that is published to subjects.
func overlaps(filter string, subjects []string) bool {
	for _, s := range subjects {
		if overlap(filter, s) {
			return true
		}
	}
	return false
}

// covers says whether a subscription takes a subject without wildcards.
func covers(sub, subject string) bool {
	x, y := strings.Split(sub, "."), strings.Split(subject, ".")
	for i, token := range x {
		if token == ">" {
			return len(y) > i
		}
		if i >= len(y) || token != "*" && token != y[i] {
			return false
		}
	}
	return len(x) == len(y)
}
