package session

import "time"

// GateHold is how long a request that only asks may hold back those that change
// something: an answer that was lost delays them no longer.
const GateHold = time.Second

// rounds lets what only asks and what changes something go by turns. From 2.14 on a
// server answers STREAM.INFO, CONSUMER.INFO and STREAM.NAMES only while nothing else
// waits in its API: a connection that keeps it busy with creates would wait for its
// own looks for ever. So while such an answer is due nothing else is sent; and then
// those that waited go before the next question.
type rounds struct {
	asking int // questions under way
	joined int // questions of this round
	owed   int // others that go before the next round
}

// gated says that what changes something has to wait.
func (r *rounds) gated() bool { return r.asking > 0 }

// mayAsk says whether a question may go; waits: another request would have room.
func (r *rounds) mayAsk(waits bool, most int) bool {
	if r.asking > 0 {
		return !waits || r.joined < most
	}
	return !waits || r.owed == 0
}

func (r *rounds) granted(question bool) {
	switch {
	case question:
		r.asking++
		r.joined++
	case r.owed > 0:
		r.owed--
	}
}

// over ends a question; after the last one of a round those that wait have their
// turn.
func (r *rounds) over(waiting int) {
	if r.asking--; r.asking == 0 {
		r.joined, r.owed = 0, waiting
	}
}

// Asks says whether a request only asks, and so stands behind all others in a server.
func (a API) Asks() bool {
	return a == APIStreamInfo || a == APIConsumerInfo || a == APIStreamNames
}
