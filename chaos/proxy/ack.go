package proxy

import "strings"

// ackSubject is what the reply subject of a JetStream delivery says. Servers write it as
// $JS.ACK.<stream>.<consumer>.<deliveries>.<stream seq>.<consumer seq>.<time>.<pending>, and with domains as
// $JS.ACK.<domain>.<account>.<stream>.… with eleven tokens or more.
type ackSubject struct {
	stream, consumer                 string
	streamSequence, consumerSequence uint64
	deliveries, pending              uint64
}

const ackPrefix = "$JS.ACK."

// isAck tells a JetStream delivery by its reply subject without reading it.
func isAck(reply []byte) bool {
	return len(reply) > len(ackPrefix) && string(reply[:len(ackPrefix)]) == ackPrefix
}

// parseAck reads the reply subject of a delivery.
func parseAck(reply string) (a ackSubject, ok bool) {
	tokens := strings.Split(reply, ".")
	if len(tokens) < 9 || tokens[0] != "$JS" || tokens[1] != "ACK" {
		return a, false
	}
	switch {
	case len(tokens) == 9:
		tokens = tokens[2:]
	case len(tokens) >= 11:
		tokens = tokens[4:]
	default:
		return a, false
	}
	a.stream, a.consumer = tokens[0], tokens[1]
	for i, to := range []*uint64{&a.deliveries, &a.streamSequence, &a.consumerSequence} {
		if *to, ok = sequence(tokens[2+i]); !ok {
			return a, false
		}
	}
	a.pending, ok = sequence(tokens[6])
	return a, ok
}

func sequence(s string) (uint64, bool) {
	if s == "" || len(s) > 19 {
		return 0, false
	}
	var n uint64
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, true
}
