package oracle

import "time"

// Measure says what the figures of a verdict were measured against.
type Measure string

// The measures.
const (
	// ByIDs: every id a publisher of ours got acknowledged must be read once, in order.
	ByIDs Measure = "publisher ids"
	// BySequences: consumer and stream sequences of what was read must have no holes
	// but those that were told.
	BySequences Measure = "sequences"
	// ByNothing: a durable that others may read too, on a stream of others: a hole
	// or a repetition says nothing.
	ByNothing Measure = "nothing"
)

// Rules are what the oracle judges by.
type Rules struct {
	Measure Measure
	// Filtered: the reader does not read the whole stream, so that a hole in the
	// stream's sequences says nothing.
	Filtered bool
	// AtLeastOnce: a durable. It may redeliver, and others may read it too.
	AtLeastOnce bool
	// AckWait is after what time the server sends a durable again what it has sent and nobody acknowledged: what is
	// lost on the way does not wait for the reader until then. 0: DefaultAckWait.
	AckWait time.Duration
	// OthersPublish: what is no id of a publisher of ours is nobody's fault.
	OthersPublish bool
	// Blind: the target tells no events, so that nobody knows its sessions and when it was deaf.
	Blind bool
	// NeverEnds: a target that ends by itself breaks the contract, and has lost what it did not read. Without
	// it nothing is known of the rest.
	NeverEnds bool
	// Deafness is how long a reader may be deaf, or silent, beyond the length of the faults that act
	// meanwhile. 0: DefaultDeafness.
	Deafness time.Duration
	// Limits are the contract.
	Limits Limits
}

// DefaultAckWait is the server's own.
const DefaultAckWait = 30 * time.Second

// Delivery is one message as the reader's caller saw it.
type Delivery struct {
	ID               string // the payload; empty where no ids are judged
	Sequence         uint64 // of the stream; 0: the target does not tell it
	ConsumerSequence uint64
	Session          int
	Time             time.Time
}

// Period is the time during which a fault acted.
type Period struct {
	Fault    string // as it prints, without its schedule
	Name     string
	From, To time.Time // To is zero while it acts
	// Destructive: it destroyed messages.
	Destructive bool
	// SetsBack: it may have taken back what the server had acknowledged last.
	SetsBack bool
	// Pauses: it paused the consumer, as an operator does. What the reader told of a pause meanwhile is over with it.
	Pauses bool
	// Cursor is the stream sequence the reader had accepted when a destructive
	// fault began; 0: not known.
	Cursor uint64
}

// Ending is what is known only when all is over.
type Ending struct {
	Time        time.Time // when reading ended
	Periods     []Period
	APIRequests uint64 // in all; 0: as many as were told
	WireBytes   uint64
	Orphans     int     // consumers of ours left on the server, or NotCounted
	Undrained   uint64  // messages the reader should have come to and did not
	Failed      []error // faults that could not act
	Err         error   // why the reader ended by itself; nil when we closed it
	Interrupted bool    // a signal cut the run short
	// Grace is how much longer the reader may be deaf or silent before its end, where it was to end by itself.
	Grace time.Duration
	// SkipsOnReset: the reader is not to read a re-created stream from its start, so
	// that what was published before it told the reset counts as destroyed.
	SkipsOnReset bool
}
