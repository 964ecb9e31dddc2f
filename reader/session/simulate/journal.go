package simulate

import (
	"cmp"
	"slices"
	"time"
)

// journal is every message that was ever stored, by its stamp.
type journal struct {
	log        []record
	generation int // streams made, and roll backs
	another    int // the first generation that was made again, 0 none
}

// record is one message.
type record struct {
	at         time.Duration
	stamp      int64 // its time, as the server tells
	generation int
	sequence   uint64
	subject    int
	reused     bool // its sequence was that of a message that was rolled back
	rolled     bool // the stream forgot it in a roll back
}

// add notes a message and gives its stamp.
func (j *journal) add(at time.Duration, sequence uint64, subject int) int64 {
	reused := false
	for i := len(j.log) - 1; i >= 0 && !reused; i-- {
		reused = j.log[i].rolled && j.log[i].sequence >= sequence
	}
	stamp := epoch + int64(at)
	if n := len(j.log); n > 0 {
		stamp = max(stamp, j.log[n-1].stamp+1)
	}
	j.log = append(j.log, record{at: at, stamp: stamp, generation: j.generation, sequence: sequence, subject: subject, reused: reused})
	return stamp
}

// index finds a message by its stamp; -1 is none.
func (j *journal) index(stamp int64) int {
	i, ok := slices.BinarySearchFunc(j.log, stamp, func(e record, stamp int64) int { return cmp.Compare(e.stamp, stamp) })
	if !ok {
		return -1
	}
	return i
}

// rollBack marks what the stream forgets beyond a sequence.
func (j *journal) rollBack(last uint64) {
	for i := range j.log {
		if e := &j.log[i]; e.generation == j.generation && e.sequence > last {
			e.rolled = true
		}
	}
}

// anew says that a message was stored in a stream that was made again.
func (j *journal) anew(e *record) bool { return e.generation >= j.another && j.another > 0 }

// carry takes what the stream still holds, and its removed ones, into a new
// generation: it is the same stream without its tail.
func (j *journal) carry(st interface{ Last() uint64 }) {
	for i := range j.log {
		if e := &j.log[i]; e.generation == j.generation-1 && e.sequence <= st.Last() {
			e.generation = j.generation
		}
	}
}
