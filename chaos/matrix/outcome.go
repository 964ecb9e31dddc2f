package matrix

import (
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/result"
)

// OutcomeSchema is the schema field of an Outcome.
const OutcomeSchema = "nats-reader/chaos-cell/v1"

// End is what became of the target.
type End string

// The ends.
const (
	Reads  End = "reads"   // it read again, and to the end
	GaveUp End = "gave_up" // it ended by itself
	Deaf   End = "deaf"    // it was open at the end, and messages waited
	None   End = "none"    // the cell could not be played
)

// Outcome is what came of one cell.
type Outcome struct {
	Schema string `json:"schema"`
	Cell
	Version string    `json:"version"` // of the server that was there
	Seed    uint64    `json:"seed"`
	Began   time.Time `json:"began"`

	Finding oracle.Finding `json:"finding"`
	End     End            `json:"end"`
	// Silence is the longest time without a message from the first fault on, to the next message; of a deaf one to
	// the end of the run; of one that gave up how long after the first fault it did.
	Silence time.Duration `json:"silence_ns"`
	// After is how much of such a time was left, at most, when the last fault that acted meanwhile had ended.
	After time.Duration `json:"after_ns"`
	Took  time.Duration `json:"took_ns"` // the run

	Acknowledged uint64 `json:"acknowledged"` // stored
	Delivered    uint64 `json:"delivered"`    // handed out
	Unread       uint64 `json:"unread"`       // behind the last message that was read
	Lost         uint64 `json:"lost"`         // passed over; Unread is not among them
	Duplicated   uint64 `json:"duplicated"`
	OutOfOrder   uint64 `json:"out_of_order"`
	Redelivered  uint64 `json:"redelivered"` // again, or out of order, as at least once allows
	Told         uint64 `json:"told"`        // not read, and accounted for
	APIRequests  uint64 `json:"api_requests"`
	Left         int    `json:"left"` // consumers left on the server; -1: not counted

	Reasons []string `json:"reasons,omitempty"` // why the contract is not held
	Error   string   `json:"error,omitempty"`   // why the run ended before its time
}

// OutcomeOf gives what a finished run says of its cell. quiet says that its plan has times in which nothing is
// published: that nothing was read is no sign then.
func OutcomeOf(c Cell, r result.Run, quiet bool) Outcome {
	v := r.Verdict
	o := Outcome{
		Schema: OutcomeSchema, Cell: c, Version: r.Server.Version, Seed: r.Seed, Began: r.Began.UTC(), Took: r.Ended.Sub(r.Began),
		Finding: v.Finding, End: Reads,
		Acknowledged: v.Acknowledged, Delivered: v.Delivered, Unread: v.LostPostfix, Lost: v.Lost - min(v.LostPostfix, v.Lost),
		Duplicated: v.Duplicated, OutOfOrder: v.OutOfOrder, Redelivered: v.Redelivered, Told: v.Told, APIRequests: v.APIRequests, Left: v.Orphans,
		Reasons: firsts(v.Reasons()), Error: cut(r.Error),
	}
	first := firstFault(r)
	if first.IsZero() {
		o.End = None
		return o
	}
	if at := ended(v); !at.IsZero() {
		o.End, o.Silence, o.Lost, o.Unread = GaveUp, max(at.Sub(first), 0), v.Lost, 0
		return o
	}
	for _, x := range spells(r, first, quiet) {
		o.Silence, o.After = max(o.Silence, x.Length()), max(o.After, after(r, x))
		if x.Open {
			o.End = Deaf
		}
	}
	return o
}

// firstFault is when the first fault came; zero: none did.
func firstFault(r result.Run) (first time.Time) {
	for _, f := range r.Faults {
		if !f.From.IsZero() && (first.IsZero() || f.From.Before(first)) {
			first = f.From
		}
	}
	return first
}

// ended is when the target ended by itself; zero: it did not.
func ended(v oracle.Verdict) time.Time {
	for _, x := range v.Violations {
		if x.Kind == oracle.KindEnded && len(x.Samples) > 0 {
			return x.Samples[0].Time
		}
	}
	return time.Time{}
}

// Bounds of the texts of a cell.
const (
	mostReasons = 5
	mostText    = 300
)

func firsts(all []string) []string {
	if len(all) > mostReasons {
		all = all[:mostReasons]
	}
	var out []string
	for _, text := range all {
		out = append(out, cut(text))
	}
	return out
}

func cut(text string) string {
	if runes := []rune(text); len(runes) > mostText {
		return string(runes[:mostText]) + "..."
	}
	return text
}
