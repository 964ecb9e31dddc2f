package bench

import "encoding/binary"

// tally counts what one contestant reads. Only the goroutine that reads uses it.
type tally struct {
	size int    // of every payload
	next uint64 // the number that must come
	came uint64 // the number that came last
	last uint64 // the number that ends the reading

	read  uint64
	lost  uint64 // numbers that were passed over
	again uint64 // messages that came again, or behind later ones
	odd   uint64 // payloads of another size, or a sequence that is not the number
}

// count takes one message, and says whether it is the last one.
func (t *tally) count(payload []byte) bool {
	t.read++
	if len(payload) != t.size {
		t.odd++
		return false
	}
	n := binary.BigEndian.Uint64(payload)
	t.came = n
	if n != t.next {
		t.astray(n)
	}
	t.next++
	return n == t.last
}

// astray takes a message out of turn; the caller counts it.
func (t *tally) astray(n uint64) {
	if n > t.next {
		t.lost += n - t.next
		t.next = n
		return
	}
	t.again++
	t.next--
}

// at compares the stream sequence of the message that was counted last: the stream begins at 1 and has nothing else.
func (t *tally) at(sequence uint64) {
	if sequence != t.came {
		t.odd++
	}
}

// number writes the number of a message into its payload.
func number(payload []byte, n uint64) { binary.BigEndian.PutUint64(payload, n) }
