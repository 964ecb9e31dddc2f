package reader

import "strings"

// ackSubject is what a delivered message's reply subject tells. Two forms exist
// (nats-server ADR-15):
//
//	$JS.ACK.<stream>.<consumer>.<delivered>.<sseq>.<cseq>.<time>.<pending>                              9 tokens
//	$JS.ACK.<domain>.<account>.<stream>.<consumer>.<delivered>.<sseq>.<cseq>.<time>.<pending>[.<more>]  11 and more
type ackSubject struct {
	domain, stream, consumer         string
	delivered, sequence, consumerSeq uint64
	timestamp                        int64
	pending                          uint64
}

const ackPrefix = "$JS.ACK."

// parseAckSubject parses both forms without garbage; ok is false for any other subject.
func parseAckSubject(s string) (a ackSubject, ok bool) {
	if !strings.HasPrefix(s, ackPrefix) {
		return a, false
	}
	// Tokens after the prefix: 7 in the short form, at least 9 in the long one.
	var tokens [9]string
	n, rest, more := 0, s[len(ackPrefix):], true
	for more && n < len(tokens) {
		tokens[n], rest, more = strings.Cut(rest, ".")
		n++
	}
	t := tokens[:]
	switch {
	case n == 7:
	case n == 9:
		if tokens[0] != "_" {
			a.domain = tokens[0]
		}
		t = tokens[2:]
	default:
		return a, false
	}
	a.stream, a.consumer = t[0], t[1]
	var stamp uint64
	ok = number(t[2], &a.delivered) && number(t[3], &a.sequence) && number(t[4], &a.consumerSeq) &&
		number(t[5], &stamp) && number(t[6], &a.pending)
	a.timestamp = int64(stamp)
	return a, ok
}

// number parses a decimal without sign; it is the hot path's strconv.
func number(s string, to *uint64) bool {
	if len(s) == 0 || len(s) > 19 {
		return false
	}
	var n uint64
	for i := 0; i < len(s); i++ {
		c := s[i] - '0'
		if c > 9 {
			return false
		}
		n = n*10 + uint64(c)
	}
	*to = n
	return true
}
