package simulate

import "time"

// journal is every message that was ever stored, by its stamp.
type journal struct {
	log        []record
	generation int // streams made, and roll backs
	another    int // the first generation that was made again, 0 none
}

// record is one message.
type record struct {
	at         time.Duration
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
	j.log = append(j.log, record{at: at, generation: j.generation, sequence: sequence, subject: subject, reused: reused})
	return stampOf(len(j.log) - 1)
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
