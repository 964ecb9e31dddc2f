package session

// Cursor is the stream sequence of the last message accepted in order, and when
// that message was stored.
type Cursor struct {
	Sequence uint64
	Time     int64 // 0: nothing was ever accepted at the cursor
}

// known says whether a message at the cursor could be told from another one.
func (c Cursor) known() bool { return c.Sequence > 0 && c.Time != 0 }

// overlap is where a replacement starts: at the cursor, not after it, so that the
// first answer is immediate and proves the stream's identity (rule 8).
func (c Cursor) overlap() uint64 { return max(c.Sequence, 1) }

// origin is how the next consumer is told where to start.
type origin struct {
	kind     StartKind
	sequence uint64
	time     int64
}

// atCursor is the origin of every replacement that has nothing else to settle.
func atCursor(c Cursor) origin { return origin{kind: StartSequence, sequence: c.overlap()} }

// StreamFacts is what STREAM.INFO tells.
type StreamFacts struct {
	Created     int64
	First, Last uint64
	LastTime    int64
	Weight      int  // of a message, on average; 0 unknown
	Limits      bool // limits retention
	Retention   string
	Mirror      bool
	Subjects    []string
}

// identity is what a look at the stream says of the message at the cursor.
type identity int

const (
	sameStream identity = iota // the stream holds what was read; go on
	rolledBack                 // the same stream without its tail: a crash, a restored backup
	recreated                  // another stream of that name
	resyncing                  // a mirror made again: it keeps its origin's sequences
)

// judge compares the stream with the one the cursor comes from, which is known to
// have reached tail: a reader may begin beyond its end. at is the time of the
// message now found at the cursor, 0 when none was seen.
func (c Cursor) judge(created int64, tail uint64, now StreamFacts, at int64) identity {
	if created != 0 && now.Created != 0 && now.Created != created {
		if now.Mirror {
			return resyncing
		}
		return recreated
	}
	if now.Last < min(c.Sequence, tail) || c.another(at) {
		return rolledBack
	}
	return sameStream
}

// another says that the message at the cursor is not the one that was read.
func (c Cursor) another(at int64) bool { return at != 0 && c.known() && at != c.Time }

// span is a range of stream sequences that did not come, both ends included.
type span struct{ from, to uint64 }

func (s span) count() uint64 { return s.to - s.from + 1 }

// passed gives what lies between the cursor and the next message.
func (c Cursor) passed(next uint64) (span, bool) {
	if next <= c.Sequence+1 {
		return span{}, false
	}
	return span{c.Sequence + 1, next - 1}, true
}
