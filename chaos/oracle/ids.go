package oracle

import (
	"strconv"
	"strings"
)

// ID is the payload of a publisher's n-th message, from 1: "<writer>-<n>".
func ID(writer string, n uint64) string { return writer + "-" + strconv.FormatUint(n, 10) }

// maxID bounds what a stray payload can make the oracle remember.
const maxID = 1 << 28

// splitID reads an id as ID writes it, and nothing else.
func splitID(id string) (writer string, n uint64, ok bool) {
	i := strings.LastIndexByte(id, '-')
	if i <= 0 || i == len(id)-1 || id[i+1] == '0' {
		return "", 0, false
	}
	n, err := strconv.ParseUint(id[i+1:], 10, 64)
	return id[:i], n, err == nil && n < maxID
}

// longestShown is how much of a payload that is no id is shown.
const longestShown = 64

// shown is a payload as a sample shows it.
func shown(payload string) string {
	if len(payload) > longestShown {
		payload = payload[:longestShown]
		return strconv.Quote(payload) + "..."
	}
	return strconv.Quote(payload)
}
