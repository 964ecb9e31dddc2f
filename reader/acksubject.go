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
// It reads once, from left to right: the short form is the one that ends behind its
// five numbers.
func parseAckSubject(s string) (a ackSubject, ok bool) {
	if !strings.HasPrefix(s, ackPrefix) {
		return a, false
	}
	first, rest, _ := strings.Cut(s[len(ackPrefix):], ".")
	second, rest, _ := strings.Cut(rest, ".")
	if more, ok := a.numbers(rest); ok && more == "" {
		a.stream, a.consumer = first, second
		return a, true
	}
	if first != "_" {
		a.domain = first
	}
	a.stream, rest, _ = strings.Cut(rest, ".")
	a.consumer, rest, _ = strings.Cut(rest, ".")
	more, ok := a.numbers(rest)
	return a, ok && (more == "" || more[0] == '.')
}

// numbers reads the five numbers at the start of s and gives what follows them.
func (a *ackSubject) numbers(s string) (more string, ok bool) {
	var n [5]uint64
	for i := range n {
		if i > 0 {
			if s == "" || s[0] != '.' {
				return s, false
			}
			s = s[1:]
		}
		if n[i], s, ok = digits(s); !ok {
			return s, false
		}
	}
	a.delivered, a.sequence, a.consumerSeq, a.timestamp, a.pending = n[0], n[1], n[2], int64(n[3]), n[4]
	return s, true
}

// digits reads the decimal at the start of s, of 19 digits at most, and gives what
// follows it.
func digits(s string) (n uint64, more string, ok bool) {
	i := 0
	for ; i < len(s); i++ {
		c := s[i] - '0'
		if c > 9 {
			break
		}
		n = n*10 + uint64(c)
	}
	return n, s[i:], 0 < i && i <= 19
}

// number reads a decimal without sign.
func number(s string, to *uint64) bool {
	n, more, ok := digits(s)
	ok = ok && more == ""
	if ok {
		*to = n
	}
	return ok
}
