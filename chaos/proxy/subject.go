package proxy

import (
	"errors"
	"strings"
)

// pattern is a subject with wildcards; the zero value matches everything.
type pattern string

// cut splits s at its first dot. more tells whether a dot was there.
func cutToken(s string) (token, rest string, more bool) {
	if i := strings.IndexByte(s, '.'); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

// matches tells whether subject is one that the pattern stands for. A wildcard in subject (the subject
// of a subscription) is matched by a wildcard of the pattern only.
func (p pattern) matches(subject string) bool {
	if p == "" || p == ">" {
		return true
	}
	rest := string(p)
	for {
		want, wantRest, wantMore := cutToken(rest)
		if want == ">" && !wantMore {
			return subject != ""
		}
		got, gotRest, gotMore := cutToken(subject)
		if want != got && (want != "*" || got == ">") {
			return false
		}
		if !wantMore || !gotMore {
			return wantMore == gotMore
		}
		rest, subject = wantRest, gotRest
	}
}

// check says what is wrong with a pattern as a NATS subject.
func (p pattern) check() error {
	rest := string(p)
	for {
		token, next, more := cutToken(rest)
		switch {
		case token == "":
			return errors.New("a subject has no empty token")
		case strings.ContainsAny(token, " \t\r\n"):
			return errors.New("a subject has no white space")
		case token == ">" && more:
			return errors.New("> stands at the end of a subject only")
		}
		if !more {
			return nil
		}
		rest = next
	}
}
