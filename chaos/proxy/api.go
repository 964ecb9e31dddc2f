package proxy

import "strings"

const (
	apiPrefix = "$JS.API."
	nextPull  = "CONSUMER.MSG.NEXT."
)

// apiRequest returns the operation part of a JetStream API subject: CONSUMER.INFO.S.C of
// $JS.API.CONSUMER.INFO.S.C, of $JS.<domain>.API.CONSUMER.INFO.S.C and of a request under the extra
// prefix, when there is one.
func apiRequest(subject, extra string) (operation string, ok bool) {
	if extra != "" && strings.HasPrefix(subject, extra) {
		return subject[len(extra):], len(subject) > len(extra)
	}
	if !strings.HasPrefix(subject, "$JS.") {
		return "", false
	}
	if strings.HasPrefix(subject, apiPrefix) {
		return subject[len(apiPrefix):], len(subject) > len(apiPrefix)
	}
	_, rest, more := cutToken(subject[len("$JS."):])
	if !more || !strings.HasPrefix(rest, "API.") || len(rest) == len("API.") {
		return "", false
	}
	return rest[len("API."):], true
}

// isPull tells whether an API operation asks a consumer for messages.
func isPull(operation string) bool { return strings.HasPrefix(operation, nextPull) }

// apiPattern matches API requests by subject: a pattern that begins with $JS. is compared with the whole
// subject, any other with the operation part.
type apiPattern struct{ pattern pattern }

func (a apiPattern) matches(subject, operation string) bool {
	if strings.HasPrefix(string(a.pattern), "$JS.") {
		return a.pattern.matches(subject)
	}
	return a.pattern.matches(operation)
}
